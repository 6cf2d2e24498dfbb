"""`InstanceArrays`: an instance as dense numpy arrays and CSR graphs, for hot code.

Workers, models, jobs and tasks are numbered in declared order. The tasks of job ``j``
are ``job_ptr[j] .. job_ptr[j + 1] - 1``. What is the same for every job of a workflow
(runtimes, sizes, edges' data) is stored once per *row*, that is per task of a workflow,
and ``row[i]`` leads from a task to it, so that a million jobs need no million copies.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from placement_lab.problem.entities import Workflow
    from placement_lab.problem.instance import Instance

__all__ = ["InstanceArrays", "build_arrays"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class InstanceArrays:
    """An instance in numbers; times in seconds, sizes in bytes.

    W workers, M models, J jobs, N tasks, R rows (tasks of all workflows), E edges of
    all jobs, T edges of all workflows ("templates").

    Attributes
    ----------
    worker_ids, model_ids, job_ids : tuple of str
    worker_memory_bytes, worker_slots : ndarray of shape (W,)
    resident_ptr, resident_model : CSR over workers
        Initially resident models, least recently used first.
    model_size_bytes : ndarray of shape (M,)
    load_s : ndarray of shape (M, W)
        inf where the model does not fit or has no load time.
    evict_s : ndarray of shape (M,)
        Zero unless evictions are timed.
    link_latency_s, link_bandwidth_bytes_per_s : ndarray of shape (W, W)
        Latency inf where there is no link, 0 on the diagonal.
    row_runtime_s : ndarray of shape (R, W)
        inf where the worker cannot run the task.
    row_input_bytes, row_input_transfer_s : ndarray of shape (R,)
        The latter nan without an own transfer time.
    edge_bytes, edge_transfer_s : ndarray of shape (T,)
        Likewise.
    row, job, model, memory_bytes, release_s : ndarray of shape (N,)
        ``model`` is -1 without one; ``release_s`` is absolute (job's + task's own).
    job_ptr : ndarray of shape (J + 1,)
    job_release_s, job_deadline_s, job_weight, job_ingress : ndarray of shape (J,)
        Deadline inf without one, ingress -1 without one.
    pred_ptr, pred_task, pred_edge : CSR over tasks
        Predecessors of each task and the template edge that leads from them.
    succ_ptr, succ_task, succ_edge : CSR over tasks
    topological : ndarray of shape (N,)
        All tasks, each after its predecessors; job by job, declared order first.
    overlap : bool
        ``loading: overlap``.
    """

    worker_ids: tuple[str, ...]
    model_ids: tuple[str, ...]
    job_ids: tuple[str, ...]
    row_ids: tuple[str, ...]
    worker_memory_bytes: Ints
    worker_slots: Ints
    resident_ptr: Ints
    resident_model: Ints
    model_size_bytes: Ints
    load_s: Floats
    evict_s: Floats
    link_latency_s: Floats
    link_bandwidth_bytes_per_s: Floats
    row_runtime_s: Floats
    row_input_bytes: Floats
    row_input_transfer_s: Floats
    edge_bytes: Floats
    edge_transfer_s: Floats
    row: Ints
    job: Ints
    model: Ints
    memory_bytes: Ints
    release_s: Floats
    job_ptr: Ints
    job_release_s: Floats
    job_deadline_s: Floats
    job_weight: Floats
    job_ingress: Ints
    pred_ptr: Ints
    pred_task: Ints
    pred_edge: Ints
    succ_ptr: Ints
    succ_task: Ints
    succ_edge: Ints
    topological: Ints
    overlap: bool
    prefetch: str

    @property
    def n_workers(self) -> int:
        """Number of workers, W."""
        return len(self.worker_ids)

    @property
    def n_models(self) -> int:
        """Number of models, M."""
        return len(self.model_ids)

    @property
    def n_jobs(self) -> int:
        """Number of jobs, J."""
        return len(self.job_ids)

    @property
    def n_tasks(self) -> int:
        """Number of tasks of all jobs, N."""
        return len(self.row)

    @cached_property
    def task_names(self) -> tuple[str, ...]:
        """Full names ``job/task`` of all tasks."""
        jobs, rows = self.job_ids, self.row_ids
        pairs = zip(self.job.tolist(), self.row.tolist(), strict=True)
        return tuple([f"{jobs[j]}/{rows[r]}" for j, r in pairs])

    @cached_property
    def task_index(self) -> dict[str, int]:
        """Task number by full name."""
        return {name: i for i, name in enumerate(self.task_names)}

    @cached_property
    def worker_index(self) -> dict[str, int]:
        """Worker number by id."""
        return {name: w for w, name in enumerate(self.worker_ids)}

    @cached_property
    def model_index(self) -> dict[str, int]:
        """Model number by id."""
        return {name: m for m, name in enumerate(self.model_ids)}

    @cached_property
    def runtime_s(self) -> Floats:
        """Runtimes of shape (N, W); built when first asked for, large for large N."""
        return np.ascontiguousarray(self.row_runtime_s[self.row])

    def transfer_s(self, edge: int, src: int, dst: int) -> float:
        """Return the transfer time of a template edge; inf without a link (R5)."""
        if src == dst:
            return 0.0
        own = float(self.edge_transfer_s[edge])
        if not np.isnan(own):
            return own
        speed = float(self.link_bandwidth_bytes_per_s[src, dst])
        return (
            float(self.link_latency_s[src, dst]) + float(self.edge_bytes[edge]) / speed
        )

    def input_transfer_s(self, task: int, worker: int) -> float:
        """Return the transfer time of an entry task's input; inf without a link."""
        ingress = int(self.job_ingress[self.job[task]])
        if ingress in (-1, worker):
            return 0.0
        row = self.row[task]
        own = float(self.row_input_transfer_s[row])
        if not np.isnan(own):
            return own
        speed = float(self.link_bandwidth_bytes_per_s[ingress, worker])
        size = float(self.row_input_bytes[row])
        return float(self.link_latency_s[ingress, worker]) + size / speed


