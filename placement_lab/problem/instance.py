"""`Instance`: the whole question, validated once, identified by its content."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from placement_lab.errors import ProblemError
from placement_lab.problem.arrays import InstanceArrays, build_arrays
from placement_lab.problem.entities import Rules
from placement_lab.problem.identity import content_sha256
from placement_lab.problem.idle_parts import find_warnings
from placement_lab.problem.validation import find_faults

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from placement_lab.errors import Fault
    from placement_lab.problem.entities import (
        Edge,
        Job,
        Link,
        LinkSpeed,
        Model,
        Task,
        Worker,
        Workflow,
    )

__all__ = ["Instance"]


@dataclass(frozen=True)
class Instance:
    """A cluster, its models, workflows and jobs, and the rules of their world.

    Attributes
    ----------
    workers : tuple of Worker
    models : tuple of Model
    workflows : tuple of Workflow
    jobs : tuple of Job
    rules : Rules
    links : tuple of Link
        Override the default link for a pair of workers.
    default_link : LinkSpeed or None
        None: workers without a link of their own cannot exchange data.
    name : str
        A label; not part of the identity.

    Raises
    ------
    ProblemError
        Listing everything that is wrong, each with its place.
    """

    workers: tuple[Worker, ...]
    models: tuple[Model, ...] = ()
    workflows: tuple[Workflow, ...] = ()
    jobs: tuple[Job, ...] = ()
    rules: Rules = field(default_factory=Rules)
    links: tuple[Link, ...] = ()
    default_link: LinkSpeed | None = None
    name: str = ""

    def __post_init__(self) -> None:
        for many in ("workers", "models", "workflows", "jobs", "links"):
            object.__setattr__(self, many, tuple(getattr(self, many)))
        faults = find_faults(self)
        if faults:
            raise ProblemError(faults)

    @classmethod
    def from_json(cls, path: str | PathLike[str]) -> Instance:
        """Read an instance from a JSON file.

        Raises
        ------
        ProblemError
            If the file cannot be read or holds no valid instance; lists every fault.
        """
        from placement_lab.problem.reader import read_instance

        return read_instance(path)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Instance:
        """Build an instance from a decoded JSON document.

        Raises
        ------
        ProblemError
            Listing every fault.
        """
        from placement_lab.problem.reader import instance_from_dict

        return instance_from_dict(document)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of this instance; defaults are left out."""
        from placement_lab.problem.writer import instance_to_dict

        return instance_to_dict(self)

    def to_json(self, path: str | PathLike[str]) -> None:
        """Write this instance to a JSON file, whole or not at all."""
        from placement_lab.files import write_json

        write_json(path, self.to_dict())

    @cached_property
    def sha256(self) -> str:
        """Identity of the content, independent of key order and of the name."""
        return content_sha256(self)

    @cached_property
    def arrays(self) -> InstanceArrays:
        """The same content as dense arrays, for hot code; built once."""
        return build_arrays(self)

    @cached_property
    def warnings(self) -> tuple[Fault, ...]:
        """What is legal here, but has no effect."""
        return tuple(find_warnings(self))

    @cached_property
    def _worker_by_id(self) -> dict[str, Worker]:
        return {worker.id: worker for worker in self.workers}

    @cached_property
    def _model_by_id(self) -> dict[str, Model]:
        return {model.id: model for model in self.models}

    @cached_property
    def _workflow_by_id(self) -> dict[str, Workflow]:
        return {workflow.id: workflow for workflow in self.workflows}

    @cached_property
    def _speed_by_pair(self) -> dict[tuple[str, str], Link]:
        both = {(link.a, link.b): link for link in self.links}
        return both | {(link.b, link.a): link for link in self.links}

    def worker(self, worker_id: str) -> Worker:
        """Return the worker of that id (KeyError if there is none)."""
        return self._worker_by_id[worker_id]

    def model(self, model_id: str) -> Model:
        """Return the model of that id (KeyError if there is none)."""
        return self._model_by_id[model_id]

    def workflow(self, workflow_id: str) -> Workflow:
        """Return the workflow of that id (KeyError if there is none)."""
        return self._workflow_by_id[workflow_id]

    @property
    def n_tasks(self) -> int:
        """Number of tasks of all jobs together."""
        sizes = {flow.id: len(flow.tasks) for flow in self.workflows}
        return sum(sizes[job.workflow] for job in self.jobs)

    # The readable meaning of the rules' quantities; `arrays` holds the same numbers.

    def runtime_s(self, task: Task, worker: Worker) -> float | None:
        """Return how long a task runs on a worker, or None if it cannot (rule R1)."""
        size = self.model(task.model).size_bytes if task.model is not None else 0
        if size + task.memory_bytes > worker.memory_bytes:
            return None
        if isinstance(task.runtime_s, dict):
            return task.runtime_s.get(worker.kind)
        return task.runtime_s  # type: ignore[return-value]

    def load_s(self, model: Model, worker: Worker) -> float | None:
        """Return how long a model's load takes, or None if it cannot be (rule R3)."""
        own = model.load_s
        if isinstance(own, dict):
            own = own.get(worker.kind)
        if own is not None:
            return own  # type: ignore[return-value]
        bandwidth = worker.load_bandwidth_bytes_per_s
        if bandwidth is None:
            return None
        return worker.load_latency_s + model.size_bytes / bandwidth

    def evict_s(self, model: Model) -> float:
        """Return how long an eviction takes (rule R4)."""
        bandwidth = self.rules.evict_bandwidth_bytes_per_s
        return 0.0 if bandwidth is None else model.size_bytes / bandwidth

    def transfer_s(self, edge: Edge, src: Worker, dst: Worker) -> float | None:
        """Return an edge's transfer time, or None without a link (rule R5)."""
        return self._move_s(edge.bytes, edge.transfer_s, src, dst)

    def input_transfer_s(self, task: Task, job: Job, worker: Worker) -> float | None:
        """Return the transfer time of an entry task's input (rule R5)."""
        if job.ingress is None:
            return 0.0
        ingress = self.worker(job.ingress)
        return self._move_s(task.input_bytes, task.input_transfer_s, ingress, worker)

    def _move_s(
        self, size_bytes: float, own_s: float | None, src: Worker, dst: Worker
    ) -> float | None:
        if src.id == dst.id:
            return 0.0
        if own_s is not None:
            return own_s
        speed = self._speed_by_pair.get((src.id, dst.id), self.default_link)
        if speed is None:
            return None
        return speed.latency_s + size_bytes / speed.bandwidth_bytes_per_s
