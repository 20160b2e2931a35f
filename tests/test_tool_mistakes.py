"""Mistyped names of tools and of their options get the guesses that tests and their options get."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from sysbench_py.tools import ab, sweep
from sysbench_py.tools.app import app
from tests.support.reference import ours


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("repot a.json", "no such built-in test, file or module (did you mean 'report'?)"),
        ("drivers", "no such built-in test, file or module (did you mean 'sysbench tools drivers'?)"),
        ("tools repot a.json", "No such command 'repot'. Did you mean 'report'?"),
        ("report --outpt=csv a.json", "No such option: --outpt (did you mean --output?)"),
        ("tools compare --piared a b", "No such option: --piared (did you mean --paired?)"),
        ("tools drivers --hlp", "No such option: --hlp (did you mean --help?)"),
        ("tools report --nonsense a", "No such option: --nonsense"),
        ("tools completion zhs", "'zhs' is not one of 'bash', 'zsh', 'fish'."),
        ("sweep cpu --threads=1,2 --repeets=3 run", "invalid option: --repeets=3 (did you mean --repeats?)"),
        ("sweep cpu --theads=1,2 run", "invalid option: --theads=1,2 (did you mean --threads?)"),
        ("ab cpu --pars=2 --b=--threads=2 run", "invalid option: --pars=2 (did you mean --pairs?)"),
        ("ab cpu --b=--theads=2 run", "invalid option: --theads=2 (did you mean --threads?)"),
    ],
)
def test_a_guess(tmp_path: Path, line: str, said: str) -> None:
    result = ours(*line.split(), cwd=tmp_path)
    assert result.status == 1
    text = result.stdout + result.stderr
    assert text.endswith(f"{said}\n")
    assert "Traceback" not in text


@pytest.mark.parametrize("tool", [sweep, ab], ids=["sweep", "ab"])
def test_own_options_are_those_of_the_tool(tool: object) -> None:
    group = typer.main.get_command(app)
    command = group.commands[tool.__name__.rpartition(".")[2]]  # type: ignore[attr-defined]
    names = {name[2:] for row in command.params for name in row.opts if name.startswith("--")}
    assert names == {*tool.OWN_OPTIONS}  # type: ignore[attr-defined]
