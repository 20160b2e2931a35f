"""docs/compat.md and the tests know the same differences."""

import re
from pathlib import Path

from tests.test_compare_command_lines import CASES, DIFFERENCES

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "compat.md"


def in_page() -> list[str]:
    return re.findall(r"^\| `([a-z0-9-]+)` \|", PAGE.read_text(), flags=re.MULTILINE)


def in_tests() -> set[str]:
    marked = {
        name
        for path in TESTS.glob("test_*.py")
        for name in re.findall(r'^@compat\("([^"]+)"\)', path.read_text(), re.M)
    }
    return marked | shown_by_cases()


def shown_by_cases() -> set[str]:
    return {name for case in CASES for name in case.differs}


def test_no_difference_is_listed_twice() -> None:
    assert len(in_page()) == len(set(in_page()))


def test_every_listed_difference_is_shown_by_a_test() -> None:
    assert set(in_page()) - in_tests() == set()


def test_every_difference_that_a_test_shows_is_listed() -> None:
    assert in_tests() - set(in_page()) == set()


def test_every_way_to_undo_a_difference_is_used() -> None:
    assert shown_by_cases() == set(DIFFERENCES)