def build_arrays(instance: Instance) -> InstanceArrays:
    """Return a valid instance's content as arrays."""
    templates = _Templates(instance)
    return InstanceArrays(
        worker_ids=tuple(worker.id for worker in instance.workers),
        model_ids=tuple(model.id for model in instance.models),
        job_ids=tuple(job.id for job in instance.jobs),
        overlap=instance.rules.loading == "overlap",
        prefetch=instance.rules.prefetch,
        **_cluster(instance),
        **templates.rows(),
        **_jobs(instance, templates),
    )


def _cluster(instance: Instance) -> dict[str, Any]:
    workers, models = instance.workers, instance.models
    model_index = {model.id: m for m, model in enumerate(models)}
    load_s = np.full((len(models), len(workers)), np.inf)
    for m, model in enumerate(models):
        for w, worker in enumerate(workers):
            own = instance.load_s(model, worker)
            if own is not None and model.size_bytes <= worker.memory_bytes:
                load_s[m, w] = own
    residents = [[model_index[name] for name in one.resident] for one in workers]
    return {
        "worker_memory_bytes": _ints(worker.memory_bytes for worker in workers),
        "worker_slots": _ints(worker.slots for worker in workers),
        "resident_ptr": _ptr([len(one) for one in residents]),
        "resident_model": _ints(m for one in residents for m in one),
        "model_size_bytes": _ints(model.size_bytes for model in models),
        "load_s": load_s,
        "evict_s": _floats(instance.evict_s(model) for model in models),
        **_links(instance),
    }


def _links(instance: Instance) -> dict[str, Floats]:
    index = {worker.id: w for w, worker in enumerate(instance.workers)}
    shape = (len(index), len(index))
    latency, bandwidth = np.full(shape, np.inf), np.ones(shape)
    if instance.default_link is not None:
        latency[:] = instance.default_link.latency_s
        bandwidth[:] = instance.default_link.bandwidth_bytes_per_s
    for link in instance.links:
        a, b = index[link.a], index[link.b]
        latency[a, b] = latency[b, a] = link.latency_s
        bandwidth[a, b] = bandwidth[b, a] = link.bandwidth_bytes_per_s
    np.fill_diagonal(latency, 0.0)
    np.fill_diagonal(bandwidth, np.inf)
    return {"link_latency_s": latency, "link_bandwidth_bytes_per_s": bandwidth}


