"""From seconds to whole ticks: the choice of the tick, and rounding that proves.

Every time is rounded *down*. Take any schedule in true time and round all its starts
down as well: whatever ended before something else began still does, and whatever runs,
loads or resides at one tick did so together in true time, just before that tick's end.
So the rounded schedule obeys the rounded instance, costs no more than the true one, and
a lower bound for the rounded instance bounds the true one.

Executable schedules do not need a second, rounded-up model: a solution's *order* is
replayed in true time (`incumbent`), which leaves every rounding behind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable

    from placement_lab.problem import Instance, InstanceArrays

__all__ = ["Quantities", "Tick", "choose_tick", "in_seconds", "round_down"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_MOST_DIGITS = 9
_FINE = (10**9, 10**7)
_COARSE = (10**6, 10**5)
"""Most ticks in the time span: while they divide everything exactly, else at most so
many, and a tick is a power of ten."""

_MOST_ENERGY = 2**61
"""CP-SAT sums memory x time in 64 bits; beyond this, sizes are rounded too."""

_ULPS = 2e-15


@dataclass(frozen=True, slots=True)
class Tick:
    """The unit of time of an integer model.

    Attributes
    ----------
    seconds : float
    exact : bool
        Whether every time of the instance is a whole number of ticks.
    """

    seconds: float
    exact: bool

    def count(self, times_s: Floats) -> Floats:
        """Return times in whole ticks, rounded down; inf stays inf."""
        ticks = times_s / self.seconds
        counted = np.round(ticks) if self.exact else np.floor(ticks * (1 + _ULPS))
        return np.asarray(counted, np.float64)


@dataclass(frozen=True)
class Quantities:
    """What an instance costs, in one unit of time and one of memory.

    Times are true seconds (`in_seconds`) or whole ticks, kept in doubles, which hold
    them exactly (`round_down`). Infinity means "impossible": a
    worker that cannot run a task, a missing link. Times count from ``origin``.

    Attributes
    ----------
    origin : float
        Nothing useful can happen earlier.
    run, ready : ndarray of shape (N, W)
        Runtime; earliest start by releases and input.
    load : ndarray of shape (M, W)
    usable : ndarray of shape (M, W)
        Earliest time at which a copy can be used: 0 for initial residents, else after a
        first load that rule R6 allows.
    release, due : ndarray of shape (J,)
    delay : ndarray of shape (T, W, W)
        Transfer times, by edge of a workflow.
    size, own, capacity : ndarray of int
        Of models, tasks and workers.
    resident : ndarray of bool, shape (M, W)
    horizon : float
        Doing one thing at a time is over by then.
    """

    origin: float
    run: Floats
    ready: Floats
    load: Floats
    usable: Floats
    release: Floats
    due: Floats
    delay: Floats
    size: Ints
    own: Ints
    capacity: Ints
    resident: npt.NDArray[np.bool_]
    horizon: float

    @property
    def can_run(self) -> npt.NDArray[np.bool_]:
        """Whether a worker can run a task, of shape (N, W)."""
        return np.isfinite(self.ready)


def choose_tick(instance: Instance, *, fine: bool = True) -> Tick:
    """Choose the unit of time from the data.

    The greatest common divisor of all times, if they are decimal fractions with up to
    nine digits and the time span stays countable; else a power of ten.

    Parameters
    ----------
    instance : Instance
    fine : bool
        Fine ticks make bounds exact, coarse ones (some thousand per second of a busy
        schedule) make searches fast: a search on a large instance proves little in
        steps of microseconds.

    Returns
    -------
    Tick
    """
    most_exact, most_rounded = _FINE if fine else _COARSE
    true = in_seconds(instance)
    times_s = _all_times_s(instance, true)
    if not times_s.size:
        return Tick(1.0, exact=True)
    for digits in range(_MOST_DIGITS + 1):
        # Sums of decimal fractions miss them by a few units in the last place.
        if (np.abs(np.round(times_s, digits) - times_s) > _ULPS * times_s).any():
            continue
        scale = 10**digits
        unit = math.gcd(*[round(t * scale) for t in times_s.tolist()])
        if true.horizon * scale / unit <= most_exact:
            return Tick(unit / scale, exact=True)
        break
    digits = math.floor(math.log10(most_rounded / true.horizon))
    return Tick(1 / 10**digits if digits >= 0 else float(10**-digits), exact=False)


def _all_times_s(instance: Instance, true: Quantities) -> Floats:
    """Return every distinct, finite, positive time that can matter."""
    arrays = instance.arrays
    used = np.unique(arrays.model[arrays.model >= 0])
    parts = (
        true.run,
        true.load[used],
        true.delay,
        _inputs_s(arrays),
        arrays.release_s,
        arrays.job_release_s,
        arrays.job_deadline_s,
    )
    times_s = np.unique(np.concatenate([np.ravel(part) for part in parts]))
    return times_s[np.isfinite(times_s) & (times_s > 0)]


def in_seconds(instance: Instance) -> Quantities:
    """Return what an instance costs in true seconds.

    Parameters
    ----------
    instance : Instance
        With at least one job.

    Returns
    -------
    Quantities
    """
    return _quantities(instance, lambda times_s: times_s)


def round_down(instance: Instance, tick: Tick) -> Quantities:
    """Return what an instance costs in whole ticks, rounded down.

    Memory is exact, unless sizes are so incommensurable that sums would overflow; then
    sizes are rounded down and capacities up.

    Parameters
    ----------
    instance : Instance
        With at least one job.
    tick : Tick

    Returns
    -------
    Quantities
    """
    return _quantities(instance, tick.count)


def _quantities(instance: Instance, count: Callable[[Floats], Floats]) -> Quantities:
    arrays = instance.arrays
    inputs_s = _inputs_s(arrays)
    origin = count(np.array([_origin_s(arrays)]))[0]
    run = count(arrays.row_runtime_s)[arrays.row]
    load = count(arrays.load_s)
    ready = count(arrays.release_s[:, None] + inputs_s) - origin
    resident = _resident(arrays)
    ready[~(np.isfinite(run) & _has_model(arrays, load, resident))] = np.inf
    release = count(arrays.job_release_s) - origin
    delay = count(_delays_s(arrays))
    # One tick more for what rounding may have taken from the sum as a whole.
    horizon = 1 + _total(arrays, run, load, delay, ready)
    unit = _memory_unit(arrays, horizon)
    return Quantities(
        origin=float(origin),
        run=run,
        ready=ready,
        load=load,
        usable=_usable(arrays, load, release, ready, resident),
        release=release,
        # R0: an end within 1e-9 s of the deadline is in time.
        due=count(arrays.job_deadline_s + 1e-9) - origin,
        delay=delay,
        size=arrays.model_size_bytes // unit,
        own=arrays.memory_bytes // unit,
        capacity=-(-arrays.worker_memory_bytes // unit),
        resident=resident,
        horizon=float(horizon),
    )


def _inputs_s(arrays: InstanceArrays) -> Floats:
    """Return the transfer time of each task's input to each worker, of shape (N, W)."""
    moves_s = np.zeros((arrays.n_tasks, arrays.n_workers))
    for task in np.flatnonzero(np.diff(arrays.pred_ptr) == 0).tolist():
        if arrays.job_ingress[arrays.job[task]] >= 0:
            for w in range(arrays.n_workers):
                moves_s[task, w] = arrays.input_transfer_s(task, w)
    return moves_s


