"""Brute force and CP-SAT share no formulation; on tiny instances they must agree."""

from __future__ import annotations

import pytest

from placement_lab import verify
from placement_lab.metrics import objective_value
from placement_lab.schedulers import available_schedulers, get_scheduler
from placement_lab.solvers import brute_force, lower_bound, solve
from tests.solvers.tiny import tiny_instance, with_rules

FEATURES = (
    {},
    {"zero_lengths": True},
    {"own_memory": True},
    {"slots": 2, "own_memory": True},
    {"own_transfer": True, "no_link": True},
    {},
)
PREFETCH = ("after_release", "clairvoyant")


def _compare(seed, loading, objective, most_tasks=5):
    features = FEATURES[seed % len(FEATURES)]
    instance = with_rules(
        tiny_instance(seed, most_tasks, **features), loading, PREFETCH[seed // 6 % 2]
    )
    truth = brute_force(instance, objective)
    found = solve(instance, objective, 60.0, num_workers=1)
    where = (seed, loading, objective, instance.rules.prefetch)
    assert found.status == truth.status, where
    if truth.objective is None:
        assert found.objective is None
        return None
    assert found.objective == pytest.approx(truth.objective, abs=1e-9), where
    assert found.bound <= truth.objective + 1e-9, where
    assert lower_bound(instance, objective).bound <= truth.objective + 1e-9, where
    assert verify(instance, found.schedule) == []
    return instance, truth.objective


@pytest.mark.parametrize("loading", ["overlap", "blocking"])
@pytest.mark.parametrize("objective", ["latency", "makespan"])
@pytest.mark.parametrize("batch", range(6))
def test_brute_force_and_cp_sat_find_the_same_optimum(batch, loading, objective):
    for seed in range(batch, 300, 6):
        _compare(seed, loading, objective)


def test_a_load_without_length_waits_for_the_last_use_of_the_copy_it_replaces():
    _compare(1537, "overlap", "latency", most_tasks=6)


@pytest.mark.parametrize("objective", ["slowdown", "late"])
def test_slow_down_and_lateness_agree_too(objective):
    for seed in range(300, 330):
        _compare(seed, "overlap", objective)


def test_no_scheduler_beats_the_proven_optimum_or_breaks_a_rule():
    for seed in range(24):
        proven = _compare(seed, "overlap", "latency")
        if proven is None:
            continue
        instance, optimum = proven
        for name in available_schedulers():
            schedule = get_scheduler(name).schedule(instance, seed=0)
            assert verify(instance, schedule) == [], (seed, name)
            value = objective_value(instance, schedule, "latency")
            assert value >= optimum - 1e-9, (seed, name)


@pytest.mark.slow
@pytest.mark.parametrize("loading", ["overlap", "blocking"])
@pytest.mark.parametrize("objective", ["latency", "makespan", "slowdown", "late"])
def test_they_agree_on_a_thousand_larger_instances(loading, objective):
    for seed in range(1000, 2000):
        _compare(seed, loading, objective, most_tasks=6)
