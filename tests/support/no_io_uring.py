"""Runs a program that the kernel refuses io_uring, as a container's seccomp profile does.

python no_io_uring.py ERRNO PROGRAM [ARGUMENT...]
"""

import ctypes
import os
import struct
import sys

PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
RETURN_ERRNO, RETURN_ALLOW = 0x00050000, 0x7FFF0000
IO_URING_SETUP = 425


def refuse_io_uring(number: int) -> None:
    """From now on, io_uring_setup() fails with this errno in this process and what it starts."""
    rules = (
        (LOAD_WORD, 0, 0, 0),  # the number of the system call
        (JUMP_IF_EQUAL, 0, 1, IO_URING_SETUP),
        (RETURN, 0, 0, RETURN_ERRNO | number),
        (RETURN, 0, 0, RETURN_ALLOW),
    )
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *rule) for rule in rules))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(rules), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in (
        (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0),
    ):
        if libc.prctl(*arguments) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


def io_uring_errno() -> int:
    """Why the kernel refuses io_uring; 0 if it does not."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.syscall(IO_URING_SETUP, 1, ctypes.create_string_buffer(120))
    if descriptor < 0:
        return ctypes.get_errno()
    os.close(descriptor)
    return 0


if __name__ == "__main__":
    refuse_io_uring(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])
