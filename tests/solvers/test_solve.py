import json
import logging
import os
import subprocess
import sys
import threading
import time

import pytest

from placement_lab import verify
from placement_lab.errors import (
    PlanError,
    RefereeError,
    ScheduleError,
    UnknownNameError,
    UnsupportedError,
)
from placement_lab.plan import Plan
from placement_lab.problem import Instance, InstanceBuilder
from placement_lab.schedule import Schedule
from placement_lab.schedulers import get_scheduler
from placement_lab.solvers import solve
from placement_lab.solvers.incumbent import Incumbent
from tests.solvers.tiny import tiny_instance


def _cluster(n, **rules):
    build = InstanceBuilder(**rules)
    for w in range(n):
        build.worker(f"w{w + 1}", memory_bytes=10)
    return build


def _linked(build, instance_options=None):
    build.default_link(bandwidth_bytes_per_s=1e9)
    return build


def test_heft10_is_proven_73(heft10):
    found = solve(heft10, "makespan", 60.0)
    assert (found.status, found.objective, found.bound) == ("optimal", 73.0, 73.0)
    assert found.rounding_slack_s == 0.0
    assert verify(heft10, found.schedule) == []


@pytest.fixture
def heft10():
    from placement_lab.datasets import load_dataset

    return load_dataset("heft10")


def test_without_a_link_both_tasks_share_the_better_worker():
    """U04: a missing link is neither free nor infinite time in a sum."""
    build = _cluster(2)
    flow = build.workflow("f")
    flow.task("A", {"w1": 1.0, "w2": 5.0}).task("B", {"w1": 6.0, "w2": 1.0})
    flow.edge("A", "B", bytes=10)
    build.job("j", "f")
    found = solve(build.build(), "makespan", 10.0, num_workers=1)
    assert (found.status, found.objective) == ("optimal", 6.0)
    assert {run.worker for run in found.schedule.runs} == {"w2"}


def test_several_entries_and_an_isolated_task():
    """U06: nobody is dropped, and no artificial source or sink appears."""
    build = _linked(_cluster(2))
    flow = build.workflow("f")
    for name in "ABCDE":
        flow.task(name, 1.0)
    flow.task("F", 4.0)
    for src, dst in ("AC", "BC", "CD", "CE"):
        flow.edge(src, dst)
    build.job("j", "f")
    found = solve(build.build(), "makespan", 10.0, num_workers=1)
    assert (found.status, found.objective) == ("optimal", 5.0)
    assert sorted(run.task for run in found.schedule.runs) == [
        f"j/{c}" for c in "ABCDEF"
    ]


def test_a_too_small_limit_returns_the_warm_start():
    """U11: what was known is the answer, not an empty one."""
    build = _cluster(8)
    flow = build.workflow("f")
    for i in range(200):
        flow.task(f"t{i}", 1.0)
    build.job("j", "f")
    instance = build.build()
    hint = get_scheduler("heft").schedule(instance)
    for limit in (0.0, 1e-4):
        found = solve(instance, "makespan", limit, hint=hint)
        assert found.objective == 25.0
        assert found.status in ("feasible", "optimal")
        assert found.bound <= 25.0


def test_models_load_once_per_worker_not_once_per_task():
    """U12: 22 charges every task, 11 counts one load only."""
    build = _linked(_cluster(2))
    build.model("m1", size_bytes=8, load_s=10.0)
    flow = build.workflow("f")
    for name in "ABC":
        flow.task(name, 1.0, model="m1")
    build.job("j", "f")
    found = solve(build.build(), "makespan", 10.0, num_workers=1)
    assert (found.status, found.objective) == ("optimal", 12.0)
    assert len(found.schedule.loads) == 2


