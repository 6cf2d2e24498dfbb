"""`ModelCache`: the models in one worker's memory, in whole bytes, without time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from placement_lab.caching.policies import get_policy
from placement_lab.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from placement_lab.caching.policies import EvictionPolicy

__all__ = ["ModelCache"]

_NOTHING: Mapping[int, int] = {}


class ModelCache:
    """What is resident in a bounded memory, and who leaves when room is needed.

    Parameters
    ----------
    memory_bytes : int
    size_bytes : sequence of int
        Size of every model, by model number.
    policy : str or EvictionPolicy
    resident : sequence of int
        Models in memory at the start, least recently used first; they must fit.
    """

    def __init__(
        self,
        memory_bytes: int,
        size_bytes: Sequence[int],
        policy: str | EvictionPolicy = "lru",
        resident: Sequence[int] = (),
    ) -> None:
        self.memory_bytes = memory_bytes
        self.size_bytes = size_bytes
        self.policy = get_policy(policy)
        self.used_bytes = 0
        self._clock = 0
        self._load_order: dict[int, int] = {}
        self._last_use: dict[int, int] = {}
        for model in resident:
            self.add(model)

    def __contains__(self, model: int) -> bool:
        return model in self._load_order

    @property
    def resident(self) -> tuple[int, ...]:
        """Resident models, least recently used first."""
        return tuple(sorted(self._last_use, key=lambda model: self._last_use[model]))

    def add(self, model: int) -> None:
        """Take a model in; the caller has made room."""
        self._clock += 1
        self._load_order[model] = self._last_use[model] = self._clock
        self.used_bytes += self.size_bytes[model]

    def touch(self, model: int) -> None:
        """Note that a resident model is used now."""
        self._clock += 1
        self._last_use[model] = self._clock

    def remove(self, model: int) -> None:
        """Let a resident model go."""
        del self._load_order[model], self._last_use[model]
        self.used_bytes -= self.size_bytes[model]

    def victims(
        self,
        need_bytes: int,
        *,
        keep: Collection[int] = (),
        next_use: Mapping[int, int] = _NOTHING,
    ) -> tuple[int, ...] | None:
        """Return who must leave, in order, for ``need_bytes`` to be free.

        Nothing changes; None if even all evictable models would not make room.

        Parameters
        ----------
        need_bytes : int
        keep : collection of int
            Models that cannot leave: in use, loading, or about to be used.
        next_use : mapping
            Passed to the policy.
        """
        free = self.memory_bytes - self.used_bytes
        if free >= need_bytes:
            return ()
        candidates = [model for model in self._load_order if model not in keep]
        if free + sum(self.size_bytes[model] for model in candidates) < need_bytes:
            return None
        leaving: list[int] = []
        while free < need_bytes:
            model = self.policy.victim(
                candidates,
                load_order=self._load_order,
                last_use=self._last_use,
                next_use=next_use,
            )
            candidates.remove(model)
            leaving.append(model)
            free += self.size_bytes[model]
        return tuple(leaving)

    def request(
        self,
        model: int,
        *,
        extra_bytes: int = 0,
        next_use: Mapping[int, int] = _NOTHING,
    ) -> tuple[tuple[int, ...], bool]:
        """Make a model resident, evicting as the policy says.

        Parameters
        ----------
        model : int
        extra_bytes : int
            Room that must be free beside it.
        next_use : mapping
            Passed to the policy.

        Returns
        -------
        evicted : tuple of int
        loaded : bool
            False for a hit.

        Raises
        ------
        PlanError
            If it can never fit; nothing has changed then.
        """
        hit = model in self
        need = extra_bytes if hit else self.size_bytes[model] + extra_bytes
        leaving = self.victims(need, keep=(model,), next_use=next_use)
        if leaving is None:
            raise PlanError(
                f"model {model} needs {self.size_bytes[model]} bytes"
                f"{f' and {extra_bytes} beside it' if extra_bytes else ''}, the memory "
                f"has {self.memory_bytes}; use a smaller model or a larger worker"
            )
        for victim in leaving:
            self.remove(victim)
        if hit:
            self.touch(model)
        else:
            self.add(model)
        return leaving, not hit
