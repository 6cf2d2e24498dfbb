"""The identity of an instance: a sha256 of its content in one canonical form.

The order of workers, models, workflows, tasks and jobs is part of it, because it breaks
ties; the order of keys, links and edges and the instance's name are not.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from placement_lab.problem.entities import Job, Link, Task
    from placement_lab.problem.instance import Instance

__all__ = ["content_sha256"]


_ENCODE = json.JSONEncoder(
    sort_keys=True, allow_nan=False, separators=(",", ":")
).encode
_ROWS_AT_ONCE = 4096


def content_sha256(instance: Instance) -> str:
    """Return the hexadecimal sha256 of an instance's content."""
    digest = hashlib.sha256()
    for part in _canonical_parts(instance):
        digest.update(_ENCODE(part).encode())
        digest.update(b"\n")
    return digest.hexdigest()


def _canonical_parts(instance: Instance) -> Iterator[Any]:
    """Yield the content in pieces, so that a large instance needs no large copy."""
    yield ["placement-lab/instance", 1]
    yield asdict(instance.rules)
    yield None if instance.default_link is None else asdict(instance.default_link)
    yield sorted(_canonical_link(link) for link in instance.links)
    yield [asdict(worker) for worker in instance.workers]
    yield [asdict(model) for model in instance.models]
    for workflow in instance.workflows:
        yield workflow.id
        yield from _in_pieces(workflow.tasks, _task)
        edges = [
            (edge.src, edge.dst, edge.bytes, edge.transfer_s) for edge in workflow.edges
        ]
        edges.sort()  # never looks beyond (src, dst), of which there is one each
        yield edges
    yield from _in_pieces(instance.jobs, _job)


def _in_pieces(entities: Sequence[Any], row: Callable[[Any], Any]) -> Iterator[Any]:
    yield len(entities)
    for first in range(0, len(entities), _ROWS_AT_ONCE):
        yield [row(entity) for entity in entities[first : first + _ROWS_AT_ONCE]]


def _task(task: Task) -> tuple[Any, ...]:
    return (
        task.id,
        task.model,
        task.runtime_s,
        task.input_bytes,
        task.input_transfer_s,
        task.release_s,
        task.memory_bytes,
    )


def _job(job: Job) -> tuple[Any, ...]:
    return (
        job.id,
        job.workflow,
        job.release_s,
        job.ingress,
        job.deadline_s,
        job.weight,
    )


def _canonical_link(link: Link) -> tuple[Any, ...]:
    ends = sorted((link.a, link.b))
    return (*ends, link.bandwidth_bytes_per_s, link.latency_s)