def test_latency_counts_from_release_and_is_no_horizon():
    """U13."""
    build = _cluster(1)
    build.workflow("a").task("A", 2.0)
    build.workflow("b").task("B", 3.0)
    build.job("ja", "a", release_s=100.0)
    build.job("jb", "b", release_s=101.0)
    found = solve(build.build(), "latency", 10.0, num_workers=1)
    assert (found.status, found.objective) == ("optimal", 3.0)
    assert {run.task: run.end_s for run in found.schedule.runs} == {
        "ja/A": 102.0,
        "jb/B": 105.0,
    }


def test_duplicate_edges_are_refused_or_summed():
    """U07: 30 bytes in all; neither the last nor the first edge wins."""
    build = _cluster(2)
    flow = build.workflow("f").task("A", {"w1": 1.0}).task("B", {"w2": 1.0})
    flow.edge("A", "B", bytes=10).edge("A", "B", bytes=20)
    build.link("w1", "w2", bandwidth_bytes_per_s=10.0)
    build.job("j", "f")
    try:
        instance = build.build()
    except ValueError as error:
        message = str(error)
        is_named = "'A'" in message and "'B'" in message
        if not is_named:
            raise
    else:
        assert solve(instance, "makespan", 10.0).objective == 5.0


def test_forced_apart_without_a_link_is_infeasible_and_no_exception():
    build = _cluster(2)
    flow = build.workflow("f").task("A", {"w1": 1.0}).task("B", {"w2": 1.0})
    flow.edge("A", "B", bytes=1)
    build.job("j", "f")
    found = solve(build.build(), "latency", 5.0)
    assert (found.status, found.objective, found.bound) == ("infeasible", None, None)
    assert found.schedule is None


def test_infeasibility_that_only_a_search_can_see():
    """Each arc alone can be kept, all three together cannot."""
    build = _cluster(3)
    flow = build.workflow("f")
    flow.task("A", {"w1": 1.0, "w2": 1.0}).task("B", {"w2": 1.0, "w3": 1.0})
    flow.task("C", {"w1": 1.0, "w3": 1.0})
    flow.edge("A", "B", bytes=1).edge("B", "C", bytes=1).edge("A", "C", bytes=1)
    build.job("j", "f")
    found = solve(build.build(), "makespan", 20.0, num_workers=1)
    assert (found.status, found.objective) == ("infeasible", None)


def test_zero_jobs_give_an_empty_optimal_schedule():
    found = solve(Instance(workers=()), "latency", 0.0)
    assert (found.status, found.objective, found.bound) == ("optimal", 0.0, 0.0)
    assert found.schedule == Schedule(
        (), (), (), found.schedule.instance_sha256, found.schedule.made_by
    )


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"prefetch": "on_demand"}, "on_demand"),
        ({"evict_bandwidth_bytes_per_s": 1.0}, "timed evictions"),
    ],
)
def test_rules_it_cannot_express_are_refused_by_name(rules, message):
    build = _cluster(1, **rules)
    build.workflow("f").task("t", 1.0)
    build.job("j", "f")
    with pytest.raises(UnsupportedError, match=message):
        solve(build.build())


def test_unknown_names_are_refused():
    with pytest.raises(UnknownNameError, match="unknown objective 'speed'"):
        solve(tiny_instance(1), "speed")
    with pytest.raises(UnsupportedError, match="formulation 'magic'"):
        solve(tiny_instance(1), formulation="magic")


def test_a_bound_above_a_valid_schedule_is_a_bug_not_a_result():
    instance = tiny_instance(1)
    incumbent = Incumbent(instance, "latency")
    incumbent.offer_schedule(get_scheduler("eft").schedule(instance), "eft")
    with pytest.raises(RefereeError, match="exceeds the objective"):
        incumbent.raise_bound(incumbent.value + 1e-3, "a wrong proof")


def test_a_failing_heuristic_is_logged_and_never_fatal(monkeypatch, caplog):
    from placement_lab.errors import PlacementError
    from placement_lab.solvers import warm_start

    def fail(name):
        raise PlacementError("out of order")

    monkeypatch.setattr(warm_start, "_heuristic", fail)
    with caplog.at_level(logging.WARNING):
        found = solve(tiny_instance(2), "latency", 20.0, num_workers=1)
    assert found.status == "optimal"
    assert "out of order" in caplog.text


