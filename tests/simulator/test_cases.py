"""Faults that users of similar tools met, as cases of the simulator (cases.json)."""

from __future__ import annotations

import pytest

from placement_lab import InstanceBuilder, Schedule, evaluate, verify
from placement_lab.errors import PlanError, ProblemError
from placement_lab.policy import OnlinePolicy
from placement_lab.schedulers.compass import Compass
from placement_lab.simulator import simulate
from tests.cases_adapter import cases, to_instance


class OnFirst(OnlinePolicy):
    """Places everything on the first worker."""

    name = "on_first"

    def on_job(self, job, view):
        first, last = view.profile.job_ptr[job : job + 2]
        return [0] * (last - first)


def cache_trace(case: dict, *, load_s: float = 1.0, policy: str = "lru") -> Schedule:
    """Request one model after the other, each when the one before is done."""
    build = InstanceBuilder(prefetch="on_demand")
    build.worker("w", case["memory_bytes"], resident=case.get("resident", []))
    for name, size_bytes in case["models"].items():
        build.model(name, size_bytes, load_s=load_s)
        build.workflow(name).task("t", 1.0, model=name)
    for i, name in enumerate(case["requests"]):
        build.job(f"r{i}", name, release_s=10.0 * i)
    return simulate(build.build(), OnFirst(), evict=policy)


def test_u18_lru_refreshes_on_a_hit():
    case = cases()["U18"]
    schedule = cache_trace(case["input"])
    assert len(schedule.loads) == case["expected"]["loads"]
    assert [one.model for one in schedule.evictions] == case["expected"]["evicted"]
    hits = len(case["input"]["requests"]) - len(schedule.loads)
    assert hits == case["expected"]["hits"]
    assert len(cache_trace(case["input"], policy="fifo").loads) == 5


def u19(name: str) -> tuple[dict, dict]:
    case = cases()["U19"]
    [one] = [sub for sub in case["input"]["subcases"] if sub["name"] == name]
    return case["input"] | one, case["expected"][name]


def test_u19_a_model_that_never_fits_is_refused_before_anything_changes():
    trace, expected = u19("too_big")
    with pytest.raises((ProblemError, PlanError)) as caught:
        cache_trace(trace)
    assert all(word in str(caught.value) for word in expected["error_mentions"])


@pytest.mark.parametrize("name", ["two_victims", "exact_fit"])
def test_u19_as_many_leave_as_must(name):
    trace, expected = u19(name)
    schedule = cache_trace(trace)
    gone = [one.model for one in schedule.evictions]
    assert gone == expected.get("evicted", [])
    here = [*trace["resident"], *(one.model for one in schedule.loads)]
    assert [model for model in here if model not in gone] == expected["resident"]


def concurrent(name: str) -> tuple[Schedule, list[float], dict]:
    case = cases()["U20"]
    [one] = [sub for sub in case["input"]["subcases"] if sub["name"] == name]
    build = InstanceBuilder()
    build.worker("w", one["memory_bytes"])
    for model, fields in one["models"].items():
        build.model(model, **fields)
        build.workflow(model).task("t", one["runtime_s"], model=model)
    for i, model in enumerate(one["requests_at_0"]):
        build.job(f"r{i}", model)
    instance = build.build()
    schedule = simulate(instance, OnFirst())
    assert verify(instance, schedule) == []
    return schedule, sorted(run.end_s for run in schedule.runs), case["expected"][name]


def test_u20_one_load_serves_two_requests():
    schedule, ends_s, expected = concurrent("single_flight")
    assert len(schedule.loads) == expected["loads"]
    assert ends_s == expected["end_s_sorted"]


def test_u20_a_load_in_flight_keeps_its_room():
    schedule, ends_s, expected = concurrent("reservation")
    assert len(schedule.loads) == expected["loads"]
    assert ends_s[-1] == expected["makespan_s"]


def test_u22_a_deadline_is_not_missed_by_rounding():
    case = cases()["U22"]
    [sub] = [one for one in case["input"]["subcases"] if one["name"] == "deadline"]
    instance = to_instance(sub["instance"])
    document = instance.to_dict()
    document["jobs"][0]["deadline_s"] = sub["deadline_s"]["B"]
    instance = type(instance).from_dict(document)
    schedule = simulate(instance, Compass())
    assert schedule.makespan_s == pytest.approx(0.3, abs=1e-9)
    assert evaluate(instance, schedule).late_weight == 0
    assert verify(instance, schedule) == []


def test_u22_ten_tenths_end_at_one():
    build = InstanceBuilder()
    build.worker("w", 1)
    build.workflow("f").task("t", 0.1)
    for i in range(10):
        build.job(f"j{i}", "f", deadline_s=1.0)
    instance = build.build()
    schedule = simulate(instance, Compass())
    assert schedule.makespan_s == pytest.approx(1.0, abs=1e-9)
    assert evaluate(instance, schedule).late_weight == 0
    assert verify(instance, schedule) == []
