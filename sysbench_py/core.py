"""The only importer of the extension module.

Scripts call functions of the core as `ffi.C.NAME`, and LuaJIT finds them there only if the module's symbols
are global: hence RTLD_GLOBAL."""

import os
import sys

_flags = sys.getdlopenflags()
sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)
try:
    from sysbench_py._core import *  # noqa: F403
finally:
    sys.setdlopenflags(_flags)