class _Templates:
    """The workflows as rows and CSR graphs over rows, before jobs multiply them."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        flows = instance.workflows
        self.row_ptr = _ptr([len(flow.tasks) for flow in flows])
        edge_ptr = _ptr([len(flow.edges) for flow in flows])
        self.pred_count = np.zeros(self.row_ptr[-1], np.int64)
        self.succ_count = np.zeros(self.row_ptr[-1], np.int64)
        graphs = [
            self._graph(flow, int(self.row_ptr[f]), int(edge_ptr[f]))
            for f, flow in enumerate(flows)
        ]
        joined = [np.concatenate(part) for part in zip(*graphs, strict=True)]
        empty = np.zeros(0, np.int64)
        (
            self.pred_row,
            self.pred_edge,
            self.succ_row,
            self.succ_edge,
            self.topological,
        ) = joined or [empty] * 5
        self.pred_ptr = _ptr(self.pred_count)
        self.succ_ptr = _ptr(self.succ_count)

    def _graph(self, flow: Workflow, first_row: int, first_edge: int) -> list[Ints]:
        """Return one workflow's CSR columns (global rows) and topological order."""
        index = {task.id: first_row + i for i, task in enumerate(flow.tasks)}
        ends = np.array(
            [(index[edge.src], index[edge.dst]) for edge in flow.edges], np.int64
        ).reshape(-1, 2)
        src, dst = ends[:, 0], ends[:, 1]
        edge = first_edge + np.arange(len(flow.edges))
        np.add.at(self.pred_count, dst, 1)
        np.add.at(self.succ_count, src, 1)
        # Neighbours in declared order of the tasks, whatever the order of the edges.
        by_dst, by_src = np.lexsort((src, dst)), np.lexsort((dst, src))
        order = _topological(len(flow.tasks), src - first_row, dst - first_row)
        return [
            src[by_dst],
            edge[by_dst],
            dst[by_src],
            edge[by_src],
            order + first_row,
        ]

    def rows(self) -> dict[str, Any]:
        instance = self.instance
        tasks = [task for flow in instance.workflows for task in flow.tasks]
        edges = [edge for flow in instance.workflows for edge in flow.edges]
        return {
            "row_ids": tuple([task.id for task in tasks]),
            "row_runtime_s": self._runtimes(tasks),
            "row_input_bytes": _floats(task.input_bytes for task in tasks),
            "row_input_transfer_s": _optional(task.input_transfer_s for task in tasks),
            "edge_bytes": _floats(edge.bytes for edge in edges),
            "edge_transfer_s": _optional(edge.transfer_s for edge in edges),
        }

    def _runtimes(self, tasks: list[Any]) -> Floats:
        instance = self.instance
        kinds = list(dict.fromkeys(worker.kind for worker in instance.workers))
        per_kind = np.empty((len(tasks), len(kinds)))
        for i, task in enumerate(tasks):
            value = task.runtime_s
            if isinstance(value, dict):
                per_kind[i] = [value.get(kind, np.inf) for kind in kinds]
            else:
                per_kind[i] = value
        kind_of = [kinds.index(worker.kind) for worker in instance.workers]
        runtimes = np.ascontiguousarray(per_kind[:, kind_of])
        size = {model.id: model.size_bytes for model in instance.models}
        need = _ints(
            size.get(task.model or "", 0) + task.memory_bytes for task in tasks
        )
        memory = _ints(worker.memory_bytes for worker in instance.workers)
        runtimes[need[:, None] > memory[None, :]] = np.inf
        return runtimes


