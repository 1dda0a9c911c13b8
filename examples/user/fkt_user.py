# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Events of Python programs on FKT's time line, by libfkt-user.so (fkt/user_library.h).

    import fkt_user
    miss = fkt_user.Event("miss", "key:s64 path:text")
    with fkt_user.Span("load", "bytes:u32")(4096):
        miss(17, "/etc/passwd")
    fkt_user.probe(0x10, 1, -2)

Run the program with fkt_record --user-only. Where nobody records, all of it does nothing.
"""
import contextlib
import ctypes
import os

_library = ctypes.CDLL(os.environ.get("FKT_USER_LIBRARY", "libfkt-user.so.0"))
_library.fkt_library_event.restype = ctypes.c_void_p
_library.fkt_library_event.argtypes = [ctypes.c_char_p] * 3
_library.fkt_library_write.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64)]
_library.fkt_library_end.argtypes = [ctypes.c_void_p]
_library.fkt_library_probe.argtypes = [ctypes.c_uint32, ctypes.c_uint, ctypes.POINTER(ctypes.c_int64)]

recorded = bool(_library.fkt_library_recorded())


def probe(code, *values):
    """An event with a number of yours, and up to six values."""
    if recorded:
        _library.fkt_library_probe(code, len(values), (ctypes.c_int64 * len(values))(*values))


class Event:
    """An event with a name. fields: "key:s64 path:text" (fkt/user_library.h). Calling it writes one."""

    kind = b"point"

    def __init__(self, name, fields=""):
        self._count = len(fields.split())
        self._event = _library.fkt_library_event(self.kind, name.encode(), fields.encode())
        if self._event is None:
            raise ValueError(f"no event: {name!r} with {fields!r}")

    def __call__(self, *values):
        if not recorded:
            return
        if len(values) != self._count:
            raise TypeError(f"{self._count} values, not {len(values)}")
        kept = [v.encode() if isinstance(v, str) else v for v in values]  # texts live as long as the call
        numbers = [ctypes.cast(v, ctypes.c_void_p).value if isinstance(v, bytes) else int(v) for v in kept]
        _library.fkt_library_write(self._event, (ctypes.c_int64 * self._count)(*numbers))


class Span(Event):
    """A part of a thread's work: with Span("load", "bytes:u32")(4096): ..."""

    kind = b"span"

    @contextlib.contextmanager
    def __call__(self, *values):
        super().__call__(*values)
        try:
            yield
        finally:
            if recorded:
                _library.fkt_library_end(self._event)
