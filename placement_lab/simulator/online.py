"""`simulate`: a policy and an instance in, a `Schedule` out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from placement_lab.caching import get_policy
from placement_lab.errors import Fault, ProblemError, UnsupportedError
from placement_lab.schedule import Eviction, Load, Run, Schedule
from placement_lab.simulator.engine import Simulation

if TYPE_CHECKING:
    from placement_lab.caching import EvictionPolicy
    from placement_lab.policy import Policy
    from placement_lab.problem import Instance, InstanceArrays
    from placement_lab.simulator.world import Log

__all__ = ["simulate"]


def simulate(
    instance: Instance,
    policy: Policy,
    *,
    estimates: Instance | None = None,
    seed: int = 0,
    evict: str | EvictionPolicy | None = None,
    load_ahead: int | None = None,
) -> Schedule:
    """Let a policy place the jobs of an instance as they arrive.

    A job is placed when the first of its entry tasks is released. Every worker has a
    first-in, first-out queue, which a task joins when its last input has arrived. When
    a slot is free for the task at the head, that is its turn: its model is loaded, if
    it is missing, and the task runs. With ``load_ahead`` the models of the first tasks
    of the queue may be loaded while others run, if the copy engine is idle and nothing
    in use, or needed by a task ahead, has to leave for it.

    Parameters
    ----------
    instance : Instance
        The world as it is.
    policy : Policy
        A scheduler such as `placement_lab.schedulers.compass.Compass`, or your own; see
        `placement_lab.policy.OnlinePolicy`.
    estimates : Instance, optional
        The same workers, models, workflows and jobs with other times: what the policy
        believes. Default: the truth.
    seed : int
        For policies that draw random numbers.
    evict : str or EvictionPolicy, optional
        ``fifo``, ``lru`` or ``lookahead`` (over the worker's queue). Default: the
        policy's own choice.
    load_ahead : int, optional
        Default: 1 with overlapping loads. Blocking loads allow 0 only.

    Returns
    -------
    Schedule

    Raises
    ------
    PlanError
        If a decision of the policy cannot be; the message names policy and decision.
    InfeasiblePlanError
        If a job cannot be placed, because links are missing.
    ProblemError
        If ``estimates`` is not about the same tasks and workers.
    UnsupportedError
        If ``evict`` needs to see the future, or ``load_ahead`` does not fit the rules.
    """
    victims = get_policy(policy.evict if evict is None else evict)
    if victims.horizon is None:
        raise UnsupportedError(
            f"eviction policy {victims.name!r} needs every coming run, which no online "
            "policy knows; use fifo, lru or lookahead, or give complete() a whole order"
        )
    ahead = _load_ahead(instance, load_ahead)
    believed = None
    if estimates is not None:
        _check_estimates(instance.arrays, estimates.arrays)
        believed = estimates.arrays
    run = Simulation(
        instance.arrays,
        policy,
        estimates=believed,
        victims=victims,
        load_ahead=ahead,
        seed=seed,
    )
    run.run()
    made_by: dict[str, Any] = {
        "scheduler": policy.name,
        "seed": seed,
        "evict": victims.name,
        "load_ahead": ahead,
    }
    if policy.options:
        made_by["options"] = dict(policy.options)
    return _schedule(instance, run.world.log, made_by)


def _load_ahead(instance: Instance, load_ahead: int | None) -> int:
    overlap = instance.rules.loading == "overlap"
    if load_ahead is None:
        return 1 if overlap else 0
    if load_ahead < 0 or (load_ahead > 0 and not overlap):
        allowed = "0 or more" if overlap else "0 with blocking loads"
        raise UnsupportedError(f"load_ahead must be {allowed}, got {load_ahead}")
    return load_ahead


def _check_estimates(truth: InstanceArrays, estimates: InstanceArrays) -> None:
    """Refuse estimates that are about something else than the truth."""
    same = {
        "workers": truth.worker_ids == estimates.worker_ids,
        "models": truth.model_ids == estimates.model_ids,
        "jobs": truth.job_ids == estimates.job_ids,
        "workflows": truth.row_ids == estimates.row_ids
        and np.array_equal(truth.row, estimates.row)
        and np.array_equal(truth.model, estimates.model)
        and np.array_equal(truth.pred_task, estimates.pred_task)
        and np.array_equal(truth.pred_edge, estimates.pred_edge),
    }
    faults = [
        Fault(
            what, "estimates must have the same ones as the instance; change only times"
        )
        for what, is_same in same.items()
        if not is_same
    ]
    if not faults and not np.array_equal(
        np.isfinite(truth.row_runtime_s), np.isfinite(estimates.row_runtime_s)
    ):
        message = (
            "estimates must have a runtime for the same kinds; add the missing ones"
        )
        faults = [Fault("workflows", message)]
    if faults:
        raise ProblemError(faults, source="estimates")


def _schedule(instance: Instance, log: Log, made_by: dict[str, Any]) -> Schedule:
    arrays = instance.arrays
    tasks, models, workers = arrays.task_names, arrays.model_ids, arrays.worker_ids
    return Schedule(
        runs=tuple([Run(tasks[t], workers[w], a, b) for t, w, a, b in log.runs]),
        loads=tuple([Load(models[m], workers[w], a, b) for m, w, a, b in log.loads]),
        evictions=tuple(
            [Eviction(models[m], workers[w], a, b) for m, w, a, b in log.evictions]
        ),
        instance_sha256=instance.sha256,
        made_by=made_by,
    )
