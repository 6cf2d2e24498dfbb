"""Rule R2: models and running tasks' own needs never exceed a worker's memory.

Memory is exact: sums are whole numbers of any size (Python's own).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from placement_lab.units import format_bytes
from placement_lab.verify._timeline import lay_out, level_inside

if TYPE_CHECKING:
    from placement_lab.verify._records import Case, Floats, Ints
    from placement_lab.verify._residency import Copies, Usage

__all__ = ["check_memory"]


@dataclass(frozen=True)
class _Occupants:
    """What occupies memory: first all copies of models, then the runs with own needs.

    Attributes
    ----------
    size_bytes : ndarray of object, shape (I,)
    run : ndarray of shape (I,)
        Number of the run, -1 for a copy.
    """

    worker: Ints
    start_s: Floats
    end_s: Floats
    size_bytes: Any
    run: Ints


def check_memory(case: Case, copies: Copies, usage: Usage) -> None:
    """Check that no worker holds more than its memory at any time."""
    arrays, runs = case.arrays, case.runs
    needy = np.flatnonzero(arrays.memory_bytes[runs.target] > 0)
    sizes = [
        arrays.model_size_bytes[copies.model],
        arrays.memory_bytes[runs.target[needy]],
    ]
    some = _Occupants(
        np.concatenate([copies.worker, runs.worker[needy]]),
        np.concatenate([copies.occupied_s, runs.start_s[needy]]),
        np.concatenate([copies.free_s, runs.end_s[needy]]),
        np.concatenate(sizes).astype(object),
        np.concatenate([np.full(len(copies), -1), needy]),
    )
    _check_lasting(case, copies, some)
    _check_instants(case, copies, some, usage)


def _check_lasting(case: Case, copies: Copies, some: _Occupants) -> None:
    line = lay_out(some.worker, some.start_s, some.end_s - case.slack.at(some.end_s))
    capacity = case.arrays.worker_memory_bytes[some.worker[line.interval]]
    over = line.level(some.size_bytes) - capacity
    for first, last in zip(*line.periods(over > 0), strict=True):
        _report(case, copies, some, int(line.interval[first]), over[first:last].max())


def _check_instants(case: Case, copies: Copies, some: _Occupants, usage: Usage) -> None:
    """Check that what takes no time finds room in what surrounds it on both sides."""
    instants = np.flatnonzero(~case.slack.less(some.start_s, some.end_s))
    if not instants.size:
        return
    open_s = some.start_s + case.slack.at(some.start_s)
    close_s = some.end_s - case.slack.at(some.end_s)
    worker, at_s = some.worker[instants], some.start_s[instants]
    around = level_inside(
        worker,
        at_s,
        worker=some.worker,
        open_s=open_s,
        close_s=close_s,
        weight=some.size_bytes,
    )
    need = some.size_bytes[instants] + _models_aside(
        case, copies, usage, some, instants
    )
    over = around + need - case.arrays.worker_memory_bytes[worker]
    for i in np.flatnonzero(over > 0).tolist():
        _report(case, copies, some, int(instants[i]), over[i])


def _models_aside(
    case: Case, copies: Copies, usage: Usage, some: _Occupants, instants: Ints
) -> Any:
    """Return the size of the model that a run of no length uses, if not around it.

    The run may touch its copy's first or last instant; then the copy is there as well.
    """
    less, runs = case.slack.less, case.runs
    at_s = runs.start_s[usage.run]
    around = less(copies.occupied_s[usage.copy], at_s) & less(
        at_s, copies.free_s[usage.copy]
    )
    aside = np.zeros(len(runs) + 1, np.int64)  # the last one stands for the copies
    aside[usage.run] = case.arrays.model_size_bytes[copies.model[usage.copy]]
    aside[usage.run[around]] = 0
    return aside[some.run[instants]].astype(object)


def _report(
    case: Case, copies: Copies, some: _Occupants, i: int, over_bytes: int
) -> None:
    report, worker, run = case.report, int(some.worker[i]), int(some.run[i])
    if run >= 0:
        where = report.run(int(case.runs.target[run]), worker)
    elif copies.load[i] >= 0:
        where = report.load(int(copies.model[i]), worker)
    else:
        where = f"worker {report.worker(worker)}, model {report.model(copies.model[i])}"
    capacity = int(case.arrays.worker_memory_bytes[worker])
    used = format_bytes(capacity + over_bytes)
    text = (
        f"{used} in use, {over_bytes} bytes more than the worker's memory of "
        f"{capacity} bytes; evict a model first"
    )
    report.add("R2", where, some.start_s[i], over_bytes, text)
