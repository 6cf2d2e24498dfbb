"""Build an instance step by step, naming things by their ids."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from placement_lab.problem.entities import (
    Edge,
    Job,
    Link,
    LinkSpeed,
    Model,
    Rules,
    Task,
    Worker,
    Workflow,
)
from placement_lab.problem.instance import Instance

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["InstanceBuilder"]


class InstanceBuilder:
    """Collects entities, then builds and validates the `Instance`.

    Parameters
    ----------
    name : str
    **rules
        Fields of `Rules`, such as ``loading="blocking"``.

    Examples
    --------
    >>> build = InstanceBuilder("demo")
    >>> build.worker("w0", memory_bytes=16e9, load_bandwidth_bytes_per_s=1e10)
    >>> build.model("opt", size_bytes=6e9)
    >>> qa = build.workflow("qa").task("ask", runtime_s=0.5, model="opt")
    >>> build.job("j0", "qa")
    >>> build.build().n_tasks
    1
    """

    def __init__(self, name: str = "", **rules: Any) -> None:
        self._name = name
        self._rules = Rules(**rules)
        self._workers: list[Worker] = []
        self._models: list[Model] = []
        self._workflows: list[WorkflowBuilder] = []
        self._jobs: list[Job] = []
        self._links: list[Link] = []
        self._default_link: LinkSpeed | None = None

    def worker(self, worker_id: str, memory_bytes: float, **fields: Any) -> None:
        """Add a `Worker`."""
        self._workers.append(Worker(worker_id, memory_bytes, **fields))  # type: ignore[arg-type]

    def model(self, model_id: str, size_bytes: float, **fields: Any) -> None:
        """Add a `Model`."""
        self._models.append(Model(model_id, size_bytes, **fields))  # type: ignore[arg-type]

    def workflow(self, workflow_id: str) -> WorkflowBuilder:
        """Add an empty `Workflow`; its tasks and edges go into what is returned."""
        self._workflows.append(WorkflowBuilder(workflow_id))
        return self._workflows[-1]

    def job(self, job_id: str, workflow_id: str, **fields: Any) -> None:
        """Add a `Job`."""
        self._jobs.append(Job(job_id, workflow_id, **fields))

    def link(self, a: str, b: str, bandwidth_bytes_per_s: float, **fields: Any) -> None:
        """Add a `Link` between two workers."""
        self._links.append(Link(a, b, bandwidth_bytes_per_s, **fields))

    def default_link(self, bandwidth_bytes_per_s: float, latency_s: float = 0) -> None:
        """Set the link that holds for every pair without one of its own."""
        self._default_link = LinkSpeed(bandwidth_bytes_per_s, latency_s)

    def build(self) -> Instance:
        """Return the validated instance.

        Raises
        ------
        ProblemError
            Listing every fault.
        """
        return Instance(
            workers=tuple(self._workers),
            models=tuple(self._models),
            workflows=tuple(flow.build() for flow in self._workflows),
            jobs=tuple(self._jobs),
            rules=self._rules,
            links=tuple(self._links),
            default_link=self._default_link,
            name=self._name,
        )


class WorkflowBuilder:
    """Collects the tasks and edges of one workflow; every method returns itself."""

    def __init__(self, workflow_id: str) -> None:
        self._id = workflow_id
        self._tasks: list[Task] = []
        self._edges: list[Edge] = []

    def task(
        self, task_id: str, runtime_s: float | Mapping[str, float], **fields: Any
    ) -> WorkflowBuilder:
        """Add a `Task`."""
        self._tasks.append(Task(task_id, runtime_s, **fields))
        return self

    def edge(self, src: str, dst: str, **fields: Any) -> WorkflowBuilder:
        """Add an `Edge`."""
        self._edges.append(Edge(src, dst, **fields))
        return self

    def chain(self, *task_ids: str, **fields: Any) -> WorkflowBuilder:
        """Add an `Edge` from each named task to the next."""
        for src, dst in pairwise(task_ids):
            self.edge(src, dst, **fields)
        return self

    def build(self) -> Workflow:
        """Return the workflow as collected so far."""
        return Workflow(self._id, tuple(self._tasks), tuple(self._edges))
