"""A filter of system calls that lets a program start threads and no processes: the kernel exempts root from every other limit on
their number.

Formats: ``linux/filter.h``, ``linux/seccomp.h``, ``linux/audit.h``; numbers of calls: ``asm/unistd.h`` of the machine.
"""

from __future__ import annotations

import errno
import platform
import struct
from dataclasses import dataclass

_LOAD, _EQUAL, _AT_LEAST, _HAS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
"""Where ``struct seccomp_data`` has them."""

_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_CLONE_THREAD = 0x00010000
_FOREIGN_CALLS = 0x40000000
"""From here on, x86-64 counts the calls of another interface."""


@dataclass(frozen=True, slots=True)
class _Machine:
    audit: int
    clone: int
    clone3: int
    forks: tuple[int, ...]


_MACHINES = {
    "x86_64": _Machine(audit=0xC000003E, clone=56, clone3=435, forks=(57, 58)),
    "aarch64": _Machine(audit=0xC00000B7, clone=220, clone3=435, forks=()),
}


def no_processes() -> bytes | None:
    """The filter for this machine, as ``bwrap --seccomp`` reads it; None where the machine's calls are not known here."""
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        return None
    refused = _ERROR | errno.EPERM
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, machine.audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        *_answered(_AT_LEAST, _FOREIGN_CALLS, refused),
        *_answered(_EQUAL, machine.clone3, _ERROR | errno.ENOSYS),  # its flags cannot be seen from here; libraries then use clone
        *(step for number in machine.forks for step in _answered(_EQUAL, number, refused)),
        (_EQUAL, 0, 3, machine.clone),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_HAS, 1, 0, _CLONE_THREAD),
        (_RETURN, 0, 0, refused),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("HBBI", *step) for step in program)


def _answered(test: int, value: int, answer: int) -> tuple[tuple[int, int, int, int], ...]:
    return (test, 0, 1, value), (_RETURN, 0, 0, answer)