def test_progress_is_reported_and_never_worsens():
    points = []
    instance = tiny_instance(14, 6)
    found = solve(instance, "latency", 20.0, num_workers=1, on_progress=points.append)
    assert tuple(points) == found.trace
    objectives = [p.objective for p in points if p.objective is not None]
    bounds = [p.bound for p in points if p.bound is not None]
    assert objectives == sorted(objectives, reverse=True)
    assert bounds == sorted(bounds)


def test_the_result_is_strict_json():
    found = solve(tiny_instance(3), "latency", 10.0, num_workers=1)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["objective"] == "latency"
    assert document["objective_s"] == found.objective
    assert set(document) == {
        "objective", "status", "objective_s", "bound_s", "gap", "bound_source",
        "rounding_slack_s", "tick_s", "seconds", "deterministic", "seed", "trace",
        "schedule",
    }  # fmt: skip
    assert "optimal" in str(found)


def _busy_instance():
    from placement_lab.datasets import load_dataset

    return load_dataset("compass-5w", n_jobs=6)


_PRINT = (
    "from tests.solvers.test_solve import print_deterministic; print_deterministic()"
)


def print_deterministic():
    """Print an answer without its wall clock (in another interpreter)."""
    found = solve(_busy_instance(), "latency", 0.4, seed=7, deterministic=True)
    document = found.to_dict()
    del document["seconds"]
    document["trace"] = [
        (point["objective_s"], point["bound_s"]) for point in document["trace"]
    ]
    sys.stdout.write(json.dumps(document))


def test_deterministic_runs_are_the_same_whatever_the_hash_seed():
    """U16."""
    answers = {
        subprocess.run(
            [sys.executable, "-c", _PRINT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(answers) == 1
    assert json.loads(answers.pop())["deterministic"] is True


def test_ctrl_c_returns_the_best_so_far():
    """SIGINT in the middle of a search ends it; the incumbent survives."""
    import _thread

    timer = threading.Timer(2.0, _thread.interrupt_main)
    timer.start()
    started = time.perf_counter()
    found = solve(_busy_instance(), "latency", 120.0)
    timer.cancel()
    if found.status == "optimal":
        pytest.skip("solved before it could be interrupted")
    assert found.interrupted
    assert time.perf_counter() - started < 60.0
    assert found.status == "feasible"
    assert found.bound <= found.objective


def test_identical_tasks_keep_their_optimum_under_permutation():
    for order in (("a", "b", "c", "d"), ("d", "b", "a", "c")):
        build = _linked(_cluster(2))
        flow = build.workflow("f")
        for name in order:
            flow.task(name, 1.0)
        build.job("j", "f")
        plans = [
            solve(build.build(), "makespan", 5.0, seed=7, num_workers=1).schedule
            for _ in range(2)
        ]
        assert plans[0] == plans[1]
        assert plans[0].makespan_s == 2.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "most"),
    [({}, 0.10), ({"prefetch": "clairvoyant"}, 0.06), ({"loading": "blocking"}, 0.20)],
)
def test_compass_5w_is_known_to_within_a_tenth_after_20_seconds(rules, most):
    from placement_lab.datasets import load_dataset

    instance = load_dataset("compass-5w", **rules)
    found = solve(instance, "latency", 20.0)
    assert verify(instance, found.schedule) == []
    assert 0.0 <= found.gap <= most


@pytest.mark.parametrize("hint", [Plan({}, "0" * 64), Schedule((), (), (), "0" * 64)])
def test_a_hint_for_another_instance_is_refused(heft10, hint):
    error = PlanError if isinstance(hint, Plan) else ScheduleError
    with pytest.raises(
        error, match=r"the hint was made for instance 000000000000\.\.\."
    ):
        solve(heft10, "makespan", 0.0, hint=hint)
