"""`PlannedWorker`: one worker's planned runs, loads and resident models.

Runs are kept in order of start, with the models that are resident before each of them
when memory is managed as least-recently-used over that order, which is what `complete`
will do. What a planner learns here is an estimate, in three respects:

* a run put into an earlier gap may change what later runs find resident; only the
  plain case, that it evicts a model which a later run counts on, is ruled out;
* of tasks' own memory, only that of the run itself is counted;
* with several slots, loads and evictions are ordered as if runs ended in start order.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from placement_lab.schedulers._timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from placement_lab.problem import InstanceArrays

__all__ = ["Need", "Offer", "PlannedWorker"]

INF = float("inf")


class Need(NamedTuple):
    """What a task asks of a worker; times in seconds.

    ``arrived_s`` is when its inputs are there, ``load_from_s`` when rule R6 lets a load
    for it start; ``model`` is -1 without one.
    """

    arrived_s: float
    load_from_s: float
    runtime_s: float
    model: int
    memory_bytes: int


class Offer(NamedTuple):
    """How a worker would run a task; ``load_s`` is 0 for a hit."""

    end_s: float
    load_s: float
    start_s: float
    lane: int
    gap: int
    busy_from_s: float
    load_start_s: float
    load_end_s: float


class _Run(NamedTuple):
    end_s: float
    model: int
    memory_bytes: int
    load_start_s: float
    load_end_s: float

    @property
    def has_load(self) -> bool:
        return self.load_start_s < INF


class _Resident(NamedTuple):
    model: int
    used_until_s: float


class PlannedWorker:
    """What is planned on one worker so far.

    Parameters
    ----------
    arrays : InstanceArrays
    worker : int
    append_only : bool
        Offer only places after everything planned so far.
    """

    def __init__(
        self, arrays: InstanceArrays, worker: int, *, append_only: bool = False
    ) -> None:
        first, last = arrays.resident_ptr[worker : worker + 2].tolist()
        residents = arrays.resident_model[first:last].tolist()
        self._memory_bytes = int(arrays.worker_memory_bytes[worker])
        self._size_bytes: list[int] = arrays.model_size_bytes.tolist()
        self._load_s: list[float] = arrays.load_s[:, worker].tolist()
        self._evict_s: list[float] = arrays.evict_s.tolist()
        self._overlap = arrays.overlap
        self._append_only = append_only
        slots = int(arrays.worker_slots[worker])
        keep_empty = bool((arrays.row_runtime_s[:, worker] == 0).any())
        self._timeline = Timeline(slots, keep_empty=keep_empty)
        self._starts: list[float] = []
        self._runs: list[_Run] = []
        # Before each run, and after the last: residents, least recently used first,
        # and when the copy engine has done the loads so far.
        self._residents = [tuple(_Resident(model, 0.0) for model in residents)]
        self._copy_free_s = [0.0]

    @property
    def free_s(self) -> float:
        """When the first of its slots is free for good."""
        return min(starts[-1] for starts in self._timeline.starts)

    def offer(self, need: Need) -> Offer:
        """Return the way to run a task that ends first, then with the shorter load."""
        best = None
        for lane in range(len(self._timeline.starts)):
            for gap in self._gaps(lane, need.arrived_s):
                found = self._try(need, lane, gap)
                if found is not None:
                    best = found if best is None else min(best, found)
                    break
        assert best is not None  # the last gap never ends
        return best

    def book(self, need: Need, offer: Offer) -> None:
        """Take up an offer; it must be the latest one made to this task."""
        self._timeline.book(offer.lane, offer.gap, offer.busy_from_s, offer.end_s)
        place = bisect_right(self._starts, offer.start_s)
        run = _Run(
            offer.end_s,
            need.model,
            need.memory_bytes,
            offer.load_start_s,
            offer.load_end_s,
        )
        self._starts.insert(place, offer.start_s)
        self._runs.insert(place, run)
        del self._residents[place + 1 :], self._copy_free_s[place + 1 :]
        for later in self._runs[place:]:
            self._residents.append(self._after(self._residents[-1], later))
            copied_s = later.load_end_s if later.has_load else 0.0
            self._copy_free_s.append(max(self._copy_free_s[-1], copied_s))

    def _gaps(self, lane: int, ready_s: float) -> Iterator[int]:
        ends = self._timeline.ends[lane]
        if self._append_only:
            return iter((len(ends) - 1,))
        return self._timeline.gaps_from(lane, ready_s)

    def _try(self, need: Need, lane: int, gap: int) -> Offer | None:
        opens_s = self._timeline.starts[lane][gap]
        closes_s = self._timeline.ends[lane][gap]
        if self._append_only and self._starts:
            opens_s = max(opens_s, self._starts[-1])
        ready_s = max(opens_s, need.arrived_s)
        if ready_s + need.runtime_s > closes_s:
            return None
        place = bisect_right(self._starts, ready_s)
        residents = self._residents[place]
        is_hit = need.model < 0 or any(one.model == need.model for one in residents)
        leaving = self._leaving(residents, need.model, need.memory_bytes)
        if is_hit and not leaving:
            end_s = ready_s + need.runtime_s
            return Offer(end_s, 0.0, ready_s, lane, gap, ready_s, INF, INF)
        if self._is_missed_later(leaving, place):
            return None
        evict_s = sum(self._evict_s[one.model] for one in leaving)
        load_s = 0.0 if is_hit else self._load_s[need.model]
        from_s = max((one.used_until_s for one in leaving), default=0.0)
        if not is_hit:
            from_s = max(from_s, need.load_from_s)
        if self._overlap:
            from_s = max(from_s, self._copy_free_s[place])
            if from_s + evict_s + load_s > self._next_load_s(place):
                return None
        else:  # right before the run, in the same gap
            from_s = max(from_s, opens_s, need.arrived_s - (evict_s + load_s))
        loaded_s = from_s + evict_s + load_s
        start_s = max(ready_s, loaded_s)
        if start_s + need.runtime_s > closes_s:
            return None
        return Offer(
            start_s + need.runtime_s,
            load_s,
            start_s,
            lane,
            gap,
            start_s if self._overlap else from_s,
            INF if is_hit else from_s + evict_s,
            INF if is_hit else loaded_s,
        )

    def _leaving(
        self, residents: tuple[_Resident, ...], model: int, memory_bytes: int
    ) -> list[_Resident]:
        """Return who must leave for a run, least recently used first."""
        used = sum(self._size_bytes[one.model] for one in residents)
        need = memory_bytes
        if model >= 0 and all(one.model != model for one in residents):
            need += self._size_bytes[model]
        leaving = []
        for one in residents:
            if used + need <= self._memory_bytes:
                break
            if one.model != model:
                leaving.append(one)
                used -= self._size_bytes[one.model]
        return leaving

    def _after(
        self, residents: tuple[_Resident, ...], run: _Run
    ) -> tuple[_Resident, ...]:
        leaving = self._leaving(residents, run.model, run.memory_bytes)
        gone = {one.model for one in leaving} | {run.model}
        kept = tuple(one for one in residents if one.model not in gone)
        if run.model < 0:
            return kept
        until_s = max(
            (one.used_until_s for one in residents if one.model == run.model),
            default=0.0,
        )
        return (*kept, _Resident(run.model, max(until_s, run.end_s)))

    def _is_missed_later(self, leaving: list[_Resident], place: int) -> bool:
        gone = {one.model for one in leaving}
        for run in self._runs[place:]:
            if not gone:
                break
            if run.model in gone:
                if not run.has_load:
                    return True
                gone.discard(run.model)
        return False

    def _next_load_s(self, place: int) -> float:
        for run in self._runs[place:]:
            if run.has_load:
                return run.load_start_s
        return INF
