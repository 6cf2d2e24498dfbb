"""Eviction policies: each names the next victim among the models that may leave.

A policy decides from three numbers per model: when it was loaded, when it was last
used, and when it is used next. It knows nothing of sizes, time or workers.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from placement_lab.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["EvictionPolicy", "available_policies", "get_policy"]


class EvictionPolicy(Protocol):
    """Names a victim; called again until there is room.

    Attributes
    ----------
    name : str
    horizon : int or None
        How many coming runs of the worker it may look at: 0 for none, None for all.
    """

    @property
    def name(self) -> str:
        """Name in the registry and in results."""

    @property
    def horizon(self) -> int | None:
        """Coming runs it may look at; None for all."""

    def victim(
        self,
        candidates: Sequence[int],
        *,
        load_order: Mapping[int, int],
        last_use: Mapping[int, int],
        next_use: Mapping[int, int],
    ) -> int:
        """Return the model that leaves next.

        Parameters
        ----------
        candidates : sequence of int
            Resident models that may be evicted; never empty.
        load_order : mapping
            Sequence number of each one's load; smaller is older.
        last_use : mapping
            Sequence number of each one's last use or load; smaller is older.
        next_use : mapping
            Position of each one's next use among the coming runs within the horizon;
            a model without one there is missing.
        """


@dataclass(frozen=True, slots=True)
class Fifo:
    """Oldest load first, as the Compass authors' simulator does."""

    name: str = "fifo"
    horizon: int | None = 0

    def victim(
        self,
        candidates: Sequence[int],
        *,
        load_order: Mapping[int, int],
        last_use: Mapping[int, int],
        next_use: Mapping[int, int],
    ) -> int:
        """Return the model that was loaded longest ago."""
        del last_use, next_use
        return min(candidates, key=lambda model: load_order[model])


@dataclass(frozen=True, slots=True)
class Lru:
    """Least recently used first; a hit refreshes."""

    name: str = "lru"
    horizon: int | None = 0

    def victim(
        self,
        candidates: Sequence[int],
        *,
        load_order: Mapping[int, int],
        last_use: Mapping[int, int],
        next_use: Mapping[int, int],
    ) -> int:
        """Return the model whose last use is longest ago."""
        del load_order, next_use
        return min(candidates, key=lambda model: last_use[model])


@dataclass(frozen=True, slots=True)
class Farthest:
    """Unused models first, then the one used farthest ahead, then the oldest load.

    With every coming run in view this is Belady's rule, optimal for models of one size
    (Belady 1966); restricted to the known queue it is Compass's look-ahead policy
    (arXiv 2402.17652, GPU memory manager), with the total order that its comparator
    lacked.
    """

    name: str
    horizon: int | None

    def victim(
        self,
        candidates: Sequence[int],
        *,
        load_order: Mapping[int, int],
        last_use: Mapping[int, int],
        next_use: Mapping[int, int],
    ) -> int:
        """Return the model that is not needed for longest."""
        del last_use

        def badness(model: int) -> tuple[bool, int, int]:
            ahead = next_use.get(model)
            return (ahead is not None, -(ahead or 0), load_order[model])

        return min(candidates, key=badness)


KNOWN_QUEUE = 16
"""Runs that ``lookahead`` sees when a whole order is given instead of a live queue."""

_POLICIES: dict[str, EvictionPolicy] = {
    "fifo": Fifo(),
    "lru": Lru(),
    "lookahead": Farthest("lookahead", KNOWN_QUEUE),
    "belady": Farthest("belady", None),
}


def available_policies() -> tuple[str, ...]:
    """Return the names of the eviction policies."""
    return tuple(_POLICIES)


def get_policy(policy: str | EvictionPolicy) -> EvictionPolicy:
    """Return the eviction policy of that name; a policy itself is passed through.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    """
    if not isinstance(policy, str):
        return policy
    if policy in _POLICIES:
        return _POLICIES[policy]
    close = difflib.get_close_matches(policy, _POLICIES, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise UnknownNameError(
        f"unknown eviction policy {policy!r}; {hint}Available: {', '.join(_POLICIES)}"
    )
