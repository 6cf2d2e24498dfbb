"""Files that are whole or absent: written beside their place, then renamed."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

__all__ = ["dumps_json", "open_atomic", "write_json", "write_text"]


def dumps_json(document: Any) -> str:
    """Return strict JSON text: no NaN, no Infinity, one final newline.

    Raises
    ------
    ValueError
        If a number is not finite.
    """
    return json.dumps(document, allow_nan=False, indent=1, ensure_ascii=False) + "\n"


@contextmanager
def open_atomic(path: str | PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file that takes the place of ``path`` if the block succeeds.

    Parameters
    ----------
    path : path
        Its folder is created where it is missing.
    mode : {'w', 'wb'}

    Raises
    ------
    OSError
        If the place cannot be written; nothing is left behind.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    encoding = None if "b" in mode else "utf-8"
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, mode, encoding=encoding) as stream:
            yield stream
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a text file, whole or not at all."""
    with open_atomic(path) as stream:
        stream.write(text)


def write_json(path: str | PathLike[str], document: Any) -> None:
    """Write strict JSON, whole or not at all."""
    write_text(path, dumps_json(document))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
