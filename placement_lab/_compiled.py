"""Compile kernels with a cache on disk where there is a place for one.

numba refuses to define a cached function where no cache folder can be written. A
read-only installation should only be slower at the first call, not fail.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numba

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["njit"]

_warned: list[str] = []


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator like ``numba.njit``; without cache where none can be written.

    Parameters
    ----------
    **options
        Options of ``numba.njit``.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(**options)(function)
        except RuntimeError as error:
            if "cannot cache function" not in str(error):
                raise
        if not _warned:
            _warned.append(function.__name__)
            warnings.warn(
                "no folder for compiled kernels can be written, so they are compiled "
                "at every start; set NUMBA_CACHE_DIR to a writable folder",
                RuntimeWarning,
                stacklevel=2,
            )
        return numba.njit(**{**options, "cache": False})(function)

    return decorate
