"""ext/abi.h, what the core exports, and the type stub of the core say the same."""

import ast
import ctypes
import importlib
import re
from pathlib import Path

from lupa.luajit21 import LuaRuntime

# By way of core.py, which makes the symbols global.
importlib.import_module("sysbench_py.core")
_core = importlib.import_module("sysbench_py._core")
ROOT = Path(__file__).parent.parent
ABI = (ROOT / "ext/abi.h").read_text()
# A prototype: a type, perhaps a star, the name, its arguments.
DECLARED = set(re.findall(r"^[\w ]+[ *](\w+)\([^()]*\);$", ABI, re.MULTILINE))


def defined() -> set[str]:
    """The functions that the Cython sources export."""
    sources = "".join(path.read_text() for path in sorted((ROOT / "ext").glob("*.pxi")))
    return set(re.findall(r"^cdef public [\w ]+[ *](\w+)\(", sources, re.MULTILINE))


def test_header_declares_what_sources_define() -> None:
    assert len(DECLARED) >= 50
    assert defined() == DECLARED


def test_library_exports_what_header_declares() -> None:
    library = ctypes.CDLL(_core.__file__ or "")
    assert [name for name in sorted(DECLARED) if not hasattr(library, name)] == []


def test_lua_finds_every_function_in_ffi_c() -> None:
    lua = LuaRuntime(register_eval=False, register_builtins=False)
    resolve = lua.execute(
        "local cdef = ... local ffi = require('ffi') ffi.cdef(cdef)"
        " return function(name) return pcall(function() return ffi.C[name] end) end",
        ABI,
    )
    assert [name for name in sorted(DECLARED) if resolve(name)[0] is not True] == []


def test_header_has_no_preprocessor_lines() -> None:
    assert not re.search(r"^\s*#", ABI, re.MULTILINE)


def test_stub_names_what_core_offers_to_python() -> None:
    stub = ast.parse((ROOT / "sysbench_py/_core.pyi").read_text())
    named = {node.name for node in stub.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    named |= {
        node.target.id
        for node in stub.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    module = _core.__name__
    offered = {
        name
        for name, value in vars(_core).items()
        if not name.startswith("_") and getattr(value, "__module__", module) == module
    }
    assert named == offered