def _jobs(instance: Instance, templates: _Templates) -> dict[str, Any]:
    """Multiply the templates by the jobs, all with whole-array operations."""
    jobs, flows = instance.jobs, instance.workflows
    flow_index = {flow.id: f for f, flow in enumerate(flows)}
    worker_index = {worker.id: w for w, worker in enumerate(instance.workers)}
    model_index = {model.id: m for m, model in enumerate(instance.models)}
    flow_of = _ints(flow_index[job.workflow] for job in jobs)
    length = np.diff(templates.row_ptr)[flow_of]
    job_ptr = _ptr(length)
    job = np.repeat(np.arange(len(jobs)), length)
    first = job_ptr[:-1] - templates.row_ptr[flow_of]  # task number minus row number
    row = np.arange(job_ptr[-1]) - first[job]
    tasks = [task for flow in flows for task in flow.tasks]
    row_release = _floats(task.release_s for task in tasks)
    row_model = _ints(model_index.get(task.model or "", -1) for task in tasks)
    row_memory = _ints(task.memory_bytes for task in tasks)
    job_release = _floats(one.release_s for one in jobs)
    shift = first[job]
    topological = _expand(templates.row_ptr[flow_of], length, templates.topological)
    pred_ptr, pred_row, pred_edge = _expand_graph(
        templates.pred_ptr, templates.pred_row, templates.pred_edge, row
    )
    succ_ptr, succ_row, succ_edge = _expand_graph(
        templates.succ_ptr, templates.succ_row, templates.succ_edge, row
    )
    return {
        "row": row,
        "job": job,
        "model": row_model[row],
        "memory_bytes": row_memory[row],
        "release_s": job_release[job] + row_release[row],
        "job_ptr": job_ptr,
        "job_release_s": job_release,
        "job_deadline_s": _floats(
            np.inf if one.deadline_s is None else one.deadline_s for one in jobs
        ),
        "job_weight": _floats(one.weight for one in jobs),
        "job_ingress": _ints(
            -1 if one.ingress is None else worker_index[one.ingress] for one in jobs
        ),
        "pred_ptr": pred_ptr,
        "pred_task": pred_row + np.repeat(shift, np.diff(pred_ptr)),
        "pred_edge": pred_edge,
        "succ_ptr": succ_ptr,
        "succ_task": succ_row + np.repeat(shift, np.diff(succ_ptr)),
        "succ_edge": succ_edge,
        "topological": topological + shift,
    }


def _expand_graph(ptr: Ints, heads: Ints, edges: Ints, row: Ints) -> tuple[Ints, ...]:
    """Repeat the CSR rows of the templates for each task."""
    counts = np.diff(ptr)[row]
    return (
        _ptr(counts),
        _expand(ptr[row], counts, heads),
        _expand(ptr[row], counts, edges),
    )


def _expand(starts: Ints, counts: Ints, values: Ints) -> Ints:
    """Return ``values[start : start + count]`` for each pair, one after the other."""
    ptr = _ptr(counts)
    within = np.arange(ptr[-1]) - np.repeat(ptr[:-1], counts)
    return np.asarray(values[np.repeat(starts, counts) + within], np.int64)


def _topological(n: int, src: Ints, dst: Ints) -> Ints:
    """Return tasks so that predecessors come first; ties by declared order (Kahn)."""
    import heapq

    successors: list[list[int]] = [[] for _ in range(n)]
    waiting = [0] * n
    for a, b in zip(src.tolist(), dst.tolist(), strict=True):
        successors[a].append(b)
        waiting[b] += 1
    ready = [i for i in range(n) if waiting[i] == 0]
    order: list[int] = []
    while ready:
        i = heapq.heappop(ready)
        order.append(i)
        for b in successors[i]:
            waiting[b] -= 1
            if waiting[b] == 0:
                heapq.heappush(ready, b)
    return np.array(order, np.int64)


def _ptr(counts: Any) -> Ints:
    ptr = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=ptr[1:])
    return ptr


def _ints(values: Any) -> Ints:
    return np.array(list(values), np.int64)


def _floats(values: Any) -> Floats:
    return np.array(list(values), np.float64)


def _optional(values: Any) -> Floats:
    return _floats(np.nan if value is None else value for value in values)
