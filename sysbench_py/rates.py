"""What --rate can say: events per second, or a series of such rates."""

from __future__ import annotations

import math
import re

from sysbench_py.errors import UsageError
from sysbench_py.options import parse_int
from sysbench_py.plan import RateStep

MAX_STEPS = 1000
LOWEST_PER_S, HIGHEST_PER_S = 1e-6, 2**31 - 1
LONGEST_STEP_S = 1e6

_DECIMAL = r"[0-9]+(?:\.[0-9]+)?|\.[0-9]+"
_FRACTION = re.compile(rf"[+-]?(?:{_DECIMAL})")
_STEPS = re.compile(rf"({_DECIMAL}):({_DECIMAL}):({_DECIMAL})@({_DECIMAL})s?")
_EXPECTED = f"use a number from {LOWEST_PER_S:f} to {HIGHEST_PER_S}, or FROM:TO:STEP@SECONDS"
_ADVICE = "write FROM:TO:STEP@SECONDS, for example 1000:5000:1000@10s"


def parse_rate(text: str) -> int | float | str:
    """Events per second; what looks like steps stays text. Raises ValueError that says what would be right."""
    if ":" in text or "@" in text:
        return text
    if "." not in text:
        try:
            return parse_int(text)
        except ValueError:
            raise ValueError(_EXPECTED) from None
    rate = float(text) if _FRACTION.fullmatch(text) else HIGHEST_PER_S + 1
    if rate and not LOWEST_PER_S <= abs(rate) <= HIGHEST_PER_S:
        raise ValueError(_EXPECTED)
    return rate


def parse_steps(text: str) -> tuple[RateStep, ...]:
    """`FROM:TO:STEP@SECONDS`: rates from one to another one, each for so long. Raises UsageError."""
    match = _STEPS.fullmatch(text)
    if not match:
        raise _invalid(text, _ADVICE)
    first, last, step, length_s = map(float, match.groups())
    if not step:
        raise _invalid(text, "the step must be greater than 0")
    for rate in (first, last):
        if not LOWEST_PER_S <= rate <= HIGHEST_PER_S:
            raise _invalid(text, f"rates go from {LOWEST_PER_S:f} to {HIGHEST_PER_S} a second")
    if not 0 < length_s <= LONGEST_STEP_S:
        raise _invalid(text, f"a step lasts up to {LONGEST_STEP_S:.0f} seconds, and longer than 0")
    # A little more, so that 0.1:0.3:0.1 has three steps.
    count = math.floor(abs(last - first) / step + 1e-9) + 1
    if count > MAX_STEPS:
        raise _invalid(text, f"these are {count} steps, and there can be {MAX_STEPS}")
    sign = 1 if last >= first else -1
    return tuple(RateStep(rate_per_s=first + sign * step * i, length_s=length_s) for i in range(count))


def describe(steps: tuple[RateStep, ...]) -> str:
    """For the banner: `1000/sec`, or `1000/sec to 5000/sec in 5 steps of 10 s`."""
    first, last = steps[0], steps[-1]
    if not first.length_s:
        return f"{first.rate_per_s:.15g}/sec"
    number = "1 step" if len(steps) == 1 else f"{len(steps)} steps"
    return f"{first.rate_per_s:.15g}/sec to {last.rate_per_s:.15g}/sec in {number} of {first.length_s:.15g} s"


def _invalid(text: str, advice: str) -> UsageError:
    return UsageError.fatal(f"Invalid value for --rate: {text}", about="rate", advice=advice)
