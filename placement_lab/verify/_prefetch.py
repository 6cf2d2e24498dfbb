"""Rule R6: when a load, and under ``on_demand`` an eviction, may start."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from placement_lab.units import format_seconds
from placement_lab.verify._timeline import count_before

if TYPE_CHECKING:
    from placement_lab.verify._records import Case, Floats, Ints
    from placement_lab.verify._residency import Copies, Usage

__all__ = ["check_prefetch"]


def check_prefetch(case: Case, copies: Copies, usage: Usage, ready_s: Floats) -> None:
    """Check that no load starts before the instance's prefetch rule allows it.

    Parameters
    ----------
    ready_s : ndarray of shape (runs,)
        When each run's task is released and all its inputs are at its worker.
    """
    prefetch = case.arrays.prefetch
    if prefetch == "clairvoyant":
        return
    _check_used(case, copies, usage)
    if prefetch == "after_release":
        _check_released(case, copies, usage)
        return
    first_s = _first_use(case, copies, usage)
    gate_s = _gate(case, copies, usage, ready_s, first_s)
    _check_demanded(case, copies, gate_s)
    _check_evictions(case, _takers(case, copies, gate_s, ready_s))
    if not case.arrays.overlap:
        _check_nothing_between(case, copies, first_s)


def _check_used(case: Case, copies: Copies, usage: Usage) -> None:
    used = ~usage.sound  # a copy that its eviction ended while loading is R4's
    used[usage.copy] = True
    for copy in np.flatnonzero(~used & (copies.load >= 0)).tolist():
        text = (
            f"no run uses this load, which prefetch {case.arrays.prefetch} forbids; "
            "remove it"
        )
        _report_load(case, copies, copy, 1, text)


def _check_released(case: Case, copies: Copies, usage: Usage) -> None:
    arrays = case.arrays
    job = arrays.job[case.runs.target[usage.run]]
    release_s = np.full(len(copies), np.inf)
    np.minimum.at(release_s, usage.copy, arrays.job_release_s[job])
    for copy, early_s in _early_loads(case, copies, release_s):
        text = (
            f"starts {format_seconds(early_s)} before a job that uses this copy is "
            "released; load it later"
        )
        _report_load(case, copies, copy, early_s, text)


def _first_use(case: Case, copies: Copies, usage: Usage) -> Floats:
    """Return the start of the first run that uses each copy; inf without one."""
    first_s = np.full(len(copies), np.inf)
    np.minimum.at(first_s, usage.copy, case.runs.start_s[usage.run])
    return first_s


def _gate(
    case: Case, copies: Copies, usage: Usage, ready_s: Floats, first_s: Floats
) -> Floats:
    """Return when the first run of each copy has its inputs; inf where that is unknown.

    Of several first runs that start together, the one whose inputs came first decides.
    """
    start_s = case.runs.start_s[usage.run]
    is_first = ~case.slack.less(first_s[usage.copy], start_s)
    gate_s = np.full(len(copies), np.inf)
    np.minimum.at(gate_s, usage.copy[is_first], ready_s[usage.run[is_first]])
    return gate_s


def _check_demanded(case: Case, copies: Copies, gate_s: Floats) -> None:
    for copy, early_s in _early_loads(case, copies, gate_s):
        text = (
            f"starts {format_seconds(early_s)} before the inputs of its next run have "
            "arrived, which prefetch on_demand forbids; load it later"
        )
        _report_load(case, copies, copy, early_s, text)


class _Takers(NamedTuple):
    """What takes memory: loads, and runs with memory of their own; in start order.

    ``gate_s`` is when the inputs that it waits for have arrived; inf: not judged.
    """

    worker: Ints
    start_s: Floats
    gate_s: Floats
    load: Ints


def _takers(case: Case, copies: Copies, gate_s: Floats, ready_s: Floats) -> _Takers:
    loads, runs = case.loads, case.runs
    load_gate_s = np.full(len(loads), np.inf)
    loaded = copies.load >= 0
    load_gate_s[copies.load[loaded]] = gate_s[loaded]
    own = np.flatnonzero(case.arrays.memory_bytes[runs.target] > 0)
    takers = _Takers(
        np.concatenate([loads.worker, runs.worker[own]]),
        np.concatenate([loads.start_s, runs.start_s[own]]),
        np.concatenate([load_gate_s, ready_s[own]]),
        np.concatenate([np.arange(len(loads)), np.full(len(own), -1)]),
    )
    order = np.lexsort((takers.gate_s, takers.start_s, takers.worker))
    return _Takers(
        worker=takers.worker[order],
        start_s=takers.start_s[order],
        gate_s=takers.gate_s[order],
        load=takers.load[order],
    )


def _check_evictions(case: Case, takers: _Takers) -> None:
    """Check that evictions wait for the inputs of what they make room for.

    That is the next load of the worker or, if it starts first, the next run with memory
    of its own. One that starts at the same instant has been checked itself.
    """
    evictions, slack = case.evictions, case.slack
    if not len(evictions) or not len(takers.worker):
        return
    at_s = evictions.start_s - slack.at(evictions.start_s)
    place = count_before(takers.worker, takers.start_s, evictions.worker, at_s)
    following = np.minimum(place, len(takers.worker) - 1)
    ours = (place == following) & (takers.worker[following] == evictions.worker)
    gates_s = np.where(ours, takers.gate_s[following], np.inf)
    is_later = slack.less(evictions.start_s, takers.start_s[following])
    early = np.isfinite(gates_s) & is_later & slack.less(evictions.start_s, gates_s)
    for i in np.flatnonzero(early).tolist():
        worker = int(evictions.worker[i])
        where = case.report.eviction(int(evictions.target[i]), worker)
        start_s, amount = float(evictions.start_s[i]), gates_s[i] - evictions.start_s[i]
        load = int(takers.load[following[i]])
        what = "next run with memory of its own"
        if load >= 0:
            what = f"next load, of {case.report.model(int(case.loads.target[load]))},"
        text = (
            f"starts {format_seconds(amount)} before prefetch on_demand would let the "
            f"{what} start; evict it later"
        )
        case.report.add("R6", where, start_s, amount, text)


def _check_nothing_between(case: Case, copies: Copies, first_s: Floats) -> None:
    """Check that no other run starts between a blocking load and its run."""
    runs, slack = case.runs, case.slack
    after_s = copies.occupied_s + slack.at(copies.occupied_s)
    until_s = first_s - slack.at(first_s)
    begin = count_before(runs.worker, runs.start_s, copies.worker, after_s, or_at=True)
    end = count_before(runs.worker, runs.start_s, copies.worker, until_s)
    order = np.lexsort((runs.target, runs.start_s, runs.worker))
    wrong = (end > begin) & (copies.load >= 0) & np.isfinite(first_s)
    for copy in np.flatnonzero(wrong).tolist():
        other = case.report.task(int(runs.target[order[begin[copy]]]))
        text = (
            f"task {other} starts between this load and its run, where prefetch "
            "on_demand with blocking loading allows none; load it later"
        )
        _report_load(case, copies, copy, int(end[copy] - begin[copy]), text)


def _early_loads(
    case: Case, copies: Copies, allowed_s: Floats
) -> list[tuple[int, float]]:
    """Return copies whose load starts too early, and by how much; inf: not judged."""
    start_s = copies.occupied_s
    judged = (copies.load >= 0) & np.isfinite(allowed_s)
    early = judged & case.slack.less(start_s, allowed_s)
    return [
        (i, float(allowed_s[i] - start_s[i])) for i in np.flatnonzero(early).tolist()
    ]


def _report_load(
    case: Case, copies: Copies, copy: int, amount: float, text: str
) -> None:
    where = case.report.load(int(copies.model[copy]), int(copies.worker[copy]))
    case.report.add("R6", where, float(copies.occupied_s[copy]), amount, text)
