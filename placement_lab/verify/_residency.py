"""Rules R2 and R4: which copies of models there are, and which runs they serve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from placement_lab.units import format_seconds
from placement_lab.verify._timeline import count_before, ranges

if TYPE_CHECKING:
    from placement_lab.verify._records import Actions, Bools, Case, Floats, Ints

__all__ = ["Copies", "Usage", "check_residency", "follow_copies"]


@dataclass(frozen=True)
class Copies:
    """The copies of models in the workers' memories, by (worker, model) and time.

    Attributes
    ----------
    worker, model : ndarray of shape (C,)
    load : ndarray of shape (C,)
        Number of the load that made it; -1 for an initial resident.
    occupied_s, usable_s : ndarray of shape (C,)
        Start and end of its load, 0 for an initial resident.
    unusable_s, free_s : ndarray of shape (C,)
        Start and end of its eviction, inf without one.
    """

    worker: Ints
    model: Ints
    load: Ints
    occupied_s: Floats
    usable_s: Floats
    unusable_s: Floats
    free_s: Floats

    def __len__(self) -> int:
        return len(self.worker)


@dataclass(frozen=True)
class Usage:
    """Which run may use which copy; a run that touches two at one instant, either.

    Attributes
    ----------
    run, copy : ndarray of shape (U,)
        Pairs of numbers. A run that breaks the rules is paired with the copy that it
        was probably meant for.
    sound : ndarray of shape (C,)
        Whether each copy can be used at all: no eviction ends it while it loads.
    """

    run: Ints
    copy: Ints
    sound: Bools


def follow_copies(case: Case) -> Copies:
    """Follow each model through each worker's memory, and report what cannot be."""
    follower = _Follower(case)
    arrays = case.arrays
    n_models = max(arrays.n_models, 1)
    resident_worker = np.repeat(
        np.arange(arrays.n_workers), np.diff(arrays.resident_ptr)
    )
    initial = set((resident_worker * n_models + arrays.resident_model).tolist())
    loads = _by_group(case.loads, n_models)
    evictions = _by_group(case.evictions, n_models)
    for group in sorted(initial | loads.keys() | evictions.keys()):
        follower.follow(
            group, group in initial, loads.get(group, []), evictions.get(group, [])
        )
    group, load, eviction = np.array(follower.copies, np.int64).reshape(-1, 3).T
    return Copies(
        group // n_models,
        group % n_models,
        load,
        *_times_of(case.loads, load, 0.0),
        *_times_of(case.evictions, eviction, np.inf),
    )


def _by_group(actions: Actions, n_models: int) -> dict[int, list[int]]:
    """Return the numbers of the actions of each worker and model, in order of time."""
    group = actions.worker * n_models + actions.target
    order = np.lexsort((actions.end_s, actions.start_s, group))
    found, first = np.unique(group[order], return_index=True)
    parts = np.split(order, first[1:])
    return {int(g): part.tolist() for g, part in zip(found, parts, strict=False)}


def _times_of(actions: Actions, number: Ints, without: float) -> list[Floats]:
    """Return start and end of the numbered actions, ``without`` for number -1."""
    return [
        np.append(times, without)[number] for times in (actions.start_s, actions.end_s)
    ]


class _Follower:
    """Walks through the loads and evictions of one model on one worker."""

    def __init__(self, case: Case) -> None:
        loads, evictions = case.loads, case.evictions
        self.report = case.report
        self.less = case.slack.is_less
        self.load_start, self.load_end = loads.start_s.tolist(), loads.end_s.tolist()
        self.evict_start = evictions.start_s.tolist()
        self.evict_end = evictions.end_s.tolist()
        self.target, self.worker = loads.target, loads.worker
        self.evicted, self.evicted_from = evictions.target, evictions.worker
        self.copies: list[tuple[int, int, int]] = []

    def follow(
        self, group: int, initial: bool, loads: list[int], evictions: list[int]
    ) -> None:
        less = self.less
        i, n_loads = 0, len(loads)
        is_here, copy = initial, -1
        for eviction in evictions:
            start_s, end_s = self.evict_start[eviction], self.evict_end[eviction]
            # Loads that start before this eviction has ended come first.
            if not is_here and i < n_loads and self._is_of(eviction, loads[i]):
                is_here, copy = True, loads[i]
                i += 1
            if not is_here:
                self._not_resident(eviction)
                continue
            while i < n_loads and less(self.load_start[loads[i]], end_s):
                self._already_there(loads[i])
                i += 1
            if copy >= 0 and less(start_s, self.load_end[copy]):
                self._while_loading(eviction, self.load_end[copy] - start_s)
            self.copies.append((group, copy, eviction))
            is_here, copy = False, -1
        if not is_here and i < n_loads:
            is_here, copy = True, loads[i]
            i += 1
        if is_here:
            self.copies.append((group, copy, -1))
        for load in loads[i:]:
            self._already_there(load)

    def _is_of(self, eviction: int, load: int) -> bool:
        """Tell whether the load comes before the eviction, with the model not there."""
        start_s = self.evict_start[eviction]
        is_over = not self.less(start_s, self.load_end[load])
        return is_over or self.less(self.load_start[load], start_s)

    def _already_there(self, load: int) -> None:
        where = self.report.load(int(self.target[load]), int(self.worker[load]))
        text = (
            "the model is already resident or loading there, and a worker holds one "
            "copy; remove this load or evict the model first"
        )
        self.report.add("R2", where, self.load_start[load], 1, text)

    def _not_resident(self, eviction: int) -> None:
        where = self._place(eviction)
        text = "the model is not resident there; remove this eviction"
        self.report.add("R4", where, self.evict_start[eviction], 1, text)

    def _while_loading(self, eviction: int, early_s: float) -> None:
        text = (
            f"starts {format_seconds(early_s)} before the model's load has ended; "
            "evict it later"
        )
        start_s = self.evict_start[eviction]
        self.report.add("R4", self._place(eviction), start_s, early_s, text)

    def _place(self, eviction: int) -> str:
        model, worker = int(self.evicted[eviction]), int(self.evicted_from[eviction])
        return self.report.eviction(model, worker)


