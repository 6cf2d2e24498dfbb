"""Rule R0: every task once, known names, finite times. And records as columns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from placement_lab.units import TIME_TOLERANCE_S, format_seconds, time_slack_s
from placement_lab.verify._violations import Report

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from placement_lab.problem import Instance, InstanceArrays
    from placement_lab.schedule import Schedule

__all__ = ["Actions", "Bools", "Case", "Floats", "Ints", "Slack", "read_schedule"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_LARGEST_S = 1e300
"""Sums of a few times up to this stay finite."""

_RELATIVE = time_slack_s(_LARGEST_S) / _LARGEST_S


class Slack:
    """How far equal times may lie apart, for arrays and for single numbers.

    Parameters
    ----------
    tolerance_s : float or None
        Widens the package's own tolerance.
    """

    def __init__(self, tolerance_s: float | None = None) -> None:
        self.floor_s = max(TIME_TOLERANCE_S, tolerance_s or 0.0)

    def at(self, time_s: Floats) -> Floats:
        """Return the slack at each time; finite even at infinity."""
        size = np.minimum(np.abs(time_s), _LARGEST_S)
        return np.maximum(self.floor_s, _RELATIVE * size)

    def less(self, a_s: Floats, b_s: Floats) -> Bools:
        """Return where ``a`` comes before ``b`` and is not equal to it."""
        later = np.maximum(np.abs(a_s), np.abs(b_s))
        return np.asarray(b_s - a_s > self.at(later), np.bool_)

    def is_less(self, a_s: float, b_s: float) -> bool:
        """Return the same for two numbers, faster."""
        size = min(max(abs(a_s), abs(b_s)), _LARGEST_S)
        return b_s - a_s > max(self.floor_s, _RELATIVE * size)


@dataclass(frozen=True)
class Actions:
    """Runs, loads or evictions as columns.

    Attributes
    ----------
    target : ndarray of shape (A,)
        Task number of a run, model number of a load or an eviction.
    worker : ndarray of shape (A,)
    start_s, end_s : ndarray of shape (A,)
        Finite; an end is never less than its start by more than the slack.
    """

    target: Ints
    worker: Ints
    start_s: Floats
    end_s: Floats

    def __len__(self) -> int:
        return len(self.target)

    def times_s(self, i: int) -> tuple[float, float]:
        """Return start and end of one action."""
        return float(self.start_s[i]), float(self.end_s[i])


@dataclass(frozen=True)
class Case:
    """What is before the referee: question, answer, and what was found so far."""

    instance: Instance
    arrays: InstanceArrays
    slack: Slack
    report: Report
    runs: Actions
    loads: Actions
    evictions: Actions

    @property
    def has_timed_evictions(self) -> bool:
        """Whether evictions take time, and occupy what a load would (R4)."""
        return self.instance.rules.evict_bandwidth_bytes_per_s is not None


def read_schedule(instance: Instance, schedule: Schedule, slack: Slack) -> Case:
    """Report what violates R0; return the records that the other rules can judge."""
    arrays = instance.arrays
    report = Report(arrays)
    reader = _Reader(arrays, slack, report)
    models = arrays.model_index
    runs = reader.read("task", "task", schedule.runs, arrays.task_index)
    loads = reader.read("load of", "model", schedule.loads, models)
    evictions = reader.read("eviction of", "model", schedule.evictions, models)
    _check_once(arrays, runs, reader.tasks_named, report)
    return Case(instance, arrays, slack, report, runs, loads, evictions)


class _Reader:
    def __init__(self, arrays: InstanceArrays, slack: Slack, report: Report) -> None:
        self.workers = arrays.worker_index
        self.slack, self.report = slack, report
        self.tasks_named = np.zeros(arrays.n_tasks, np.bool_)

    def read(
        self, label: str, noun: str, records: Sequence[Any], index: Mapping[str, int]
    ) -> Actions:
        """Return the sound records as columns, and report the others."""
        names, workers, starts, ends = (
            [record[field] for record in records] for field in range(4)
        )
        target, worker = _numbers_of(names, index), _numbers_of(workers, self.workers)
        start_s, end_s = _times_of(starts), _times_of(ends)
        if noun == "task":
            self.tasks_named[target[target >= 0]] = True
        unnamed = (target < 0) | (worker < 0)
        untimed = ~(np.isfinite(start_s) & np.isfinite(end_s))
        reversed_ = ~untimed & self.slack.less(end_s, start_s)
        before_zero = ~untimed & self.slack.less(start_s, np.zeros_like(start_s))
        faulty = unnamed | untimed | reversed_ | before_zero
        for i in np.flatnonzero(faulty).tolist():
            where = f"worker {_show(workers[i])}, {label} {_show(names[i])}"
            if target[i] < 0:
                self._unknown(where, start_s[i], noun, names[i])
            if worker[i] < 0:
                self._unknown(where, start_s[i], "worker", workers[i])
            if untimed[i]:
                self._no_time(where, start_s[i], starts[i], ends[i])
            elif reversed_[i]:
                self._reversed(where, start_s[i], end_s[i])
            if before_zero[i]:
                self._before_zero(where, start_s[i])
        sound = ~(unnamed | untimed | reversed_)
        return Actions(target[sound], worker[sound], start_s[sound], end_s[sound])

    def _unknown(self, where: str, start_s: float, noun: str, name: Any) -> None:
        time_s = start_s if math.isfinite(start_s) else None
        text = f"the instance has no {noun} {name!r:.60}; remove it or correct the name"
        self.report.add("R0", where, time_s, 1, text)

    def _no_time(self, where: str, start_s: float, start: Any, end: Any) -> None:
        time_s = start_s if math.isfinite(start_s) else None
        text = (
            f"start and end must be finite numbers of seconds, got {start!r:.40} and "
            f"{end!r:.40}; give it times"
        )
        self.report.add("R0", where, time_s, 1, text)

    def _reversed(self, where: str, start_s: float, end_s: float) -> None:
        amount = start_s - end_s
        text = (
            f"ends {format_seconds(amount)} before it starts; exchange its times or "
            "correct them"
        )
        self.report.add("R0", where, start_s, amount, text)

    def _before_zero(self, where: str, start_s: float) -> None:
        text = f"starts {format_seconds(-start_s)} before time 0; start it later"
        self.report.add("R0", where, start_s, -start_s, text)


def _check_once(
    arrays: InstanceArrays, runs: Actions, named: Bools, report: Report
) -> None:
    for task in np.flatnonzero(~named).tolist():
        where = f"task {report.task(task)}"
        report.add("R0", where, None, 1, "never runs; add a run")
    count = np.bincount(runs.target, minlength=arrays.n_tasks)
    if count.size == 0 or count.max() <= 1:
        return
    order = np.lexsort((runs.worker, runs.start_s, runs.target))
    again = order[1:][runs.target[order[1:]] == runs.target[order[:-1]]]
    for i in again.tolist():
        task = int(runs.target[i])
        where = report.run(task, int(runs.worker[i]))
        text = f"runs {count[task]} times; remove all runs but one"
        report.add("R0", where, runs.start_s[i], 1, text)


def _numbers_of(names: Sequence[Any], index: Mapping[str, int]) -> Ints:
    """Return the number of each name, -1 for what is none."""
    known = [index.get(name, -1) if isinstance(name, str) else -1 for name in names]
    return np.array(known, np.int64)


def _times_of(values: Sequence[Any]) -> Floats:
    """Return times as floats, nan for what is no time."""
    times = np.array(
        [value if type(value) is float else _as_float(value) for value in values],
        np.float64,
    )
    times[np.abs(times) > _LARGEST_S] = np.nan
    return times


def _as_float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        return math.nan


def _show(name: Any) -> str:
    is_plain = isinstance(name, str) and name.isprintable()
    return f"{name:.60}" if is_plain else f"{name!r:.60}"
