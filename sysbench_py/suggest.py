"""What a user may have meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

# Below this likeness (difflib's ratio) a guess is more likely to mislead than to help.
MIN_LIKENESS = 0.65
# The hyphen, and what editors and web pages make of it: Unicode's dashes and its minus sign.
DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_AS_HYPHENS = str.maketrans(DASHES, "-" * len(DASHES))


def closest(typed: str, known: Iterable[str]) -> str | None:
    """The known name that is most like `typed`, if any is like enough."""
    # Few people mistype the first letter, and short words are all alike without it; so are names of scripts
    # with their ending.
    candidates = {name.removesuffix(".lua"): name for name in known if name[:1] == typed[:1]}
    import difflib  # late: most names are right

    found = difflib.get_close_matches(typed.removesuffix(".lua"), candidates, n=1, cutoff=MIN_LIKENESS)
    return candidates[found[0]] if found else None


def did_you_mean(typed: str, known: Iterable[str]) -> str:
    """An advice for an error message; empty without a good guess."""
    name = closest(typed, known)
    return f"did you mean '{name}'?" if name else ""


def one_of(typed: str, known: Sequence[str]) -> str:
    """An advice for a value that is to be one of a list."""
    return did_you_mean(typed.lower(), known) or f"use {', '.join(known)}"


def option_meant(typed: str, known: Iterable[str]) -> str:
    """The same for the name of an option, typed without its dashes."""
    spellings = {name.replace("_", "-"): name for name in known}
    wanted = typed.replace("_", "-").translate(_AS_HYPHENS).lstrip("-")
    if wanted in spellings:
        # Right, and only out of place; or with other dashes than its own.
        return "" if typed.replace("_", "-") == wanted else f"did you mean --{spellings[wanted]}?"
    # What other programs call --host is each driver's own here.
    of_a_kind = [f"--{name}" for spelling, name in spellings.items() if spelling.partition("-")[2] == wanted]
    if wanted and of_a_kind:
        return f"did you mean {' or '.join(of_a_kind)}?"
    # Before 1.0, options of the OLTP tests began with the name of the test.
    name = closest(wanted, spellings) or closest(wanted.removeprefix("oltp-"), spellings)
    return f"did you mean --{spellings[name]}?" if name else ""
