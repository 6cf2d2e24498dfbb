"""Read strict JSON: a message with the file's name, and no silent repairs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["DuplicateKeys", "load_json", "loads_json", "show_key", "show_value"]


class DuplicateKeys(dict[str, Any]):
    """An object in which some key stands twice; readers refuse it with its path."""

    repeated: tuple[str, ...] = ()


def load_json(path: str | PathLike[str]) -> Any:
    """Read a JSON file.

    Raises
    ------
    ValueError
        If the file cannot be read or is not strict JSON; says what and where.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        message = "no such file; check the path"
        raise ValueError(message) from None
    except UnicodeDecodeError as error:
        message = f"is not UTF-8 text ({error.reason} at byte {error.start})"
        raise ValueError(message) from None
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    return loads_json(text)


def loads_json(text: str) -> Any:
    """Decode JSON text; NaN and Infinity are refused, duplicate keys are marked.

    Raises
    ------
    ValueError
        Saying what is wrong, with line and column.
    """
    try:
        return json.loads(
            text, parse_constant=_no_constant, object_pairs_hook=_object_of
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"is not JSON: {error.msg} ({where})") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except ValueError as error:
        if "integer string conversion" not in str(error):
            raise
        raise ValueError("holds a whole number of thousands of digits") from None


_KINDS = ((str, "string"), (dict, "object"), (list, "list"), (tuple, "list"))


def show_value(value: Any) -> str:
    """Return a short picture of a wrong value, in JSON's words where Python's differ.

    Strings, lists and objects come with their type, which is often what is wrong.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"{str(value).lower()} (bool)"
    try:
        text = ascii(value) if isinstance(value, str) else repr(value)
    except (RecursionError, ValueError):  # nested or long beyond all measure
        text = f"a {type(value).__name__}"
    text = text if len(text) <= 40 else f"{text[:37]}..."
    for kind, name in _KINDS:
        if isinstance(value, kind):
            return f"{text} ({name})"
    return text


def show_key(key: Any) -> str:
    """Return a key as it stands in a path: on one line, and not too long."""
    text = str(key)
    if not text.isprintable():
        text = ascii(text)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON; use a finite number or null")


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    marked = DuplicateKeys(plain)
    count = Counter([key for key, _ in pairs])
    marked.repeated = tuple([key for key in plain if count[key] > 1])
    return marked
