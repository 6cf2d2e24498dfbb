import numpy as np
import pytest

from placement_lab.datasets.planted import planted
from placement_lab.errors import UnknownNameError
from placement_lab.problem import Instance, InstanceBuilder
from placement_lab.solvers import brute_force, lower_bound
from tests.solvers.tiny import tiny_instance, with_rules


@pytest.mark.parametrize("loading", ["overlap", "blocking"])
def test_the_area_bound_reaches_planted_optima_of_a_thousand_tasks(loading):
    plan = planted(1000, 8, loading=loading, seed=1)
    found = lower_bound(plan.instance, "makespan", ["area"])
    assert found.bound == pytest.approx(plan.makespan_s, rel=1e-12)
    assert found.bound <= plan.makespan_s + 1e-9


@pytest.mark.parametrize("prefetch", ["clairvoyant", "after_release"])
@pytest.mark.parametrize("objective", ["latency", "makespan", "slowdown", "late"])
def test_no_bound_exceeds_the_optimum(objective, prefetch):
    for seed in range(40):
        features = {"slots": 1 + seed % 2, "zero_lengths": seed % 3 == 0}
        for loading in ("overlap", "blocking"):
            instance = with_rules(tiny_instance(seed, 4, **features), loading, prefetch)
            optimum = brute_force(instance, objective).objective
            for name, bound in lower_bound(instance, objective).bounds.items():
                assert bound is None or bound <= optimum + 1e-9, (seed, loading, name)


def test_the_critical_path_counts_first_loads_transfers_and_releases():
    build = InstanceBuilder(prefetch="after_release")
    build.worker("w0", memory_bytes=4)
    build.model("m", size_bytes=4, load_s=2.0)
    flow = build.workflow("f").task("a", 1.0).task("b", 3.0, model="m")
    flow.edge("a", "b", transfer_s=5.0)
    build.job("j", "f", release_s=10.0)
    instance = build.build()
    assert lower_bound(instance, "makespan", ["critical_path"]).bound == 15.0
    assert lower_bound(instance, "latency", ["critical_path"]).bound == 5.0


def test_tasks_forced_apart_without_a_link_prove_infeasibility():
    build = InstanceBuilder()
    build.worker("w1", memory_bytes=1)
    build.worker("w2", memory_bytes=1)
    flow = build.workflow("f").task("A", {"w1": 1.0}).task("B", {"w2": 1.0})
    flow.edge("A", "B", bytes=1)
    build.job("j", "f")
    found = lower_bound(build.build(), "latency")
    assert np.isinf(found.bound)
    assert found.to_dict()["bound_s"] is None


def test_unequal_workers_share_work_at_their_own_speeds():
    build = InstanceBuilder()
    build.worker("fast", memory_bytes=1)
    build.worker("slow", memory_bytes=1)
    flow = build.workflow("f")
    for i in range(30):
        flow.task(f"t{i}", {"fast": 1.0, "slow": 2.0})
    build.job("j", "f")
    assert lower_bound(build.build(), "makespan").bound == pytest.approx(20.0, rel=1e-3)


def test_nothing_to_do_is_bounded_by_zero():
    assert lower_bound(Instance(workers=())).bound == 0.0


def test_an_unknown_bound_is_refused_by_name():
    with pytest.raises(UnknownNameError, match="unknown bound 'magic'"):
        lower_bound(tiny_instance(1), kinds=["magic"])
