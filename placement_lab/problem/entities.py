"""The nouns of the question: small frozen records, with no rules of their own.

Values are stored as given, brought to one canonical form (whole bytes as ``int``, times
as ``float``, lists as tuples). Whether they make sense is decided in one place,
`placement_lab.problem.validation`, when an `Instance` is built from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

__all__ = [
    "Edge",
    "Job",
    "Link",
    "LinkSpeed",
    "Loading",
    "Model",
    "Prefetch",
    "Rules",
    "Task",
    "Worker",
    "Workflow",
]

Loading = Literal["overlap", "blocking"]
Prefetch = Literal["clairvoyant", "after_release", "on_demand"]


def _time(value: Any) -> Any:
    """Return any real number as a float (and -0.0 as 0.0); anything else as it is."""
    if type(value) is float:
        return value or 0.0
    if value is None or isinstance(value, bool) or not isinstance(value, Real):
        return value
    try:
        return float(value) or 0.0
    except OverflowError:
        return value


def _whole(value: Any) -> Any:
    """Return 14e9 as 14000000000; leave what is no whole number for validation."""
    if type(value) is int or isinstance(value, bool) or not isinstance(value, Real):
        return value
    whole: Any = value // 1  # nan for an infinite one
    return int(whole) if value == whole else value


def _tuple(value: Any) -> Any:
    """Return lists as tuples; a string stays one, so that validation can refuse it."""
    return tuple(value) if isinstance(value, list) else value


def _per_kind(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {kind: _time(number) for kind, number in value.items()}
    return _time(value)


@dataclass(frozen=True, slots=True)
class Rules:
    """Which variant of the world's rules holds (rules R3, R4 and R6).

    Attributes
    ----------
    loading : {'overlap', 'blocking'}
        Whether a copy engine loads while tasks run, or a load occupies the worker.
    prefetch : {'clairvoyant', 'after_release', 'on_demand'}
        When a load may start.
    evict_bandwidth_bytes_per_s : float or None
        Speed of evictions; None: instantaneous and free.
    """

    loading: Loading = "overlap"
    prefetch: Prefetch = "after_release"
    evict_bandwidth_bytes_per_s: float | None = None

    def __post_init__(self) -> None:
        speed = _time(self.evict_bandwidth_bytes_per_s)
        object.__setattr__(self, "evict_bandwidth_bytes_per_s", speed)


@dataclass(frozen=True, slots=True)
class Worker:
    """One GPU with its memory.

    Attributes
    ----------
    id : str
    memory_bytes : int
        Memory for models and for running tasks' own needs.
    kind : str
        Type of device; runtimes and load times are given per kind. Default: the id.
    slots : int
        Tasks that may run at the same time.
    resident : tuple of str
        Models in memory at time 0, least recently used first.
    load_bandwidth_bytes_per_s : float or None
        Speed of loads for models without their own ``load_s`` on this kind.
    load_latency_s : float
        Fixed part of such loads.
    """

    id: str
    memory_bytes: int
    kind: str = ""
    slots: int = 1
    resident: tuple[str, ...] = ()
    load_bandwidth_bytes_per_s: float | None = None
    load_latency_s: float = 0.0

    def __post_init__(self) -> None:
        put = object.__setattr__
        if self.kind == "":
            put(self, "kind", self.id)
        put(self, "memory_bytes", _whole(self.memory_bytes))
        put(self, "slots", _whole(self.slots))
        put(self, "resident", _tuple(self.resident))
        bandwidth = _time(self.load_bandwidth_bytes_per_s)
        put(self, "load_bandwidth_bytes_per_s", bandwidth)
        put(self, "load_latency_s", _time(self.load_latency_s))


@dataclass(frozen=True, slots=True)
class LinkSpeed:
    """How fast data moves between two workers: latency + bytes / bandwidth."""

    bandwidth_bytes_per_s: float
    latency_s: float = 0.0

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "bandwidth_bytes_per_s", _time(self.bandwidth_bytes_per_s))
        put(self, "latency_s", _time(self.latency_s))


@dataclass(frozen=True, slots=True)
class Link:
    """A symmetric connection of two workers; overrides the default link."""

    a: str
    b: str
    bandwidth_bytes_per_s: float
    latency_s: float = 0.0

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "bandwidth_bytes_per_s", _time(self.bandwidth_bytes_per_s))
        put(self, "latency_s", _time(self.latency_s))


@dataclass(frozen=True, slots=True)
class Model:
    """A served ML model: weights that must be resident before a task can use them.

    Attributes
    ----------
    id : str
    size_bytes : int
        Memory it occupies from the start of its load to the end of its eviction.
    load_s : float, mapping of kind to float, or None
        Load time; a missing kind falls back to the worker's load bandwidth.
    """

    id: str
    size_bytes: int
    load_s: float | Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "size_bytes", _whole(self.size_bytes))
        object.__setattr__(self, "load_s", _per_kind(self.load_s))


@dataclass(frozen=True, slots=True)
class Task:
    """One step of a workflow; needs at most one model.

    Attributes
    ----------
    id : str
        Unique in its workflow.
    runtime_s : float or mapping of kind to float
        A kind that is missing from the mapping cannot run the task.
    model : str or None
    input_bytes : float
        Size of an entry task's input, sent from the job's ingress worker.
    input_transfer_s : float or None
        Replaces the link for that input.
    release_s : float
        Earliest start, relative to the job's release.
    memory_bytes : int
        The task's own memory while it runs (activations).
    """

    id: str
    runtime_s: float | Mapping[str, float]
    model: str | None = None
    input_bytes: float = 0.0
    input_transfer_s: float | None = None
    release_s: float = 0.0
    memory_bytes: int = 0

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "runtime_s", _per_kind(self.runtime_s))
        put(self, "input_bytes", _time(self.input_bytes))
        put(self, "input_transfer_s", _time(self.input_transfer_s))
        put(self, "release_s", _time(self.release_s))
        put(self, "memory_bytes", _whole(self.memory_bytes))


@dataclass(frozen=True, slots=True)
class Edge:
    """Data that goes from one task of a workflow to another.

    Attributes
    ----------
    src, dst : str
        Task ids.
    bytes : float
        Size, sent over the link of the two workers.
    transfer_s : float or None
        The edge's own transfer time between different workers; replaces the link.
    """

    src: str
    dst: str
    bytes: float = 0.0
    transfer_s: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "bytes", _time(self.bytes))
        object.__setattr__(self, "transfer_s", _time(self.transfer_s))


@dataclass(frozen=True, slots=True)
class Workflow:
    """A DAG of tasks: the template of jobs."""

    id: str
    tasks: tuple[Task, ...] = ()
    edges: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "tasks", _tuple(self.tasks))
        object.__setattr__(self, "edges", _tuple(self.edges))


@dataclass(frozen=True, slots=True)
class Job:
    """One activation of a workflow.

    Attributes
    ----------
    id : str
    workflow : str
    release_s : float
        When the job becomes known; none of its tasks starts earlier.
    ingress : str or None
        Worker that receives its input.
    deadline_s : float or None
        Point in time after which the job is late.
    weight : float
    """

    id: str
    workflow: str
    release_s: float = 0.0
    ingress: str | None = None
    deadline_s: float | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "release_s", _time(self.release_s))
        put(self, "deadline_s", _time(self.deadline_s))
        put(self, "weight", _time(self.weight))
