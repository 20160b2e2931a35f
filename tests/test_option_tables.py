"""The page on the command line tells the options as they are."""

from tests.support.option_tables import PAGE, filled, groups, named


def test_tables_are_those_of_the_rows() -> None:
    page = PAGE.read_text()
    assert filled(page) == page, "run: python -m tests.support.option_tables"


def test_every_group_of_options_has_a_table() -> None:
    assert sorted(named(PAGE.read_text())) == sorted(groups())
