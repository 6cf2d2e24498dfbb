"""Find what is registered under a name, and load only that.

Schedulers, policies and other exchangeable parts register by entry point, ours and
other people's alike, in a group such as ``placement_lab.schedulers``. This module
knows groups and names; what the loaded object is, it does not ask.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from placement_lab.errors import UnknownNameError

__all__ = ["available", "load"]

OWN_PACKAGE = "placement-lab"


def available(group: str) -> tuple[str, ...]:
    """Return the names registered in a group, sorted, without loading anything.

    Parameters
    ----------
    group : str
        An entry-point group, such as ``placement_lab.schedulers``.

    Returns
    -------
    tuple of str
        The names; empty if nothing is registered in that group.

    Examples
    --------
    >>> available("placement_lab.no_such_group")
    ()
    """
    return tuple(sorted(_entries(group)))


def load(group: str, name: str) -> Any:
    """Load the object registered under a name, and no other of its group.

    Parameters
    ----------
    group : str
        An entry-point group, such as ``placement_lab.schedulers``.
    name : str
        One of ``available(group)``.

    Returns
    -------
    object
        What the entry point names.

    Raises
    ------
    UnknownNameError
        If the group has no such name; the message suggests close ones.
    """
    entries = _entries(group)
    if name not in entries:
        raise UnknownNameError(_unknown(group, name, tuple(sorted(entries))))
    return entries[name].load()


def _entries(group: str) -> dict[str, EntryPoint]:
    """Map the names of a group to entry points; where two packages clash, ours wins."""
    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=group), key=_preference):
        found.setdefault(entry.name, entry)
    return found


def _preference(entry: EntryPoint) -> tuple[bool, str, str]:
    package = entry.dist.name if entry.dist is not None else ""
    return package != OWN_PACKAGE, package, entry.value


def _unknown(group: str, name: str, names: tuple[str, ...]) -> str:
    kind = group.rpartition(".")[2].replace("_", " ").removesuffix("s")
    close = get_close_matches(name, names, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"unknown {kind} {name!r}{hint} Available: {', '.join(names) or 'none'}"
