"""The Compass workload in numbers: four workflows measured on a T4, and their delays.

Profiles are measured facts of the Compass paper (arXiv 2402.17652, also known as
Navigator) as the authors' simulator states them. The paper counts a kilobyte as 1000
bytes here, and so do we.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from placement_lab.problem import Edge, Model, Task, Worker, Workflow

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = [
    "COMPASS_WORKFLOWS",
    "H2G_BANDWIDTH_BYTES_PER_S",
    "WORKER_KIND",
    "WORKER_MEMORY_BYTES",
    "Profile",
    "Stage",
    "c2c_s",
    "compass_models",
    "compass_workers",
    "compass_workflow",
    "g2g_s",
    "h2g_s",
]

_KB = 1000
_MS = 1000.0

WORKER_KIND = "T4"
WORKER_MEMORY_BYTES = 14_000_000 * _KB
H2G_BANDWIDTH_BYTES_PER_S = 9.7 * 1048.58 * _KB * _MS
"""Host to GPU: `h2g_s` as a bandwidth."""


class Stage(NamedTuple):
    """One task of a profiled workflow; sizes in bytes, times in seconds."""

    id: str
    model: str | None
    runtime_s: float
    input_bytes: int
    output_bytes: int


class Profile(NamedTuple):
    """A profiled workflow: its stages in the authors' order, and its arcs by index."""

    id: str
    stages: tuple[Stage, ...]
    arcs: tuple[tuple[int, int], ...]


_MODEL_SIZE_BYTES = {
    "opt": 5_720_000 * _KB,
    "marian": 800_000 * _KB,
    "mt5": 2_000_000 * _KB,
    "nli": 2_140_000 * _KB,
    "vit": 1_700_000 * _KB,
    "txt2speech": 2_700_000 * _KB,
    "detr": 1_800_000 * _KB,
    "depth": 3_900_000 * _KB,
}


def _stage(
    name: str, model: str | None, runtime_s: float, in_kb: int, out_kb: int
) -> Stage:
    return Stage(name, model, runtime_s, in_kb * _KB, out_kb * _KB)


COMPASS_WORKFLOWS = (
    Profile(
        "translation",
        (
            _stage("opt", "opt", 0.561, 1, 2),
            _stage("marian", "marian", 0.441, 2, 2),
            _stage("mt5_a", "mt5", 0.778, 2, 2),
            _stage("mt5_b", "mt5", 0.803, 2, 2),
            _stage("merge", None, 0.001, 2, 2),
        ),
        ((0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)),
    ),
    Profile(
        "question_answer",
        (_stage("opt", "opt", 0.560, 1, 2), _stage("nli", "nli", 0.027, 1, 1)),
        ((0, 1),),
    ),
    Profile(
        "img_to_sound",
        (
            _stage("vit", "vit", 0.283, 3000, 20),
            _stage("nli", "nli", 0.026, 20, 10),
            _stage("txt2speech", "txt2speech", 0.076, 20, 3000),
            _stage("aggregate", None, 0.0002, 3000, 3000),
        ),
        ((0, 1), (0, 2), (1, 3), (2, 3)),
    ),
    Profile(
        "object_detection",
        (
            _stage("entry", None, 0.0006, 3000, 3000),
            _stage("detr", "detr", 0.178, 3000, 3000),
            _stage("depth", "depth", 0.147, 3000, 3000),
            _stage("aggregate", None, 0.104, 3000, 3000),
        ),
        ((0, 1), (0, 2), (1, 3), (2, 3)),
    ),
)
"""The four workflows; a workflow's index is its number in the golden timelines."""


def c2c_s(size_bytes: float) -> float:
    """Return the time to send data from one host to another, in seconds.

    The two constants 1048.576 and 1048.58 are both the authors'.
    """
    size_kb = size_bytes / _KB
    if size_kb < 1:
        return 0.002 / _MS
    if size_kb < 4:
        return (size_kb / ((3 + 2 * size_kb) * 1048.576) + 0.002) / _MS
    return (size_kb / (12 * 1048.58) + 0.002) / _MS