def _delays_s(arrays: InstanceArrays) -> Floats:
    own_s = arrays.edge_transfer_s[:, None, None]
    bandwidth = arrays.link_bandwidth_bytes_per_s
    by_link_s = arrays.link_latency_s + arrays.edge_bytes[:, None, None] / bandwidth
    same = np.eye(arrays.n_workers, dtype=bool)
    return np.where(same, 0.0, np.where(np.isnan(own_s), by_link_s, own_s))


def _origin_s(arrays: InstanceArrays) -> float:
    """Return a time before which nothing useful happens.

    Runs wait for the first release. So do loads, under ``after_release``; under
    ``clairvoyant``, what is loaded before the first run is loaded once, so all of it
    fits into the sum of the load times before the first release.
    """
    first_s = float(arrays.job_release_s.min())
    if arrays.prefetch == "clairvoyant":
        first_s -= float(_largest(arrays.load_s, axis=1).sum())
    return max(0.0, first_s)


def _largest(values: Floats, axis: int | tuple[int, ...]) -> Floats:
    finite = np.where(np.isfinite(values), values, 0.0)
    return np.asarray(finite.max(axis=axis, initial=0.0))


def _resident(arrays: InstanceArrays) -> npt.NDArray[np.bool_]:
    resident = np.zeros((arrays.n_models, arrays.n_workers), bool)
    worker = np.repeat(np.arange(arrays.n_workers), np.diff(arrays.resident_ptr))
    resident[arrays.resident_model, worker] = True
    return resident


def _has_model(
    arrays: InstanceArrays, load: Floats, resident: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Return whether a worker has or can load a task's model, of shape (N, W)."""
    can = np.vstack(
        [np.isfinite(load) | resident, np.ones((1, arrays.n_workers), bool)]
    )
    return np.asarray(can[arrays.model])  # the last row stands for "no model", -1


def _total(
    arrays: InstanceArrays, run: Floats, load: Floats, delay: Floats, ready: Floats
) -> float:
    models = arrays.model[arrays.model >= 0]
    return float(
        _largest(ready, axis=(0, 1))
        + _largest(run, axis=1).sum()
        + _largest(load, axis=1)[models].sum()
        + _largest(delay, axis=(1, 2))[arrays.pred_edge].sum()
    )


def _usable(
    arrays: InstanceArrays,
    load: Floats,
    release: Floats,
    ready: Floats,
    resident: npt.NDArray[np.bool_],
) -> Floats:
    begin = np.zeros(load.shape)
    if arrays.prefetch != "clairvoyant":
        begin[:] = np.inf
        for task, model in enumerate(arrays.model.tolist()):
            if model >= 0:
                users = np.isfinite(ready[task])
                first = release[arrays.job[task]]
                begin[model, users] = np.minimum(begin[model, users], first)
    return np.where(resident, 0.0, begin + load)


def _memory_unit(arrays: InstanceArrays, horizon: float) -> int:
    """Return the largest unit that divides all sizes, or a larger one if needed."""
    sizes = [
        *arrays.model_size_bytes.tolist(),
        *arrays.memory_bytes.tolist(),
        *arrays.worker_memory_bytes.tolist(),
    ]
    unit = math.gcd(*sizes) or 1
    intervals = 2 * (arrays.n_tasks + 1)
    energy = max(sizes) // unit * int(horizon) * intervals
    return unit if energy < _MOST_ENERGY else unit * -(-energy // _MOST_ENERGY)
