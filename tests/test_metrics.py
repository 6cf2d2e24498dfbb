"""Objectives and statistics, checked by hand on one small schedule."""

import pytest

from placement_lab import InstanceBuilder, evaluate, objective_value
from placement_lab.errors import ScheduleError, UnknownNameError
from placement_lab.metrics import OBJECTIVES, critical_path_s
from placement_lab.schedule import Eviction, Load, Run, Schedule


def example():
    build = InstanceBuilder("hand")
    for name in ("fast", "slow"):
        build.worker(name, 10, load_bandwidth_bytes_per_s=5)
    build.default_link(1e9)
    build.model("m", 5)
    flow = build.workflow("f")
    flow.task("x", {"fast": 1, "slow": 3}, model="m").task("y", {"fast": 2, "slow": 2})
    flow.edge("x", "y", transfer_s=0.5)
    build.workflow("nothing").task("z", 0)
    build.job("j0", "f", release_s=1, weight=3, deadline_s=5)
    build.job("j1", "f", release_s=1, deadline_s=6.5)
    build.job("j2", "nothing")
    return build.build()


def schedule():
    return Schedule(
        runs=(
            Run("j2/z", "fast", 0, 0),
            Run("j0/x", "fast", 2, 3),
            Run("j0/y", "slow", 3.5, 5.5),
            Run("j1/x", "fast", 3, 4),
            Run("j1/y", "fast", 4.5, 6.5),
        ),
        loads=(Load("m", "fast", 1, 2),),
        evictions=(Eviction("m", "fast", 5, 5),),
    )


def test_the_critical_path_takes_every_task_on_its_fastest_worker():
    assert critical_path_s(example()).tolist() == [3, 3, 0]


def test_every_objective_by_hand():
    values = {name: objective_value(example(), schedule(), name) for name in OBJECTIVES}
    assert values == pytest.approx(
        {
            "makespan": 6.5,
            "latency": (3 * 4.5 + 5.5 + 0) / 5,
            "slowdown": (4.5 / 3 + 5.5 / 3) / 2,
            "late": 3,
        }
    )


def test_a_deadline_met_to_a_billionth_of_a_second_is_met():
    late = schedule()
    runs = [*late.runs[:-1], Run("j1/y", "fast", 4.5, 6.5 + 0.9e-9)]
    assert objective_value(example(), Schedule(tuple(runs)), "late") == 3
    runs[-1] = Run("j1/y", "fast", 4.5, 6.5 + 2e-9)
    assert objective_value(example(), Schedule(tuple(runs)), "late") == 4


def test_statistics_by_hand():
    found = evaluate(example(), schedule())
    assert (found.hits, found.lates, found.misses) == (1, 1, 0)
    assert found.hit_rate == 0.5
    assert found.excluded_slow_down == 1
    assert found.median_slow_down == pytest.approx((1.5 + 5.5 / 3) / 2)
    assert (found.n_loads, found.n_evictions, found.bytes_loaded) == (1, 1, 5)
    assert found.utilisation == pytest.approx(6 / 13)
    assert found.workers_used == 2
    assert found.to_dict()["makespan_s"] == 6.5


def test_a_load_that_starts_after_the_turn_is_a_miss():
    shifted = Schedule(
        runs=schedule().runs,
        loads=(Load("m", "fast", 1.5, 2),),
    )
    assert evaluate(example(), shifted).misses == 1


def test_no_jobs_score_zero_and_a_missing_run_cannot_be_scored():
    build = InstanceBuilder("empty")
    build.worker("w", 1)
    for name in OBJECTIVES:
        assert objective_value(build.build(), Schedule(), name) == 0
    found = evaluate(build.build(), Schedule())
    assert (found.hit_rate, found.mean_slow_down, found.utilisation) == (None, None, 0)
    with pytest.raises(ScheduleError, match="no run of task 'j0/x'"):
        objective_value(example(), Schedule())
    with pytest.raises(UnknownNameError, match="unknown objective 'mean'"):
        objective_value(example(), schedule(), "mean")
