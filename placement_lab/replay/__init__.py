"""Give a plan its times: every action as early as its order and the rules allow (R7).

Four steps, one module each: a plan is read against its instance (`_sequences`), what
its order alone decides is checked (`_stays`), a compiled event loop gives it times
(`_kernels`), and if it gets stuck, the reason is put into words (`_stuck`).

Where loads and tasks' own memory compete, memory is granted in the order of the
worker's sequence: a load leaves room for the earlier runs that have still to start.
Replaying the order of a valid schedule is therefore never later than that schedule,
action by action.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from placement_lab.replay._sequences import Sequences, read_plan
from placement_lab.replay._stays import follow_stays
from placement_lab.replay._stuck import explain_stuck
from placement_lab.replay._timing import give_times
from placement_lab.schedule import Eviction, Load, Run, Schedule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from placement_lab.plan import Plan
    from placement_lab.problem import Instance
    from placement_lab.replay._timing import Times

__all__ = ["replay"]


def replay(
    instance: Instance, plan: Plan, *, made_by: Mapping[str, Any] | None = None
) -> Schedule:
    """Carry out a plan, left-shifted.

    Parameters
    ----------
    instance : Instance
    plan : Plan
    made_by : mapping, optional
        Goes into the schedule; default ``{"scheduler": "replay"}``.

    Returns
    -------
    Schedule
        In start order; valid under `placement_lab.verify`.

    Raises
    ------
    PlanError
        If the plan belongs to another instance or names what does not exist.
    InfeasiblePlanError
        If it can never be carried out; names worker and action.
    """
    sequences = read_plan(instance, plan)
    stays = follow_stays(instance.arrays, sequences)
    times = give_times(instance.arrays, sequences, stays)
    if not times.is_complete:
        raise explain_stuck(instance.arrays, sequences, stays, times)
    by = {"scheduler": "replay"} if made_by is None else dict(made_by)
    return _schedule(instance, sequences, times, by)


def _schedule(
    instance: Instance, sequences: Sequences, times: Times, made_by: Mapping[str, Any]
) -> Schedule:
    arrays = instance.arrays
    in_order = times.start_s.argsort(kind="stable")

    def records(record: Any, kind: int, names: tuple[str, ...]) -> tuple[Any, ...]:
        chosen = in_order[sequences.kind[in_order] == kind]
        columns = zip(
            map(names.__getitem__, sequences.target[chosen].tolist()),
            map(arrays.worker_ids.__getitem__, sequences.worker[chosen].tolist()),
            times.start_s[chosen].tolist(),
            times.end_s[chosen].tolist(),
            strict=True,
        )
        return tuple(map(record._make, columns))

    return Schedule(
        runs=records(Run, Sequences.RUN, arrays.task_names),
        loads=records(Load, Sequences.LOAD, arrays.model_ids),
        evictions=records(Eviction, Sequences.EVICT, arrays.model_ids),
        instance_sha256=instance.sha256,
        made_by=dict(made_by),
    )
