"""PyMySQL without the cryptography package, which takes longer to import than all the rest.

Only passwords that go out encrypted with RSA need it, so the first of those imports it.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


def import_pymysql() -> ModuleType:
    """The module `pymysql`."""
    if {"pymysql", "cryptography"}.isdisjoint(sys.modules):
        sys.modules["cryptography"] = None  # type: ignore[assignment]
        try:
            importlib.import_module("pymysql._auth").sha2_rsa_encrypt = _encrypt  # type: ignore[attr-defined]
        finally:
            del sys.modules["cryptography"]
    return importlib.import_module("pymysql")


def _encrypt(*arguments: bytes) -> Any:
    """In the place of PyMySQL's function: imports the package, if there is one, and calls the real one."""
    return importlib.reload(sys.modules["pymysql._auth"]).sha2_rsa_encrypt(*arguments)
