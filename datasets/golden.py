"""Timelines of the Compass authors' simulator: what a faithful replay must reproduce.

The files are measured outputs; ``data/golden/PROVENANCE.md`` says where they are from.
Reading them needs the standard library alone.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from placement_lab.datasets.compass import (
    COMPASS_WORKFLOWS,
    H2G_BANDWIDTH_BYTES_PER_S,
    compass_models,
    compass_workers,
    compass_workflow,
)
from placement_lab.errors import UnknownNameError
from placement_lab.problem import Instance, Job, Rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from placement_lab.problem import Workflow

__all__ = [
    "GOLDEN_NAMES",
    "Arrival",
    "GoldenRow",
    "GoldenTimeline",
    "golden_arrivals",
    "golden_summary",
    "golden_timeline",
]

GOLDEN_NAMES = (
    "compass_5w_2rps",
    "compass_5w_0p5rps",
    "compass_adjust_5w_2rps",
    "hash_5w_2rps",
    "compass_40w_40rps",
    "hash_40w_40rps",
)


class GoldenRow(NamedTuple):
    """One task of a timeline: where it ran, and when, in seconds.

    ``fetch_start_s`` is when the worker turned to the task; loads and evictions fill
    the time until ``run_start_s``.
    """

    task: str
    worker: str
    fetch_start_s: float
    run_start_s: float
    run_end_s: float


class Arrival(NamedTuple):
    """One job of a trace: number, workflow's index, creation, planning worker."""

    job: int
    workflow: int
    created_s: float
    planning_worker: str | None


@dataclass(frozen=True)
class GoldenTimeline:
    """A timeline and the question it answers.

    Attributes
    ----------
    name : str
    instance : Instance
        Blocking loads on demand, evictions as slow as loads, models per workflow. A job
        that lacks its last tasks has a workflow of its own with the tasks it has.
    order : mapping of worker id to tuple of str
        The tasks ``job/task`` of every worker, in the order it turned to them; idle
        workers are there too. Evictions are first in, first out.
    rows : tuple of GoldenRow
        All tasks, in the file's order: job by job.
    """

    name: str
    instance: Instance
    order: Mapping[str, tuple[str, ...]]
    rows: tuple[GoldenRow, ...]


def golden_timeline(name: str) -> GoldenTimeline:
    """Return a golden timeline.

    Parameters
    ----------
    name : str
        One of `GOLDEN_NAMES`.

    Raises
    ------
    UnknownNameError
        If there is no timeline of that name.

    Examples
    --------
    >>> golden = golden_timeline("compass_5w_2rps")
    >>> len(golden.rows), golden.rows[0].task, golden.rows[0].worker
    (3727, 'j0/opt', 'w0')
    """
    table = _table(name)
    stages: dict[int, list[int]] = {}
    for row in table:
        stages.setdefault(int(row["job"]), []).append(int(row["task"]))
    workflow_of, workflows = _workflows(table, stages)
    n_workers = golden_summary(name)["workers"]
    instance = Instance(
        name=name,
        rules=Rules(
            loading="blocking",
            prefetch="on_demand",
            evict_bandwidth_bytes_per_s=H2G_BANDWIDTH_BYTES_PER_S,
        ),
        workers=compass_workers(n_workers),
        models=compass_models(shared=False),
        workflows=workflows,
        jobs=tuple(
            [
                Job(
                    f"j{arrival.job}",
                    workflow_of[arrival.job],
                    arrival.created_s,
                    arrival.planning_worker,
                )
                for arrival in golden_arrivals(name)
            ]
        ),
    )
    rows = tuple([_row(row) for row in table])
    order: dict[str, list[str]] = {worker.id: [] for worker in instance.workers}
    for done in sorted(rows, key=lambda one: (one.fetch_start_s, one.run_start_s)):
        order[done.worker].append(done.task)
    return GoldenTimeline(
        name, instance, {worker: tuple(tasks) for worker, tasks in order.items()}, rows
    )


def golden_arrivals(name: str) -> tuple[Arrival, ...]:
    """Return the jobs of a golden timeline by time of creation.

    Raises
    ------
    UnknownNameError
        If there is no timeline of that name.
    """
    arrivals = {}
    for row in _table(name):
        planner = row["planning_worker"]
        arrivals[int(row["job"])] = Arrival(
            int(row["job"]),
            int(row["workflow"]),
            float(row["created_ms"]) / 1000,
            f"w{planner}" if planner else None,
        )
    return tuple(sorted(arrivals.values(), key=lambda one: (one.created_s, one.job)))


def golden_summary(name: str) -> dict[str, Any]:
    """Return what was configured for a timeline, and its slow-down statistics.

    Keys: ``scheduler``, ``workers``, ``mean_gap_ms_per_workflow``, ``seed``,
    ``dynamic_adjust``, ``jobs_completed``, and ``median``, ``mean`` and ``p95`` of the
    slow-down, without the first tenth of the jobs.
    """
    _check(name)
    text = _folder().joinpath("summary.json").read_text(encoding="utf-8")
    return next(one for one in json.loads(text) if one["file"] == f"{name}.csv.gz")


def _check(name: str) -> None:
    """Raise `UnknownNameError` unless there is a timeline of that name."""
    if name not in GOLDEN_NAMES:
        known = ", ".join(GOLDEN_NAMES)
        raise UnknownNameError(f"unknown golden timeline {name!r}. Available: {known}")


def _folder() -> Any:
    return files("placement_lab.datasets").joinpath("data", "golden")


@lru_cache(maxsize=len(GOLDEN_NAMES))
def _table(name: str) -> tuple[dict[str, str], ...]:
    _check(name)
    packed = _folder().joinpath(f"{name}.csv.gz").read_bytes()
    return tuple(csv.DictReader(io.StringIO(gzip.decompress(packed).decode())))


def _workflows(
    table: tuple[dict[str, str], ...], stages: dict[int, list[int]]
) -> tuple[dict[int, str], tuple[Workflow, ...]]:
    """Return the workflow of every job, and all of them; whole ones first."""
    made: dict[tuple[int, tuple[int, ...]], Workflow] = {}
    workflow_of = {}
    for row in table:
        job, kind = int(row["job"]), int(row["workflow"])
        key = (kind, tuple(sorted(stages[job])))
        if key not in made:
            made[key] = compass_workflow(
                COMPASS_WORKFLOWS[kind],
                shared_models=False,
                stages=key[1],
                central=not row["planning_worker"],
            )
        workflow_of[job] = made[key].id
    in_order = sorted(made, key=lambda key: (-len(key[1]), key))
    return workflow_of, tuple([made[key] for key in in_order])


def _row(row: dict[str, str]) -> GoldenRow:
    stage = COMPASS_WORKFLOWS[int(row["workflow"])].stages[int(row["task"])]
    return GoldenRow(
        f"j{row['job']}/{stage.id}",
        f"w{row['worker']}",
        float(row["fetch_start_ms"]) / 1000,
        float(row["run_start_ms"]) / 1000,
        float(row["run_end_ms"]) / 1000,
    )
