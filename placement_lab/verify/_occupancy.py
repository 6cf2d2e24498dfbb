"""How long actions take, and what they occupy: slots (R1), copy engine (R3, R4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from placement_lab.units import format_seconds
from placement_lab.verify._timeline import lay_out, level_inside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from placement_lab.verify._records import Actions, Bools, Case, Floats, Ints

__all__ = ["check_durations", "check_occupancy"]

_RUN, _LOAD, _EVICTION = 0, 1, 2


def check_durations(case: Case) -> None:
    """Check that every action takes as long as the instance says (R1, R3, R4)."""
    _check_runs(case)
    _check_loads(case)
    _check_evictions(case)


def _check_runs(case: Case) -> None:
    arrays, runs, report = case.arrays, case.runs, case.report
    runtime_s = arrays.row_runtime_s[arrays.row[runs.target], runs.worker]
    impossible = np.isinf(runtime_s)
    for i in np.flatnonzero(impossible).tolist():
        where = report.run(int(runs.target[i]), int(runs.worker[i]))
        text = "the task cannot run on this worker; place it on another one"
        report.add("R1", where, runs.start_s[i], 1, text)
    for i, expected_s in _wrong_lengths(case, runs, runtime_s, ~impossible):
        where = report.run(int(runs.target[i]), int(runs.worker[i]))
        _report_length(case, "R1", where, runs.times_s(i), expected_s)


def _check_loads(case: Case) -> None:
    arrays, loads, report = case.arrays, case.loads, case.report
    load_s = arrays.load_s[loads.target, loads.worker]
    size = arrays.model_size_bytes[loads.target]
    fits = size <= arrays.worker_memory_bytes[loads.worker]  # R2 reports the others
    for i in np.flatnonzero(fits & np.isinf(load_s)).tolist():
        where = report.load(int(loads.target[i]), int(loads.worker[i]))
        text = (
            "no load time is known here; give the model a load_s for this kind, or the "
            "worker a load_bandwidth_bytes_per_s"
        )
        report.add("R3", where, loads.start_s[i], 1, text)
    for i, expected_s in _wrong_lengths(case, loads, load_s, np.isfinite(load_s)):
        where = report.load(int(loads.target[i]), int(loads.worker[i]))
        _report_length(case, "R3", where, loads.times_s(i), expected_s)


def _check_evictions(case: Case) -> None:
    evictions, report = case.evictions, case.report
    evict_s = case.arrays.evict_s[evictions.target]
    for i, expected_s in _wrong_lengths(case, evictions, evict_s, np.isfinite(evict_s)):
        where = report.eviction(int(evictions.target[i]), int(evictions.worker[i]))
        _report_length(case, "R4", where, evictions.times_s(i), expected_s)


def _wrong_lengths(
    case: Case, actions: Actions, expected_s: Floats, judged: Bools
) -> Iterator[tuple[int, float]]:
    due_s = actions.start_s + expected_s
    less = case.slack.less
    wrong = judged & (less(actions.end_s, due_s) | less(due_s, actions.end_s))
    for i in np.flatnonzero(wrong).tolist():
        yield i, float(expected_s[i])


def _report_length(
    case: Case, rule: str, where: str, times_s: tuple[float, float], expected_s: float
) -> None:
    start_s, end_s = times_s
    off_s = end_s - start_s - expected_s
    text = (
        f"takes {format_seconds(abs(off_s))} {'more' if off_s > 0 else 'less'} than "
        f"its {format_seconds(expected_s)}; correct its end"
    )
    case.report.add(rule, where, start_s, abs(off_s), text)


@dataclass(frozen=True)
class _Occupants:
    """All actions that may occupy something."""

    kind: Ints
    target: Ints
    worker: Ints
    start_s: Floats
    end_s: Floats

    def are(self, *kinds: int) -> Ints:
        """Return 1 for actions of these kinds, 0 for others."""
        return np.isin(self.kind, kinds).astype(np.int64)


@dataclass(frozen=True)
class _Limit:
    """A limit of a worker that actions may exceed.

    Attributes
    ----------
    rule : str
    kinds : tuple of int
        The actions that count against it.
    text : str
        What is wrong with ``{n}`` actions.
    """

    rule: str
    kinds: tuple[int, ...]
    text: str


_TASKS = _Limit("R1", (_RUN,), "{n} tasks run at a time, {excess} more than its slots")
_LOADS = _Limit(
    "R3",
    (_LOAD, _EVICTION),
    "{n} loads or timed evictions at a time, a worker does one",
)
_EVICTIONS = _Limit(
    "R4", (_EVICTION,), "{n} timed evictions at a time, a worker does one"
)
_BLOCKING_LOAD = _Limit(
    "R3",
    (_RUN, _LOAD),
    "a load takes a slot as a task does, which makes {n}, {excess} more than there are",
)
_BLOCKING_EVICTION = _Limit(
    "R4",
    (_RUN, _EVICTION),
    "a timed eviction takes a slot as a task does, which makes {n}, {excess} more than "
    "there are",
)


def check_occupancy(case: Case) -> None:
    """Check that slots (R1) and the copy engine (R3, R4) are not used twice at once.

    With blocking loading what the copy engine does takes one slot as well; two loads
    at once are a fault of the engine alone.
    """
    actions = [(_RUN, case.runs), (_LOAD, case.loads)]
    if case.has_timed_evictions:
        actions.append((_EVICTION, case.evictions))
    some = _Occupants(
        np.repeat([kind for kind, _ in actions], [len(one) for _, one in actions]),
        np.concatenate([one.target for _, one in actions]),
        np.concatenate([one.worker for _, one in actions]),
        np.concatenate([one.start_s for _, one in actions]),
        np.concatenate([one.end_s for _, one in actions]),
    )
    _check_lasting(case, some)
    _check_instants(case, some)


def _check_lasting(case: Case, some: _Occupants) -> None:
    """Sweep over the actions that take time; a slack of overlap is none."""
    close_s = some.end_s - case.slack.at(some.end_s)
    line = lay_out(some.worker, some.start_s, close_s)
    worker = some.worker[line.interval]
    now = [line.level(some.are(kind)) for kind in (_RUN, _LOAD, _EVICTION)]
    for limit, excess in _excesses(case, worker, *now):
        for first, last in zip(*line.periods(excess > 0), strict=True):
            most = int(excess[first:last].max())
            _report(case, some, int(line.interval[first]), limit, most)


def _check_instants(case: Case, some: _Occupants) -> None:
    """Check that what takes no time has a place in what surrounds it on both sides."""
    instants = np.flatnonzero(~case.slack.less(some.start_s, some.end_s))
    if not instants.size:
        return
    worker, at_s = some.worker[instants], some.start_s[instants]
    open_s = some.start_s + case.slack.at(some.start_s)
    close_s = some.end_s - case.slack.at(some.end_s)
    now = [
        some.are(kind)[instants]
        + level_inside(
            worker,
            at_s,
            worker=some.worker,
            open_s=open_s,
            close_s=close_s,
            weight=some.are(kind),
        )
        for kind in (_RUN, _LOAD, _EVICTION)
    ]
    for limit, excess in _excesses(case, worker, *now):
        counts = some.are(*limit.kinds)[instants] > 0
        for i in np.flatnonzero(counts & (excess > 0)).tolist():
            _report(case, some, int(instants[i]), limit, int(excess[i]))


def _excesses(
    case: Case, worker: Ints, runs: Ints, loads: Ints, evictions: Ints
) -> Iterator[tuple[_Limit, Ints]]:
    """Yield each limit, and by how many of the given actions it is exceeded.

    An excess never becomes positive when an action ends, only when one starts.
    """
    slots = case.arrays.worker_slots[worker]
    yield _TASKS, runs - slots
    yield _LOADS, (loads > 0) * (loads + evictions - 1)
    yield _EVICTIONS, evictions - 1
    if not case.arrays.overlap:
        yield _BLOCKING_LOAD, (loads > 0) * (runs + 1 - slots)
        yield _BLOCKING_EVICTION, (evictions > 0) * (runs + 1 - slots)


def _report(case: Case, some: _Occupants, i: int, limit: _Limit, excess: int) -> None:
    report = case.report
    places = {_RUN: report.run, _LOAD: report.load, _EVICTION: report.eviction}
    where = places[int(some.kind[i])](int(some.target[i]), int(some.worker[i]))
    is_engine = limit is _LOADS or limit is _EVICTIONS
    allowed = 1 if is_engine else int(case.arrays.worker_slots[some.worker[i]])
    text = limit.text.format(n=allowed + excess, excess=excess)
    text += "; start one of them later"
    report.add(limit.rule, where, some.start_s[i], excess, text)
