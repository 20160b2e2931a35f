"""What the text of a script tells before it is run: which options it does not read, whether it asks for a database."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from sysbench_py.options import option_key
from sysbench_py.script import Script

# Text in quotes that can be the name of a file or a module.
_NAME = re.compile(r"""["']([\w./+-]{1,200})["']""")
# A script that does this may be reading every option.
_READS_ALL = re.compile(r"\bargv\b|\bpairs\s*\(\s*(sysbench\s*\.\s*opt|_G)\b")

# The driver that --db-driver chooses, asked for with the functions of 1.0 and of 0.5.
_ASKS_DRIVER = re.compile(r"\bsql\s*\.\s*driver\s*\(\s*\)|\bdb_(?:connect|query|prepare|bulk_insert_init)\b")


def unused_options(script: Script, names: Iterable[str]) -> list[str]:
    """Those of the option names that stand nowhere in the script, nor in the Lua files that it names.

    A script that declares no options takes any, misspelt ones too."""
    names = list(dict.fromkeys(names))
    if not names:
        return []
    text = "\n".join(_sources(script))
    if _READS_ALL.search(text):
        return []
    return [name for name in names if not re.search(rf"\b{re.escape(option_key(name))}\b", text)]


def asks_driver(script: Script) -> bool:
    """Whether the script, or a Lua file that it names, has a call for the driver of --db-driver."""
    return any(_ASKS_DRIVER.search(text) for text in _sources(script))


def _sources(script: Script) -> Iterator[str]:
    """The texts of the script and of the files and modules that texts in quotes name."""
    patterns = [pattern for pattern in script.search_path().split(";") if pattern]
    waiting = [script.name or ""]
    seen: set[Path] = set()
    while waiting:
        for path in _candidates(waiting.pop(), patterns, script):
            if path not in seen and path.is_file() and os.access(path, os.R_OK):
                seen.add(path)
                text = path.read_text(encoding="utf-8", errors="replace")
                yield text
                waiting += _NAME.findall(text)


def _candidates(name: str, patterns: list[str], script: Script) -> Iterator[Path]:
    """Where `name` may lie: as a file, beside the script (its folder may be in a variable), as a module."""
    yield Path(name)
    if name.endswith(".lua"):
        yield Path(script.name or "").parent / Path(name).name
    for pattern in patterns:
        yield Path(pattern.replace("?", name.replace(".", "/")))
