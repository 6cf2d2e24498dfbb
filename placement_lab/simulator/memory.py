"""`MemoryState`: the models in one worker's memory, and the engine that moves them.

Capacity is a hard invariant: models leave before one is loaded. A load is *pinned*
until the run that it is for has started, so that no load is in vain (rule R6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from placement_lab.errors import PlanError
from placement_lab.simulator.calendar import END, MEMORY

if TYPE_CHECKING:
    from collections.abc import Callable

    from placement_lab.simulator.world import World

__all__ = ["MemoryState"]


class MemoryState:
    """What one worker holds; sets of models are bits of an integer.

    Parameters
    ----------
    world : World
    worker : int
    resident : list of int
        Models in memory at time 0, least recently used first.
    next_use : callable
        Returns, for some models as bits, the place of each one's next use.

    Attributes
    ----------
    free_bytes : int
        What nothing occupies; running tasks take their own memory off it.
    resident, wanted, pinned : int
        Models that can be used; that the queue needs; that may not leave.
    loading : int
        The model being loaded, or -1.
    pending_s : float
        Estimated loads that the queue will need and that have not started.
    engine_until_s : float
        Estimated end of what the engine does.
    """

    __slots__ = (
        "_clock",
        "_evicting",
        "_foreseen",
        "_last_use",
        "_load_order",
        "_next_use",
        "_users",
        "_wanted_by",
        "_worker",
        "_world",
        "engine_until_s",
        "free_bytes",
        "loading",
        "pending_s",
        "pinned",
        "resident",
        "wanted",
    )

    def __init__(
        self,
        world: World,
        worker: int,
        resident: list[int],
        next_use: Callable[[int], dict[int, int]],
    ) -> None:
        sizes = world.truth.model_size_bytes
        self._world, self._worker, self._next_use = world, worker, next_use
        self._users = [0] * len(sizes)
        self._wanted_by = [0] * len(sizes)
        self._load_order: dict[int, int] = {}
        self._last_use: dict[int, int] = {}
        self._clock = 0
        self.loading = self._evicting = -1
        self.resident = self.wanted = self.pinned = 0
        self.free_bytes = world.truth.worker_memory_bytes[worker]
        self._foreseen: tuple[float, int, int] | None = None
        self.pending_s = self.engine_until_s = 0.0
        for model in resident:
            self._clock += 1
            self._load_order[model] = self._last_use[model] = self._clock
            self.resident |= 1 << model
            self.free_bytes -= sizes[model]

    @property
    def engine_is_busy(self) -> bool:
        """Whether a load or a timed eviction is in progress."""
        return self.loading >= 0 or self._evicting >= 0

    @property
    def expected(self) -> int:
        """Resident models, the one being loaded, and those the queue needs."""
        coming = 1 << self.loading if self.loading >= 0 else 0
        return self.resident | self.wanted | coming

    def shown(self, now_s: float) -> int:
        """Return the models that the worker says it holds."""
        if self._foreseen is None:
            return self.resident
        until_s, before, after = self._foreseen
        return before if now_s < until_s else after

    def shown_free_bytes(self, now_s: float) -> int:
        """Return the free memory, as the models that are shown imply it."""
        if self._world.telemetry.cache == "now":
            return self.free_bytes
        truth, shown = self._world.truth, self.shown(now_s)
        return truth.worker_memory_bytes[self._worker] - sum(
            [size for m, size in enumerate(truth.model_size_bytes) if shown >> m & 1]
        )

    def foresee(self, model: int, need_bytes: int, now_s: float) -> None:
        """Show what is held now until the load would have ended, had it come first."""
        if self._foreseen is None:
            missing_bytes = need_bytes - self.free_bytes
            after = self.resident | 1 << model
            for victim in self._pick_victims(self._candidates(0), missing_bytes):
                after &= ~(1 << victim)
            until_s = now_s + self._world.profile.load_s[model][self._worker]
            self._foreseen = until_s, self.resident, after

    def want(self, model: int) -> None:
        """Note that one more task of the queue needs a model."""
        self._wanted_by[model] += 1
        if self._wanted_by[model] == 1:
            bit = 1 << model
            self.wanted |= bit
            if not self.resident & bit and model != self.loading:
                self.pending_s += self._world.profile.load_s[model][self._worker]

    def use(self, model: int) -> None:
        """Start to run a task that wanted a resident model."""
        bit = 1 << model
        self._clock += 1
        self._last_use[model] = self._clock
        self._users[model] += 1
        self.pinned &= ~bit
        self._foreseen = None
        self._wanted_by[model] -= 1
        if not self._wanted_by[model]:
            self.wanted &= ~bit

    def release(self, model: int) -> None:
        """End a run with a model."""
        self._users[model] -= 1

    def load(self, model: int, now_s: float) -> None:
        """Start to load a model; there is room, and the engine is idle."""
        world, bit = self._world, 1 << model
        self.free_bytes -= world.truth.model_size_bytes[model]
        self.loading = model
        self.pinned |= bit
        self._clock += 1
        self._load_order[model] = self._last_use[model] = self._clock
        end_s = now_s + world.truth.load_s[model][self._worker]
        world.log.loads.append((model, self._worker, now_s, end_s))
        world.calendar.push(end_s, END, MEMORY, self._worker)
        estimate_s = world.profile.load_s[model][self._worker]
        self.engine_until_s = now_s + estimate_s
        # Where nothing is pending, exactly nothing is, whatever rounding has left over.
        is_pending = self.wanted & ~self.resident & ~bit
        self.pending_s = self.pending_s - estimate_s if is_pending else 0.0

    def end_action(self) -> None:
        """Finish the load, or the timed eviction, that is in progress."""
        if self.loading >= 0:
            self.resident |= 1 << self.loading
            self.loading = -1
        else:
            self.free_bytes += self._world.truth.model_size_bytes[self._evicting]
            self._evicting = -1

    def make_room(self, need_bytes: int, keep: int, now_s: float) -> bool:
        """Return whether there is room now; evict, if that is going to make it.

        Parameters
        ----------
        need_bytes : int
        keep : int
            Models that have to stay, as bits, beside those in use and pinned.
        now_s : float
        """
        if self.free_bytes >= need_bytes:
            return True
        is_timed = self._world.timed_evictions
        if is_timed and self.engine_is_busy:
            return False
        candidates = self._candidates(keep)
        sizes = self._world.truth.model_size_bytes
        if self.free_bytes + sum([sizes[m] for m in candidates]) < need_bytes:
            return False
        victims = self._pick_victims(candidates, need_bytes - self.free_bytes)
        if is_timed:
            # One at a time: what is still needed is asked for again when it has left.
            self._evict(victims[0], now_s)
            return False
        for victim in victims:
            self._evict(victim, now_s)
        return True

    def _candidates(self, keep: int) -> list[int]:
        stays = self.pinned | keep
        return [
            model
            for model in self._load_order
            if not stays >> model & 1 and not self._users[model]
        ]

    def _pick_victims(self, candidates: list[int], missing_bytes: int) -> list[int]:
        sizes = self._world.truth.model_size_bytes
        victims: list[int] = []
        while missing_bytes > 0 and candidates:
            victims.append(self._pick_victim(candidates))
            candidates.remove(victims[-1])
            missing_bytes -= sizes[victims[-1]]
        return victims

    def _pick_victim(self, candidates: list[int]) -> int:
        policy = self._world.policy
        next_use: dict[int, int] = {}
        if policy.horizon != 0:
            next_use = self._next_use(sum([1 << model for model in candidates]))
        victim = policy.victim(
            tuple(candidates),
            load_order=self._load_order,
            last_use=self._last_use,
            next_use=next_use,
        )
        if victim not in candidates:
            raise PlanError(
                f"eviction policy {policy.name!r} chose {victim!r} as victim on worker "
                f"{self._worker}, but only models {candidates} may leave; return one "
                "of the candidates"
            )
        return victim

    def _evict(self, model: int, now_s: float) -> None:
        world, bit = self._world, 1 << model
        self.resident &= ~bit
        del self._load_order[model], self._last_use[model]
        if self.wanted & bit:
            self.pending_s += world.profile.load_s[model][self._worker]
        end_s = now_s
        if world.timed_evictions:
            self._evicting = model
            end_s += world.truth.evict_s[model]
            self.engine_until_s = now_s + world.profile.evict_s[model]
            world.calendar.push(end_s, END, MEMORY, self._worker)
        else:
            self.free_bytes += world.truth.model_size_bytes[model]
        world.log.evictions.append((model, self._worker, now_s, end_s))
