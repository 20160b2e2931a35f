"""Random numbers are those of the reference, value for value."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.compat import compat
from tests.support.reference import ours, reference

SCRIPT = """
local function dump()
   local r = sysbench.rand
   print(r.uniform_uint64(), r.uniform_uint64(), string.format("%.17g", r.uniform_double()))
   for _, range in ipairs { { 1, 10 }, { 0, 1 }, { 5, 5 }, { 1, 10000 }, { 1, 1000000 }, { 0, 4294967295 },
                            { 1, 4294967295 }, { 1000, 1010 } } do
      for _, name in ipairs { "default", "uniform", "gaussian", "special", "pareto" } do
         local values = {}
         for i = 1, 40 do values[i] = r[name](range[1], range[2]) end
         print(name, range[1], range[2], table.concat(values, " "))
      end
   end
   print(r.string("###-@@@-abc"), r.string(string.rep("#", 119)), r.string(""), r.string("x"))
   for _ = 1, 20 do io.write(r.unique(), " ") end
   print()
end
function thread_init() dump() end
function event() return true end
function prepare() dump() end
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "dump.lua"
    path.write_text(SCRIPT)
    return str(path)


def values_of(program: Callable[..., object], *args: str) -> list[str]:
    result = program(*args)
    assert getattr(result, "status") == 0  # noqa: B009
    lines: list[str] = getattr(result, "stdout").splitlines()  # noqa: B009
    return [line for line in lines if any(mark in line for mark in ("ULL", "\t", " 2672933100", "###"))] + [
        line for line in lines if line and line[0].isdigit()
    ]


@pytest.mark.parametrize("command", ["prepare", "run"])
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--rand-seed=7",),
        ("--rand-seed=-1",),
        ("--rand-seed=2147483647", "--rand-type=uniform"),
        ("--rand-seed=7", "--rand-type=gaussian", "--rand-spec-iter=5"),
        ("--rand-seed=7", "--rand-spec-iter=1", "--rand-spec-pct=10", "--rand-spec-res=50"),
        ("--rand-seed=7", "--rand-type=pareto", "--rand-pareto-h=0.1"),
        ("--rand-seed=7", "--rand-spec-pct=100", "--rand-spec-res=99"),
    ],
    ids=" ".join,
)
def test_values_equal_reference(script: str, command: str, options: tuple[str, ...]) -> None:
    if command == "run" and not options:
        options = ("--rand-seed=1",)
    expected = values_of(reference, script, *options, command)
    assert len(expected) > 40
    assert values_of(ours, script, *options, command) == expected


def test_hidden_draw_per_event(tmp_path: Path) -> None:
    """The latency histogram takes one draw an event, unless there are no percentiles."""
    path = tmp_path / "draws.lua"
    path.write_text("function event() print(sysbench.rand.uniform_uint64()) end")
    for options in ((), ("--percentile=0",)):
        args = (str(path), "--rand-seed=3", "--events=20", "--time=0", *options, "run")
        expected = [line for line in reference(*args).stdout.splitlines() if line.endswith("ULL")]
        assert len(expected) == 20
        assert [line for line in ours(*args).stdout.splitlines() if line.endswith("ULL")] == expected


@compat("streams-by-id")
def test_streams_depend_on_seed_and_thread_alone(tmp_path: Path) -> None:
    """Neither rate nor report interval nor scheduling changes what a worker draws."""
    path = tmp_path / "streams.lua"
    path.write_text(
        """
        function thread_init(id)
           file = io.open(DIRECTORY .. "/" .. id, "w")
           for _ = 1, 5 do file:write(tostring(sysbench.rand.uniform(1, 1000000)), "\\n") end
           file:close()
        end
        function event() return true end
        """.replace("DIRECTORY", f"'{tmp_path}'")
    )
    seen = set()
    for options in ((), (), ("--report-interval=1",), ("--rate=5",), ("--report-checkpoints=1",)):
        assert ours(str(path), "--rand-seed=7", "--threads=4", *options, "run").status == 0
        seen.add(tuple((tmp_path / str(thread)).read_text() for thread in range(4)))
    assert len(seen) == 1
    assert len(set(next(iter(seen)))) == 4


@pytest.mark.parametrize("exponent", [0.0, 0.5, 0.8, 1.0, 1.5])
def test_zipfian_follows_its_law(tmp_path: Path, exponent: float) -> None:
    """Share of value k in 1..n is proportional to k^-exponent."""
    draws, n = 200_000, 10
    path = tmp_path / "zipf.lua"
    path.write_text(
        f"""
        function prepare()
           local counts = {{}}
           for _ = 1, {draws} do
              local k = sysbench.rand.zipfian(1, {n})
              counts[k] = (counts[k] or 0) + 1
           end
           for k = 1, {n} do print("count", k, counts[k] or 0) end
        end
        """
    )
    result = ours(str(path), f"--rand-zipfian-exp={exponent}", "prepare")
    counts = [int(line.split()[2]) for line in result.stdout.splitlines() if line.startswith("count")]
    weights = [k**-exponent for k in range(1, n + 1)]
    for count, weight in zip(counts, weights, strict=True):
        share = weight / sum(weights)
        # Five standard deviations of a binomial: fails by chance once in a million.
        assert abs(count / draws - share) < 5 * math.sqrt(share * (1 - share) / draws)


def test_varstring_lengths_and_characters(tmp_path: Path) -> None:
    path = tmp_path / "varstring.lua"
    path.write_text(
        'function prepare() for _ = 1, 1000 do print("v" .. sysbench.rand.varstring(3, 7)) end end'
    )
    texts = [line[1:] for line in ours(str(path), "prepare").stdout.splitlines() if line.startswith("v")]
    assert {len(text) for text in texts} == {3, 4, 5, 6, 7}
    assert all("0" <= character <= "z" for text in texts for character in text)