def h2g_s(size_bytes: float) -> float:
    """Return the time to copy data from a host to its GPU or back, in seconds."""
    return size_bytes / _KB / (9.7 * 1048.58) / _MS


def g2g_s(size_bytes: float) -> float:
    """Return the time from one worker's GPU to another's, by way of both hosts."""
    return 2 * h2g_s(size_bytes) + c2c_s(size_bytes)


def compass_models(*, shared: bool = True) -> tuple[Model, ...]:
    """Return the models of the four workflows.

    Parameters
    ----------
    shared : bool
        One model for all workflows that use it, as a real system would. False: one per
        workflow, ``translation.opt`` and ``question_answer.opt``, as in the authors'
        simulator.
    """
    if shared:
        return tuple([_model(name, name) for name in _MODEL_SIZE_BYTES])
    names = dict.fromkeys(
        (f"{profile.id}.{stage.model}", stage.model)
        for profile in COMPASS_WORKFLOWS
        for stage in profile.stages
        if stage.model is not None
    )
    return tuple([_model(own, name) for own, name in names])


def _model(model_id: str, name: str) -> Model:
    size_bytes = _MODEL_SIZE_BYTES[name]
    return Model(model_id, size_bytes, h2g_s(size_bytes))


def compass_workers(
    n_workers: int, resident: dict[str, tuple[str, ...]] | None = None
) -> tuple[Worker, ...]:
    """Return the authors' T4 workers ``w0``, ``w1``, ...

    Parameters
    ----------
    n_workers : int
    resident : mapping of worker id to model ids, optional
        What is in memory at time 0, least recently used first.
    """
    resident = resident or {}
    names = [f"w{i}" for i in range(n_workers)]
    return tuple(
        [
            Worker(name, WORKER_MEMORY_BYTES, WORKER_KIND, resident=resident[name])
            if name in resident
            else Worker(name, WORKER_MEMORY_BYTES, WORKER_KIND)
            for name in names
        ]
    )


def compass_workflow(
    profile: Profile,
    *,
    shared_models: bool = True,
    stages: Collection[int] | None = None,
    central: bool = False,
) -> Workflow:
    """Return a profiled workflow with the authors' delays.

    The entry task's input reaches the planning worker (the job's ingress) ``c2c`` after
    the job's creation and any other worker one more ``c2c`` later. An edge takes
    ``g2g`` of its producer's output.

    Parameters
    ----------
    profile : Profile
    shared_models : bool
        See `compass_models`.
    stages : collection of int, optional
        Only these stages; must be closed under predecessors. The id then says which.
    central : bool
        Planned by one central scheduler: the input always takes two ``c2c``, wherever
        it goes, and the jobs have no ingress.
    """
    chosen = range(len(profile.stages)) if stages is None else sorted(stages)
    fed = {dst for _, dst in profile.arcs}
    tasks = []
    for i in chosen:
        stage = profile.stages[i]
        own = stage.model if shared_models else f"{profile.id}.{stage.model}"
        model = None if stage.model is None else own
        if i in fed:
            tasks.append(Task(stage.id, stage.runtime_s, model))
            continue
        input_s = c2c_s(stage.input_bytes)
        tasks.append(
            Task(
                stage.id,
                stage.runtime_s,
                model,
                input_transfer_s=None if central else input_s,
                release_s=2 * input_s if central else input_s,
            )
        )
    edges = [
        Edge(
            profile.stages[src].id,
            profile.stages[dst].id,
            transfer_s=g2g_s(profile.stages[src].output_bytes),
        )
        for src, dst in profile.arcs
        if src in chosen and dst in chosen
    ]
    whole = len(tasks) == len(profile.stages)
    name = profile.id if whole else f"{profile.id}-{''.join(map(str, chosen))}"
    return Workflow(name, tuple(tasks), tuple(edges))
