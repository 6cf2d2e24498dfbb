"""Rule R5: a run starts when its inputs are there; and when it is released (R6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from placement_lab.units import format_seconds
from placement_lab.verify._timeline import ranges

if TYPE_CHECKING:
    from placement_lab.verify._records import Case, Floats, Ints

__all__ = ["check_inputs"]


@dataclass(frozen=True)
class _Arrivals:
    """Inputs as they arrive at the workers of the runs that need them.

    Attributes
    ----------
    run : ndarray of shape (I,)
        The run that needs the input.
    source : ndarray of shape (I,)
        The task that made it; -1 for a job's own input.
    origin : ndarray of shape (I,)
        The worker that it comes from.
    at_s : ndarray of shape (I,)
        When it arrives; inf where no link leads there.
    """

    run: Ints
    source: Ints
    origin: Ints
    at_s: Floats


def check_inputs(case: Case) -> Floats:
    """Check starts against releases and inputs.

    Returns
    -------
    ndarray of shape (runs,)
        When each run's task is released and all its inputs are at its worker.
    """
    runs, less = case.runs, case.slack.less
    release_s = case.arrays.release_s[runs.target]
    for i in np.flatnonzero(less(runs.start_s, release_s)).tolist():
        _report_release(case, i, float(release_s[i]))
    ready_s = release_s.copy()
    for arrivals in (_from_predecessors(case), _from_ingress(case)):
        np.maximum.at(ready_s, arrivals.run, arrivals.at_s)
        early = less(runs.start_s[arrivals.run], arrivals.at_s)
        for i in np.flatnonzero(early).tolist():
            _report_early(case, arrivals, i)
    return ready_s


def _from_predecessors(case: Case) -> _Arrivals:
    arrays, runs = case.arrays, case.runs
    end_s, worker = _first_ends(case)
    first = arrays.pred_ptr[runs.target]
    count = arrays.pred_ptr[runs.target + 1] - first
    run = np.repeat(np.arange(len(runs)), count)
    place = ranges(first, count)
    place, run = _only(worker[arrays.pred_task[place]] >= 0, place, run)
    source, edge = arrays.pred_task[place], arrays.pred_edge[place]
    origin = worker[source]
    transfer_s = _transfer_s(
        case,
        arrays.edge_transfer_s[edge],
        arrays.edge_bytes[edge],
        origin,
        runs.worker[run],
    )
    return _Arrivals(run, source, origin, end_s[source] + transfer_s)


def _from_ingress(case: Case) -> _Arrivals:
    """Return the inputs of entry tasks; one that need not travel is left to R6."""
    arrays, runs = case.arrays, case.runs
    origin = arrays.job_ingress[arrays.job[runs.target]]
    is_entry = arrays.pred_ptr[runs.target + 1] == arrays.pred_ptr[runs.target]
    run = np.flatnonzero(is_entry & (origin >= 0) & (origin != runs.worker))
    task, row = runs.target[run], arrays.row[runs.target[run]]
    transfer_s = _transfer_s(
        case,
        arrays.row_input_transfer_s[row],
        arrays.row_input_bytes[row],
        origin[run],
        runs.worker[run],
    )
    run, task, transfer_s = _only(transfer_s > 0, run, task, transfer_s)
    source = np.full(len(run), -1)
    return _Arrivals(run, source, origin[run], arrays.release_s[task] + transfer_s)


def _only(kept: np.ndarray, *columns: np.ndarray) -> list[np.ndarray]:
    return [column[kept] for column in columns]


def _first_ends(case: Case) -> tuple[Floats, Ints]:
    """Return end and worker of each task's run (the first to end; -1: none)."""
    runs, n = case.runs, case.arrays.n_tasks
    last_to_first = np.lexsort((runs.worker, runs.end_s))[::-1]
    end_s, worker = np.full(n, np.nan), np.full(n, -1, np.int64)
    end_s[runs.target[last_to_first]] = runs.end_s[last_to_first]
    worker[runs.target[last_to_first]] = runs.worker[last_to_first]
    return end_s, worker


def _transfer_s(
    case: Case, own_s: Floats, size_bytes: Floats, origin: Ints, worker: Ints
) -> Floats:
    """Return transfer times: 0 at home, an own one, or latency + size / bandwidth."""
    latency_s = case.arrays.link_latency_s[origin, worker]
    bandwidth = case.arrays.link_bandwidth_bytes_per_s[origin, worker]
    by_link_s = latency_s + size_bytes / bandwidth
    away_s = np.where(np.isnan(own_s), by_link_s, own_s)
    return np.where(origin == worker, 0.0, away_s)


def _report_release(case: Case, run: int, release_s: float) -> None:
    start_s = float(case.runs.start_s[run])
    where = case.report.run(int(case.runs.target[run]), int(case.runs.worker[run]))
    amount = release_s - start_s
    text = f"starts {format_seconds(amount)} before its release; start it later"
    case.report.add("R6", where, start_s, amount, text)


def _report_early(case: Case, arrivals: _Arrivals, i: int) -> None:
    run, source = int(arrivals.run[i]), int(arrivals.source[i])
    start_s, at_s = float(case.runs.start_s[run]), float(arrivals.at_s[i])
    report = case.report
    where = report.run(int(case.runs.target[run]), int(case.runs.worker[run]))
    what = f"the output of {report.task(source)}" if source >= 0 else "its job's input"
    origin = report.worker(int(arrivals.origin[i]))
    if np.isinf(at_s):
        text = (
            f"no link leads here from worker {origin} for {what}; place the task on a "
            "linked worker"
        )
        report.add("R5", where, start_s, 1, text)
        return
    text = (
        f"starts {format_seconds(at_s - start_s)} before {what} arrives from worker "
        f"{origin}; start it later"
    )
    report.add("R5", where, start_s, at_s - start_s, text)
