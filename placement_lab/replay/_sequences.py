"""Read a plan against its instance: names become numbers, nothing may be missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from placement_lab.errors import InfeasiblePlanError, PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from placement_lab.plan import Plan
    from placement_lab.problem import Instance, InstanceArrays

__all__ = ["Sequences", "read_plan"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sequences:
    """The actions of all workers, worker after worker, each in its own order.

    Attributes
    ----------
    kind : ndarray of shape (A,)
        `RUN`, `LOAD` or `EVICT`.
    target : ndarray of shape (A,)
        Task number of a run, model number of a load or eviction.
    worker : ndarray of shape (A,)
    worker_ptr : ndarray of shape (W + 1,)
    action_of_task : ndarray of shape (N,)
        Where each task runs.
    """

    RUN: ClassVar[int] = 0
    LOAD: ClassVar[int] = 1
    EVICT: ClassVar[int] = 2

    kind: Ints
    target: Ints
    worker: Ints
    worker_ptr: Ints
    action_of_task: Ints

    def label(self, arrays: InstanceArrays, action: int) -> str:
        """Return an action's name for messages, such as ``load opt``."""
        target = int(self.target[action])
        if self.kind[action] == self.RUN:
            return f"run {arrays.task_names[target]}"
        verb = "load" if self.kind[action] == self.LOAD else "evict"
        return f"{verb} {arrays.model_ids[target]}"

    def place(self, arrays: InstanceArrays, action: int) -> str:
        """Return worker, position and name of an action for messages."""
        worker = int(self.worker[action])
        position = action - int(self.worker_ptr[worker])
        name = self.label(arrays, action)
        return f"worker {arrays.worker_ids[worker]!r}, action {position} ({name})"


def read_plan(instance: Instance, plan: Plan) -> Sequences:
    """Return a plan in numbers.

    Raises
    ------
    PlanError
        If it was made for another instance or names what does not exist.
    InfeasiblePlanError
        If a task is missing or stands twice.
    """
    if plan.instance_sha256 not in (None, instance.sha256):
        raise PlanError(
            f"the plan was made for instance {plan.instance_sha256[:12]}..., this is "
            f"{instance.sha256[:12]}...; use the instance it was made for, or remove "
            "'instance' from the plan"
        )
    arrays = instance.arrays
    for name in plan.workers:
        if name not in arrays.worker_index:
            known = ", ".join(arrays.worker_ids[:5])
            raise PlanError(
                f"workers.{name}: unknown worker {name!r}; there is {known}"
            )
    kind: list[int] = []
    target: list[int] = []
    lengths = []
    for worker in arrays.worker_ids:
        actions = plan.workers.get(worker, ())
        lengths.append(len(actions))
        for i, (verb, name) in enumerate(actions):
            number = _NUMBER_OF[verb]
            index = arrays.task_index if verb == "run" else arrays.model_index
            if name not in index:
                raise _unknown(worker, i, verb, name, index)
            kind.append(number)
            target.append(index[name])
    worker_ptr = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=worker_ptr[1:])
    sequences = Sequences(
        kind=np.array(kind, np.int64),
        target=np.array(target, np.int64),
        worker=np.repeat(np.arange(len(lengths)), lengths),
        worker_ptr=worker_ptr,
        action_of_task=np.full(arrays.n_tasks, -1, np.int64),
    )
    _place_tasks(arrays, sequences)
    return sequences


_NUMBER_OF = {"run": Sequences.RUN, "load": Sequences.LOAD, "evict": Sequences.EVICT}


def _unknown(
    worker: str, position: int, verb: str, name: str, index: Mapping[str, int]
) -> PlanError:
    noun = "task" if verb == "run" else "model"
    some = ", ".join(list(index)[:3]) or "none"
    return PlanError(
        f"workers.{worker}[{position}]: unknown {noun} {name!r}; there is {some}"
        f"{', ...' if len(index) > 3 else ''}"
    )


def _place_tasks(arrays: InstanceArrays, sequences: Sequences) -> None:
    runs = np.flatnonzero(sequences.kind == Sequences.RUN)
    tasks = sequences.target[runs]
    counts = np.bincount(tasks, minlength=arrays.n_tasks)
    if counts.size and counts.max(initial=0) > 1:
        task = int(np.argmax(counts > 1))
        second = int(runs[tasks == task][1])
        raise InfeasiblePlanError(
            f"{sequences.place(arrays, second)}: the task stands in the plan twice; "
            "every task runs exactly once"
        )
    missing = np.flatnonzero(counts == 0)
    if missing.size:
        first = arrays.task_names[int(missing[0])]
        raise InfeasiblePlanError(
            f"task {first!r} is missing from the plan ({missing.size} of "
            f"{arrays.n_tasks} are); give it a worker"
        )
    sequences.action_of_task[tasks] = runs
    workers = sequences.worker[runs]
    cannot = np.flatnonzero(np.isinf(arrays.row_runtime_s[arrays.row[tasks], workers]))
    if cannot.size:
        place = sequences.place(arrays, int(runs[cannot[0]]))
        raise InfeasiblePlanError(
            f"{place}: the worker cannot run this task (no runtime for its kind, or "
            "too little memory); place it elsewhere"
        )
