"""Loading a library that was built from a few sources of a larger one."""

import ctypes
import os


def load(path: str) -> None:
    """Load the library at `path`, its functions bound when they are first called.

    Some may be undefined: those that only the rest of its sources defines, and no operator that is run calls.
    `ctypes.CDLL` binds everything at once. Raises OSError where it cannot be loaded.
    """
    program = ctypes.CDLL(None)
    program.dlopen.restype = ctypes.c_void_p
    program.dlopen.argtypes = (ctypes.c_char_p, ctypes.c_int)
    program.dlerror.restype = ctypes.c_char_p
    if not program.dlopen(os.fsencode(path), os.RTLD_LAZY):
        raise OSError((program.dlerror() or b"").decode("utf-8", "replace"))
