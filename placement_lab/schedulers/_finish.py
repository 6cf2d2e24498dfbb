"""From a planner's placement to a schedule, through `complete` and `replay`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from placement_lab.completion import complete
from placement_lab.replay import replay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from placement_lab.problem import Instance, InstanceArrays
    from placement_lab.schedule import Schedule
    from placement_lab.schedulers._planning import Placement

__all__ = ["run_order", "to_schedule"]


def run_order(arrays: InstanceArrays, placed: Placement) -> dict[str, list[str]]:
    """Return every worker's tasks by planned start; ties in topological order.

    A task never starts before its predecessors, so these orders are parts of one order
    of all tasks, and no two workers can wait for each other.
    """
    position = np.empty(arrays.n_tasks, np.int64)
    position[arrays.topological] = np.arange(arrays.n_tasks)
    order: dict[str, list[str]] = {worker: [] for worker in arrays.worker_ids}
    by_worker = list(order.values())
    names, worker = arrays.task_names, placed.worker.tolist()
    for task in np.lexsort((position, placed.start_s)).tolist():
        by_worker[worker[task]].append(names[task])
    return order


def to_schedule(
    instance: Instance,
    placed: Placement,
    *,
    evict: str,
    made_by: Mapping[str, Any],
) -> Schedule:
    """Add loads and evictions to a placement, and give it its times."""
    plan = complete(instance, run_order(instance.arrays, placed), evict=evict)
    return replay(instance, plan, made_by=made_by)
