"""What makes an instance a valid question: every check, in one place.

`find_faults` looks at the whole instance and reports everything that is wrong with it.
It is about the question alone: whether a plan exists is for the solvers to say.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, get_args

from placement_lab.errors import Fault
from placement_lab.jsonfile import show_key, show_value
from placement_lab.problem.capacity import find_misfits, size_text
from placement_lab.problem.cycles import find_cycle
from placement_lab.problem.entities import Loading, Prefetch
from placement_lab.units import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from placement_lab.problem.entities import Job, Model, Task, Worker, Workflow
    from placement_lab.problem.instance import Instance

__all__ = ["find_faults", "in_document_order"]

_MOST_SLOTS = 1_000_000
_LARGEST = 1e16
"""Beyond this, sums of times and sizes stop being meaningful in double precision."""


def find_faults(instance: Instance) -> list[Fault]:
    """Return everything that is wrong with an instance, in document order.

    Parameters
    ----------
    instance : Instance
        May hold any values at all; nothing about it is taken for granted.

    Returns
    -------
    list of Fault
        Empty for a valid instance.
    """
    return _Validator(instance).run()


_STEP = re.compile(r"([^.\[\]]+)(?:\[(\d+)\])?")
_RANK = {
    name: rank
    for rank, name in enumerate(
        (
            *("format", "version", "name", "rules", "workers", "default_link"),
            *("links", "models", "workflows", "tasks", "edges", "jobs"),
        )
    )
}


class _Validator:
    """One pass over an instance; collects faults instead of stopping at the first."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.faults: list[Fault] = []
        self.workers: dict[str, Worker] = {}
        self.models: dict[str, Model] = {}
        self.workflows: dict[str, Workflow] = {}

    def run(self) -> list[Fault]:
        instance = self.instance
        self._text("name", instance.name, allow_empty=True)
        self._rules()
        self.workers = self._unique("workers", "worker", instance.workers)
        self.models = self._unique("models", "model", instance.models)
        self.workflows = self._unique("workflows", "workflow", instance.workflows)
        self._unique("jobs", "job", instance.jobs)
        for i, worker in enumerate(instance.workers):
            self._worker(f"workers[{i}]", worker)
        self._links()
        for i, model in enumerate(instance.models):
            self._model(f"models[{i}]", model)
        for i, workflow in enumerate(instance.workflows):
            self._workflow(f"workflows[{i}]", workflow)
        for i, job in enumerate(instance.jobs):
            self._job(f"jobs[{i}]", job)
        self._weights()
        if not self.faults:  # capacities mean nothing while numbers are wrong
            self.faults += find_misfits(self.instance)
        return in_document_order(self.faults)

    # Values: each returns whether it found the value good. The place of a fault is
    # path + key, put together only where there is one.

    def _fault(self, path: str, message: str) -> None:
        self.faults.append(Fault(path, message))

    def _text(self, path: str, value: Any, *, allow_empty: bool = False) -> bool:
        if not isinstance(value, str):
            self._fault(path, f"must be a string, got {show_value(value)}")
        elif not value and not allow_empty:
            self._fault(path, "must not be empty; give it a name")
        elif not value.isascii() and not _is_unicode(value):
            self._fault(path, f"must be valid Unicode, got {show_value(value)}")
        else:
            return True
        return False

    def _identifier(self, path: str, value: Any) -> bool:
        if not self._text(path, value):
            return False
        if "/" in value:
            self._fault(
                path, f"must not contain '/', got {value!r}; '/' separates job and task"
            )
            return False
        return True

    def _number(
        self,
        path: str,
        key: str,
        value: Any,
        *,
        positive: bool = False,
        optional: bool = False,
    ) -> bool:
        if value is None and optional:
            return True
        if type(value) is float and 0 <= value <= _LARGEST and (value or not positive):
            return True  # nearly always, so without asking what would be wrong
        fault = _number_fault(value, positive=positive, optional=optional)
        if fault:
            self._fault(f"{path}{key}", f"must be {fault}")
        return not fault

    def _bytes(self, path: str, key: str, value: Any) -> bool:
        if type(value) is int and 0 <= value <= MAX_BYTES:
            return True
        if type(value) is int and value > MAX_BYTES:
            wanted = "at most 2**53 bytes"
        elif self._number(path, key, value):
            wanted = "a whole number of bytes"
        else:
            return False
        self._fault(f"{path}{key}", f"must be {wanted}, got {show_value(value)}")
        return False

    def _per_kind(
        self, path: str, key: str, value: Any, *, optional: bool = False
    ) -> bool:
        if not isinstance(value, dict):
            return self._number(path, key, value, optional=optional)
        path = f"{path}{key}"
        good = [
            self._text(path, kind) and self._number(path, f".{show_key(kind)}", number)
            for kind, number in value.items()
        ]
        return all(good)

    def _choice(self, path: str, value: Any, choices: Sequence[str]) -> None:
        if value not in choices:
            wanted = " or ".join(repr(choice) for choice in choices)
            self._fault(path, f"must be {wanted}, got {show_value(value)}")

    def _list(self, path: str, value: Any) -> bool:
        if isinstance(value, tuple):
            return True
        self._fault(path, f"must be a list, got {show_value(value)}")
        return False

    # Entities.

    def _unique(self, path: str, noun: str, items: Any) -> dict[str, Any]:
        """Check the ids of a list; return its items by id, the first one of each."""
        by_id: dict[str, Any] = {}
        for i, item in enumerate(items):
            if not self._identifier(f"{path}[{i}].id", item.id):
                continue
            if item.id in by_id:
                self._fault(
                    f"{path}[{i}].id",
                    f"duplicate {noun} id {item.id!r}; ids must be unique",
                )
            by_id.setdefault(item.id, item)
        return by_id

    def _known(
        self, path: str, key: str, noun: str, name: Any, names: Collection[str]
    ) -> bool:
        if isinstance(name, str) and name in names:
            return True
        known = list(names)
        some = ", ".join(repr(one) for one in known[:5]) or "none"
        more = ", ..." if len(known) > 5 else ""
        self._fault(
            f"{path}{key}", f"unknown {noun} {show_value(name)}; there is {some}{more}"
        )
        return False

    def _rules(self) -> None:
        rules = self.instance.rules
        self._choice("rules.loading", rules.loading, get_args(Loading))
        self._choice("rules.prefetch", rules.prefetch, get_args(Prefetch))
        self._number(
            "rules",
            ".evict_bandwidth_bytes_per_s",
            rules.evict_bandwidth_bytes_per_s,
            positive=True,
            optional=True,
        )

    def _worker(self, path: str, worker: Worker) -> None:
        self._text(f"{path}.kind", worker.kind)
        memory_ok = self._bytes(path, ".memory_bytes", worker.memory_bytes)
        slots = worker.slots
        if type(slots) is not int or not 1 <= slots <= _MOST_SLOTS:
            message = f"must be a whole number, 1 to {_MOST_SLOTS}"
            self._fault(f"{path}.slots", f"{message}, got {show_value(slots)}")
        self._number(
            path,
            ".load_bandwidth_bytes_per_s",
            worker.load_bandwidth_bytes_per_s,
            positive=True,
            optional=True,
        )
        self._number(path, ".load_latency_s", worker.load_latency_s)
        if self._list(f"{path}.resident", worker.resident):
            self._resident(f"{path}.resident", worker, memory_ok=memory_ok)

    def _resident(self, path: str, worker: Worker, *, memory_ok: bool) -> None:
        seen: set[str] = set()
        total = 0
        for i, name in enumerate(worker.resident):
            if not self._known(path, f"[{i}]", "model", name, self.models):
                continue
            if name in seen:
                self._fault(f"{path}[{i}]", f"duplicate resident model {name!r}")
            seen.add(name)
            size = self.models[name].size_bytes
            total += size if type(size) is int and 0 <= size <= MAX_BYTES else 0
        if memory_ok and total > worker.memory_bytes:
            memory = size_text(worker.memory_bytes)
            self._fault(
                path,
                f"the models resident on worker {worker.id!r} need "
                f"{size_text(total)}, its memory is {memory}; leave one out",
            )

    def _links(self) -> None:
        default = self.instance.default_link
        if default is not None:
            self._speed("default_link", default)
        seen: set[frozenset[Any]] = set()
        for i, link in enumerate(self.instance.links):
            path = f"links[{i}]"
            self._speed(path, link)
            known_a = self._known(path, ".a", "worker", link.a, self.workers)
            known_b = self._known(path, ".b", "worker", link.b, self.workers)
            if not (known_a and known_b):
                continue
            if link.a == link.b:
                self._fault(path, f"links worker {link.a!r} to itself; remove it")
            elif frozenset((link.a, link.b)) in seen:
                self._fault(
                    path,
                    f"duplicate link of {link.a!r} and {link.b!r} (links are "
                    "symmetric); remove one",
                )
            seen.add(frozenset((link.a, link.b)))

    def _speed(self, path: str, link: Any) -> None:
        self._number(
            path, ".bandwidth_bytes_per_s", link.bandwidth_bytes_per_s, positive=True
        )
        self._number(path, ".latency_s", link.latency_s)

    def _model(self, path: str, model: Model) -> None:
        self._bytes(path, ".size_bytes", model.size_bytes)
        self._per_kind(path, ".load_s", model.load_s, optional=True)

    def _workflow(self, path: str, workflow: Workflow) -> None:
        if not workflow.tasks:
            message = f"workflow {workflow.id!r} has no tasks; add one or remove it"
            self._fault(f"{path}.tasks", message)
        by_id = self._unique(f"{path}.tasks", "task", workflow.tasks)
        for t, task in enumerate(workflow.tasks):
            self._task(f"{path}.tasks[{t}]", task)
        pairs: dict[tuple[str, str], None] = {}
        for e, edge in enumerate(workflow.edges):
            place = f"{path}.edges[{e}]"
            known_src = self._known(place, ".src", "task", edge.src, by_id)
            known_dst = self._known(place, ".dst", "task", edge.dst, by_id)
            self._number(place, ".bytes", edge.bytes)
            self._number(place, ".transfer_s", edge.transfer_s, optional=True)
            if not (known_src and known_dst):
                continue
            if (edge.src, edge.dst) in pairs:
                self._fault(
                    place,
                    f"duplicate edge {edge.src!r} -> {edge.dst!r}; give one edge with "
                    "the sum of the bytes",
                )
            pairs[edge.src, edge.dst] = None
        cycle = find_cycle(list(by_id), list(pairs))
        if cycle:
            shown = " -> ".join([*cycle, cycle[0]])
            self._fault(
                f"{path}.edges",
                f"workflow {workflow.id!r} has a cycle: {shown}; remove one of these "
                "edges",
            )

    def _task(self, path: str, task: Task) -> None:
        self._per_kind(path, ".runtime_s", task.runtime_s)
        if task.model is not None:
            self._known(path, ".model", "model", task.model, self.models)
        self._number(path, ".input_bytes", task.input_bytes)
        self._number(path, ".input_transfer_s", task.input_transfer_s, optional=True)
        self._number(path, ".release_s", task.release_s)
        self._bytes(path, ".memory_bytes", task.memory_bytes)

    def _job(self, path: str, job: Job) -> None:
        self._known(path, ".workflow", "workflow", job.workflow, self.workflows)
        if job.ingress is not None:
            self._known(path, ".ingress", "worker", job.ingress, self.workers)
        self._number(path, ".release_s", job.release_s)
        self._number(path, ".deadline_s", job.deadline_s, optional=True)
        self._number(path, ".weight", job.weight)

    def _weights(self) -> None:
        jobs = self.instance.jobs
        if jobs and all(job.weight == 0 for job in jobs):
            message = "all weights are 0, so no objective is defined; make one positive"
            self._fault("jobs", message)


def _number_fault(value: Any, *, positive: bool, optional: bool) -> str | None:
    """Return what a number should have been, or None for a good one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        kind = "a number or null" if optional else "a number"
        return f"{kind}, got {show_value(value)}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"finite, got {value!r}"
    if value < 0:
        return f"at least 0, got {show_value(value)}"
    if value > _LARGEST:
        return f"at most {_LARGEST:g}, got {show_value(value)}"
    if positive and value == 0:
        return f"positive, got {value!r}; leave it out if there is none"
    return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which no file can hold
        return False
    return True


def in_document_order(faults: Iterable[Fault]) -> list[Fault]:
    """Return faults in the order of the places they are about."""
    return sorted(faults, key=lambda fault: _place(fault.path))


def _place(path: str) -> tuple[int, ...]:
    """Return the position of a path's first two levels; the deeper ones stay put."""
    place = []
    for name, number in _STEP.findall(path)[:2]:
        rank = _RANK.get(name, len(_RANK))
        place += [rank, int(number) if number else -1]
    return tuple(place)