def check_residency(case: Case, copies: Copies) -> Usage:
    """Check that every run has its model (R2), and none loses it on the way (R4)."""
    runs, slack = case.runs, case.slack
    n_models = max(case.arrays.n_models, 1)
    sound = ~slack.less(copies.unusable_s, copies.usable_s)
    kept = np.flatnonzero(sound)
    kept_group = copies.worker[kept] * n_models + copies.model[kept]
    model = case.arrays.model[runs.target]
    users = np.flatnonzero(model >= 0)
    group = runs.worker[users] * n_models + model[users]
    # Usable when the run starts: those before `last`. When it ends: `first` and later.
    start_s, end_s = runs.start_s[users], runs.end_s[users]
    late_s, early_s = start_s + slack.at(start_s), end_s - slack.at(end_s)
    last = count_before(kept_group, copies.usable_s[kept], group, late_s, or_at=True)
    first = count_before(kept_group, copies.unusable_s[kept], group, early_s)
    fitting = np.maximum(last - first, 0)
    pairs = [(np.repeat(users, fitting), kept[ranges(first, fitting)])]
    unserved = np.flatnonzero(fitting == 0)
    for place in (last[unserved] - 1, last[unserved]):
        exists = (place >= 0) & (place < len(kept))
        exists[exists] = kept_group[place[exists]] == group[unserved[exists]]
        pairs.append((users[unserved[exists]], kept[place[exists]]))
    (_, _), before, after = pairs
    _report_unserved(
        case, copies, users[unserved], dict(_plain(before)), dict(_plain(after))
    )
    return Usage(
        run=np.concatenate([run for run, _ in pairs]),
        copy=np.concatenate([copy for _, copy in pairs]),
        sound=sound,
    )


def _plain(pairs: tuple[Ints, Ints]) -> zip[tuple[int, int]]:
    return zip(pairs[0].tolist(), pairs[1].tolist(), strict=True)


def _report_unserved(
    case: Case,
    copies: Copies,
    runs: Ints,
    before: dict[int, int],
    after: dict[int, int],
) -> None:
    """Report runs that lie in no copy's usable time.

    Parameters
    ----------
    before, after : dict of int to int
        For each run the last copy that became usable by its start, and the next one.
    """
    for run in runs.tolist():
        start_s = float(case.runs.start_s[run])
        copy = before.get(run)
        if copy is not None:
            evicted_s = float(copies.unusable_s[copy])
            if case.slack.is_less(start_s, evicted_s):
                _report_cut(case, run, evicted_s)
                continue
        _report_missing(case, copies, run, after.get(run))


def _report_cut(case: Case, run: int, evicted_s: float) -> None:
    task, worker = int(case.runs.target[run]), int(case.runs.worker[run])
    where = case.report.eviction(int(case.arrays.model[task]), worker)
    amount = float(case.runs.end_s[run]) - evicted_s
    text = (
        f"task {case.report.task(task)} uses the model for {format_seconds(amount)} "
        "more; evict it when the task has ended"
    )
    case.report.add("R4", where, evicted_s, amount, text)


def _report_missing(case: Case, copies: Copies, run: int, after: int | None) -> None:
    task, worker = int(case.runs.target[run]), int(case.runs.worker[run])
    start_s, end_s = float(case.runs.start_s[run]), float(case.runs.end_s[run])
    where = case.report.run(task, worker)
    name = case.report.model(int(case.arrays.model[task]))
    if after is None:
        text = f"its model {name} is not resident there; load it first"
        case.report.add("R2", where, start_s, end_s - start_s, text)
        return
    amount = float(copies.usable_s[after]) - start_s
    text = (
        f"starts {format_seconds(amount)} before its model {name} is loaded; start it "
        "later or load the model earlier"
    )
    case.report.add("R2", where, start_s, amount, text)
