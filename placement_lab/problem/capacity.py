"""What fits where: models and tasks against the workers' memories, kinds and loads.

Asked only of an instance whose names and numbers are all good.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from placement_lab.errors import Fault
from placement_lab.units import format_bytes

if TYPE_CHECKING:
    from placement_lab.problem.entities import Model, Task, Worker
    from placement_lab.problem.instance import Instance

__all__ = ["find_misfits", "size_text"]


def find_misfits(instance: Instance) -> list[Fault]:
    """Return models and tasks that no worker can hold, run or load.

    A model is only asked for where a task that uses it could run.
    """
    fit = _Fit(instance)
    faults, misfits = fit.models_without_room()
    used_on: dict[str, set[int]] = {model.id: set() for model in instance.models}
    for w, workflow in enumerate(instance.workflows):
        for t, task in enumerate(workflow.tasks):
            if task.model in misfits:
                continue
            group = fit.group(task)
            if not fit.hosts[group]:
                faults.append(fit.without_worker(f"workflows[{w}].tasks[{t}]", task))
            if task.model is not None:
                used_on[task.model].add(group)
    return faults + fit.models_without_load(used_on)


def size_text(size_bytes: int) -> str:
    """Return a size in bytes and for people."""
    return f"{size_bytes} bytes ({format_bytes(size_bytes)})"


class _Fit:
    """Who can run what; tasks alike in need and kinds share a group of hosts."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.size_bytes = {model.id: model.size_bytes for model in instance.models}
        self.largest = max(
            instance.workers, key=lambda worker: worker.memory_bytes, default=None
        )
        self.hosts: list[list[Worker]] = []
        self._group_of: dict[Any, int] = {}

    def group(self, task: Task) -> int:
        """Return the number of a task's group; its workers are ``hosts[number]``."""
        runtime = task.runtime_s
        kinds = frozenset(runtime) if isinstance(runtime, dict) else None
        key = (self._need_bytes(task), kinds)
        if key not in self._group_of:
            self._group_of[key] = len(self.hosts)
            able = self._able(task)
            self.hosts.append([one for one in able if key[0] <= one.memory_bytes])
        return self._group_of[key]

    def _need_bytes(self, task: Task) -> int:
        return self.size_bytes.get(task.model or "", 0) + task.memory_bytes

    def _able(self, task: Task) -> list[Worker]:
        """Return the workers for whose kind a task has a runtime."""
        runtime, workers = task.runtime_s, self.instance.workers
        if not isinstance(runtime, dict):
            return list(workers)
        return [worker for worker in workers if worker.kind in runtime]

    def models_without_room(self) -> tuple[list[Fault], set[str]]:
        """Return faults for models that are used but fit nowhere, and their ids."""
        flows = self.instance.workflows
        used = {task.model for flow in flows for task in flow.tasks}
        faults: list[Fault] = []
        misfits: set[str] = set()
        largest = self.largest
        if largest is None:
            return faults, misfits
        for m, model in enumerate(self.instance.models):
            if model.id in used and model.size_bytes > largest.memory_bytes:
                misfits.add(model.id)
                message = (
                    f"model {model.id!r} needs {size_text(model.size_bytes)}, the "
                    f"largest worker {largest.id!r} has "
                    f"{size_text(largest.memory_bytes)}; add a larger worker or use a "
                    "smaller model"
                )
                faults.append(Fault(f"models[{m}].size_bytes", message))
        return faults, misfits

    def models_without_load(self, used_on: dict[str, set[int]]) -> list[Fault]:
        """Return faults for models that some host of theirs cannot load."""
        faults = []
        for m, model in enumerate(self.instance.models):
            hosts = {host.id for g in used_on[model.id] for host in self.hosts[g]}
            for worker in self.instance.workers:
                if worker.id in hosts and not _can_load(model, worker):
                    message = (
                        f"model {model.id!r} has no load time on worker "
                        f"{worker.id!r}; give load_s for its kind, or the worker's "
                        "load_bandwidth_bytes_per_s"
                    )
                    faults.append(Fault(f"models[{m}].load_s", message))
                    break
        return faults

    def without_worker(self, path: str, task: Task) -> Fault:
        """Say why no worker can run a task."""
        if self.largest is None:
            return Fault(path, f"task {task.id!r} has no worker; add a worker")
        able = self._able(task)
        if not able:
            kinds = sorted({worker.kind for worker in self.instance.workers})
            return Fault(
                f"{path}.runtime_s",
                f"task {task.id!r} has a runtime for none of the workers' kinds "
                f"{kinds}; add one of them",
            )
        best = max(able, key=lambda worker: worker.memory_bytes)
        need_bytes = self._need_bytes(task)
        return Fault(
            path,
            f"task {task.id!r} needs {size_text(need_bytes)} (model "
            f"{size_text(need_bytes - task.memory_bytes)} + own "
            f"{size_text(task.memory_bytes)}), the largest worker that can run it, "
            f"{best.id!r}, has {size_text(best.memory_bytes)}; add a larger worker or "
            "use a smaller model",
        )


def _can_load(model: Model, worker: Worker) -> bool:
    load = model.load_s
    if isinstance(load, dict):
        load = load.get(worker.kind)
    return load is not None or worker.load_bandwidth_bytes_per_s is not None
