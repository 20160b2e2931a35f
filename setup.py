"""Builds the one extension module, sysbench_py._core, and ships lua/ and ext/abi.h as data."""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

core = Extension(
    "sysbench_py._core",
    sources=["ext/_core.pyx"],
    depends=[str(path) for path in Path("ext").iterdir() if path.suffix in {".pxi", ".pxd", ".h"}],
    include_dirs=["ext"],
    extra_compile_args=[
        "-O3",
        "-std=gnu11",
        "-fno-math-errno",
        "-ffp-contract=off",  # random numbers are the same on every processor
        *os.environ.get("SYSBENCH_PY_CFLAGS", "").split(),
    ],
    libraries=["m", "dl", "pthread"],
)

setup(
    packages=[
        "sysbench_py",
        "sysbench_py.builtin",
        "sysbench_py.builtin.slap",
        "sysbench_py.drivers",
        "sysbench_py.experiments",
        "sysbench_py.ext",
        "sysbench_py.lua",
        "sysbench_py.mysqlslap",
        "sysbench_py.sinks",
        "sysbench_py.stats",
        "sysbench_py.tools",
    ],
    package_dir={"sysbench_py.ext": "ext", "sysbench_py.lua": "lua"},
    package_data={
        "sysbench_py": ["py.typed", "*.pyi"],
        "sysbench_py.ext": ["abi.h"],
        "sysbench_py.sinks": ["*.html.j2"],
        "sysbench_py.tools": ["shells/*"],
        "sysbench_py.lua": ["**/*.lua"],
    },
    ext_modules=cythonize(core, compiler_directives={"language_level": 3}),
)
