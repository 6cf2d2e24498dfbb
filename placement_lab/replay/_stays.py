"""What the order of a plan decides by itself: which copy of a model serves which run.

A *stay* is one copy's time in a worker's memory: from its load, or from time 0 for an
initial resident, to its eviction, if any. Following the stays through a sequence shows
whether every model is there when the order needs it, and whether it all fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from placement_lab.errors import InfeasiblePlanError
from placement_lab.replay._sequences import Sequences

if TYPE_CHECKING:
    from placement_lab.problem import InstanceArrays

__all__ = ["Stays", "follow_stays"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Stays:
    """Stays and what they mean for each action.

    The stay opened by a load has the load's action number; initial residents follow.

    Attributes
    ----------
    stay : ndarray of shape (A,)
        The stay that a run uses (-1: no model), a load opens, an eviction ends.
    uses : ndarray of shape (A + initial residents,)
        Runs served by each stay.
    static_bytes : ndarray of shape (A,)
        Sizes of all models that the sequence has in memory after each action.
    earliest_s : ndarray of shape (A,)
        Earliest start of a load by rule R6, as far as releases decide it.
    gate : ndarray of shape (A,)
        Under ``on_demand``: the task whose inputs must have arrived first; else -1.
    """

    stay: Ints
    uses: Ints
    static_bytes: Ints
    earliest_s: Floats
    gate: Ints


def follow_stays(arrays: InstanceArrays, sequences: Sequences) -> Stays:
    """Follow every model through the sequences.

    Raises
    ------
    InfeasiblePlanError
        If a model is not resident where the order needs it, already resident where it
        is loaded, does not fit, or is loaded for nobody where rule R6 forbids that.
    """
    follower = _Follower(arrays, sequences)
    for worker in range(arrays.n_workers):
        follower.follow(worker)
    return follower.stays()


class _Follower:
    def __init__(self, arrays: InstanceArrays, sequences: Sequences) -> None:
        n = len(sequences.kind)
        self.arrays, self.sequences = arrays, sequences
        self.sizes = arrays.model_size_bytes.tolist()
        self.models = arrays.model.tolist()
        self.own_bytes = arrays.memory_bytes.tolist()
        self.kinds, self.targets = sequences.kind.tolist(), sequences.target.tolist()
        self.stay = [-1] * n
        self.uses = [0] * n
        self.static_bytes = [0] * n
        self.first_run = [-1] * n
        self.release_s = [np.inf] * n
        self.job_release_s = arrays.job_release_s[arrays.job].tolist()

    def follow(self, worker: int) -> None:
        arrays = self.arrays
        first, last = self.sequences.worker_ptr[worker : worker + 2].tolist()
        self.capacity = int(arrays.worker_memory_bytes[worker])
        self.here: dict[int, int] = {}
        self.used = 0
        a, b = arrays.resident_ptr[worker : worker + 2].tolist()
        for model in arrays.resident_model[a:b].tolist():
            self.here[model] = len(self.uses)
            self.uses.append(0)
            self.used += self.sizes[model]
        steps = {
            Sequences.RUN: self._run,
            Sequences.LOAD: self._load,
            Sequences.EVICT: self._evict,
        }
        for action in range(first, last):
            steps[self.kinds[action]](action, self.targets[action])
            self.static_bytes[action] = self.used

    def _run(self, action: int, task: int) -> None:
        model = self.models[task]
        own = self.own_bytes[task]
        if self.used + own > self.capacity:
            over = self.used + own - self.capacity
            self._fail(action, f"no room: {over} bytes too many; evict a model first")
        if model < 0:
            return
        stay = self.here.get(model, -1)
        if stay < 0:
            name = self.arrays.model_ids[model]
            self._fail(
                action, f"its model {name!r} is not resident here; load it first"
            )
        self.stay[action] = stay
        self.uses[stay] += 1
        if stay < len(self.kinds):
            if self.first_run[stay] < 0:
                self.first_run[stay] = action
            release = self.job_release_s[task]
            self.release_s[stay] = min(self.release_s[stay], release)

    def _load(self, action: int, model: int) -> None:
        if model in self.here:
            self._fail(action, "the model is already resident here; load it once")
        if self.used + self.sizes[model] > self.capacity:
            over = self.used + self.sizes[model] - self.capacity
            self._fail(action, f"no room: {over} bytes too many; evict a model first")
        if np.isinf(self.arrays.load_s[model, self.sequences.worker[action]]):
            self._fail(action, "no load time is known here; give the model a load_s")
        self.here[model] = action
        self.stay[action] = action
        self.used += self.sizes[model]

    def _evict(self, action: int, model: int) -> None:
        if model not in self.here:
            self._fail(action, "the model is not resident here; remove the eviction")
        self.stay[action] = self.here.pop(model)
        self.used -= self.sizes[model]

    def _fail(self, action: int, reason: str) -> None:
        place = self.sequences.place(self.arrays, action)
        raise InfeasiblePlanError(f"{place}: {reason}")

    def stays(self) -> Stays:
        kind = self.sequences.kind
        loads = np.flatnonzero(kind == Sequences.LOAD)
        first_run = np.array(self.first_run, np.int64)
        earliest_s = np.zeros(len(kind))
        gate = np.full(len(kind), -1, np.int64)
        if self.arrays.prefetch != "clairvoyant":
            self._refuse_unused(loads, first_run)
        if self.arrays.prefetch == "after_release":
            earliest_s[loads] = np.array(self.release_s)[loads]
        elif self.arrays.prefetch == "on_demand":
            gate[loads] = self.sequences.target[first_run[loads]]
            self._gate_evictions(gate)
            if not self.arrays.overlap:
                self._refuse_runs_between(loads, first_run)
        return Stays(
            stay=np.array(self.stay, np.int64),
            uses=np.array(self.uses, np.int64),
            static_bytes=np.array(self.static_bytes, np.int64),
            earliest_s=earliest_s,
            gate=gate,
        )

    def _refuse_unused(self, loads: Ints, first_run: Ints) -> None:
        unused = loads[first_run[loads] < 0]
        if unused.size:
            rule = self.arrays.prefetch
            self._fail(
                int(unused[0]),
                f"no run uses this load, which prefetch {rule!r} forbids; remove it",
            )

    def _gate_evictions(self, gate: Ints) -> None:
        """Let each eviction wait for the inputs of what it makes room for.

        That is the next load of its worker's sequence or, if that comes first, the next
        run with memory of its own.
        """
        for worker in range(self.arrays.n_workers):
            first, last = self.sequences.worker_ptr[worker : worker + 2].tolist()
            following = -1
            for action in range(last - 1, first - 1, -1):
                task = self.targets[action]
                if self.kinds[action] == Sequences.LOAD:
                    following = int(gate[action])
                elif self.kinds[action] == Sequences.EVICT:
                    gate[action] = following
                elif self.own_bytes[task] > 0:
                    following = task

    def _refuse_runs_between(self, loads: Ints, first_run: Ints) -> None:
        """Refuse what rule R6 forbids; runs without length take no place between."""
        arrays, sequences = self.arrays, self.sequences
        takes_time = sequences.kind == Sequences.RUN
        runs = np.flatnonzero(takes_time)
        rows = arrays.row[sequences.target[runs]]
        takes_time[runs] = arrays.row_runtime_s[rows, sequences.worker[runs]] > 0
        runs_before = np.concatenate([[0], np.cumsum(takes_time)])
        between = runs_before[first_run[loads]] - runs_before[loads]
        wrong = loads[between > 0]
        if wrong.size:
            self._fail(
                int(wrong[0]),
                "another run stands between this load and its own, which blocking "
                "loading with prefetch 'on_demand' forbids; move the load",
            )
