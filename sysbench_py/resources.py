"""Where the files lie that are no Python: in a source tree beside the package, in an installed one inside of it."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent
LUA = next(folder for folder in (_HERE / "lua", _HERE.parent / "lua") if (folder / "internal").is_dir())
ABI = next(path for path in (_HERE / "ext/abi.h", _HERE.parent / "ext/abi.h") if path.is_file())
# Scripts that the workloads require.
LIBRARIES = ("oltp_common", "oltp_dialects", "oltp_options", "oltp_split")


def stock_workloads() -> list[str]:
    """The names of the scripts that are installed with this package, sorted; not those of their libraries."""
    return sorted(path.stem for path in LUA.glob("*.lua") if path.stem not in LIBRARIES)
