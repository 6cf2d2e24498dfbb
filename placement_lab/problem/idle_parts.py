"""What is legal in an instance, but has no effect, and so was surely not meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from placement_lab.errors import Fault
from placement_lab.jsonfile import show_key

if TYPE_CHECKING:
    from placement_lab.problem.instance import Instance

__all__ = ["find_warnings"]


def find_warnings(instance: Instance) -> list[Fault]:
    """Return what is legal in a valid instance, but surely not meant."""
    warnings: list[Fault] = []
    kinds = {worker.kind for worker in instance.workers}
    used: set[str | None] = set()
    for w, workflow in enumerate(instance.workflows):
        fed = {edge.dst for edge in workflow.edges}
        for t, task in enumerate(workflow.tasks):
            path = f"workflows[{w}].tasks[{t}]"
            used.add(task.model)
            has_input = task.input_bytes or task.input_transfer_s is not None
            if task.id in fed and has_input:
                warnings.append(
                    Fault(
                        path,
                        f"input_* of task {task.id!r} has no effect, because the task "
                        "has predecessors; give the size on its edges instead",
                    )
                )
            warnings += _strange_kinds(f"{path}.runtime_s", task.runtime_s, kinds)
    for m, model in enumerate(instance.models):
        warnings += _strange_kinds(f"models[{m}].load_s", model.load_s, kinds)
        if model.id not in used:
            warnings.append(Fault(f"models[{m}]", f"no task uses model {model.id!r}"))
    return warnings


def _strange_kinds(path: str, value: Any, kinds: set[str]) -> list[Fault]:
    if not isinstance(value, dict):
        return []
    return [
        Fault(
            f"{path}.{show_key(kind)}",
            f"no worker is of kind {kind!r}; the value is unused",
        )
        for kind in value
        if kind not in kinds
    ]
