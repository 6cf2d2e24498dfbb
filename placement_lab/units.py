"""Units and the one time tolerance: seconds and bytes at every public surface.

Everything here is about numbers as such; nothing knows what they measure.
"""

from __future__ import annotations

import math

__all__ = [
    "MAX_BYTES",
    "TIME_TOLERANCE_S",
    "format_bytes",
    "format_seconds",
    "time_slack_s",
]

TIME_TOLERANCE_S = 1e-9
"""Times that differ by no more than this are equal (rule R0)."""

MAX_BYTES = 2**53
"""Largest size accepted: the largest whole number that JSON carries exactly."""

_ULPS = 4.0 * 2.0**-52
_BINARY_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def time_slack_s(time_s: float) -> float:
    """Return how far a computed time may lie from ``time_s`` and still be equal to it.

    `TIME_TOLERANCE_S`, or four units in the last place where a double cannot be that
    fine (beyond about 10^6 seconds).
    """
    return max(TIME_TOLERANCE_S, _ULPS * abs(time_s))


def format_bytes(size_bytes: float) -> str:
    """Return a size for people: ``format_bytes(15032385536) == '14.0 GiB'``."""
    value = float(size_bytes)
    for unit in _BINARY_UNITS:
        if abs(value) < 1024.0 or unit == _BINARY_UNITS[-1]:
            break
        value /= 1024.0
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


def format_seconds(time_s: float) -> str:
    """Return a duration for people, with three or four significant digits."""
    if not math.isfinite(time_s):
        return str(time_s)
    size = abs(time_s)
    if size == 0 or size >= 1:
        return f"{time_s:.3f} s" if size < 1000 else f"{time_s:.0f} s"
    return f"{time_s * 1e3:.3f} ms" if size >= 1e-3 else f"{time_s * 1e6:.3f} us"
