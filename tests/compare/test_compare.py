"""Comparisons: every number passed the referee, and the gap is never negative."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import placement_lab as pl
from placement_lab.compare import Comparison, ComparisonInterrupted, Progress
from placement_lab.datasets import load_dataset
from placement_lab.errors import RefereeError, UnknownNameError, UnsupportedError
from placement_lab.metrics import OBJECTIVES, objective_value
from placement_lab.schedulers import available_schedulers
from placement_lab.solvers import Result, solve

ROW_KEYS = {
    "scheduler",
    "objective_s",
    "replayed_objective_s",
    "gap",
    "excess",
    "mean_slowdown",
    "p95_slowdown",
    "hit_rate",
    "bytes_loaded",
    "seconds",
    "violations",
}


def case_u12() -> pl.Instance:
    """Return three tasks that need one model on two workers: 2 + 1 is the best."""
    build = pl.InstanceBuilder("U12")
    for name in ("w1", "w2"):
        build.worker(name, memory_bytes=10)
    build.model("m1", size_bytes=8, load_s=10)
    build.default_link(1e9)
    for name in "ABC":
        build.workflow(name).task(name, runtime_s=1, model="m1")
        build.job(name, name)
    return build.build()


def one_job(**rules) -> pl.Instance:
    build = pl.InstanceBuilder("one", **rules)
    build.worker("w0", memory_bytes=10, load_bandwidth_bytes_per_s=5)
    build.model("m", size_bytes=5)
    build.model("n", size_bytes=8)
    flow = build.workflow("f")
    flow.task("a", runtime_s=1.0, model="m")
    flow.task("b", runtime_s=1.0, model="n")
    flow.edge("a", "b")
    build.job("j", "f", release_s=1.0)
    return build.build()


class Fake:
    """A scheduler that hands out what it was given, or raises it."""

    def __init__(self, answer) -> None:
        self.name, self.answer = "fake", answer

    def schedule(self, instance, *, seed=0):
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@pytest.fixture
def fake(monkeypatch):
    def install(answer):
        monkeypatch.setattr(
            "placement_lab.schedulers.get_scheduler", lambda name: Fake(answer)
        )

    return install


def test_case_u12_no_method_beats_the_proven_optimum():
    found = pl.compare(case_u12(), objective="makespan", time_limit_s=60)
    assert found.reference.status == "optimal"
    assert found.reference.objective == pytest.approx(12.0, abs=1e-6)
    assert len(found.reference.schedule.loads) == 2
    assert {row.scheduler for row in found.rows} == set(available_schedulers())
    assert all(row.gap >= 0.0 for row in found.rows)
    assert all(row.objective >= 12.0 - 1e-9 for row in found.rows)
    # 22: a load charged to each of two tasks; 11: only one load counted.
    assert not {22.0, 11.0} & {row.objective for row in found.rows}


def test_case_u22_sums_of_tenths_are_not_late():
    build = pl.InstanceBuilder("U22")
    build.worker("w1", memory_bytes=1)
    flow = build.workflow("f")
    flow.task("A", runtime_s=0.1)
    flow.task("B", runtime_s=0.2)
    flow.edge("A", "B")
    build.workflow("tenth").task("t", runtime_s=0.1)
    build.job("j", "f", deadline_s=0.3)
    found = pl.compare(build.build(), objective="late", time_limit_s=2)
    assert {row.objective for row in found.rows} == {0.0}
    assert {row.gap for row in found.rows} == {0.0}
    assert {row.excess for row in found.rows} == {0.0}


def test_a_row_says_what_happened_and_what_the_same_decisions_give_left_shifted():
    instance = one_job()
    found = pl.compare(instance, ["jit"], time_limit_s=2)
    (row,) = found.rows
    assert row.objective == objective_value(instance, row.schedule)
    # Online, the second load starts when its task is ready; it could come at once.
    assert row.replayed_objective <= row.objective
    assert row.metrics.n_loads == 2


def test_the_json_has_the_documented_keys():
    found = pl.compare(case_u12(), ["heft", "eft"], time_limit_s=2)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["objective"] == "latency"
    assert set(document["reference"]) >= {
        "status",
        "objective_s",
        "bound_s",
        "gap",
        "bound_source",
        "rounding_slack_s",
        "seconds",
        "trace",
        "schedule",
    }
    assert [row["scheduler"] for row in document["rows"]] == ["heft", "eft"]
    assert all(set(row) >= ROW_KEYS for row in document["rows"])
    assert all(row["violations"] == 0 for row in document["rows"])


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_gaps_and_excesses_follow_from_objective_and_bound(objective):
    instance = load_dataset("compass-5w", n_jobs=3)
    found = pl.compare(instance, ["heft", "hash"], objective, time_limit_s=1)
    best = found.instances[0].best_known
    for row in found.rows:
        if row.objective > 0:
            gap = (row.objective - found.reference.bound) / row.objective
            assert row.gap == pytest.approx(gap, abs=1e-9)
        if best > 0:
            assert row.excess == pytest.approx(row.objective / best - 1.0)


def test_the_best_known_is_no_worse_than_any_row_or_the_reference():
    found = pl.compare(load_dataset("compass-5w", n_jobs=4), time_limit_s=0.5)
    best = found.instances[0].best_known
    values = [row.objective for row in found.rows]
    values += [row.replayed_objective for row in found.rows]
    assert best == min([*values, found.reference.objective])
    # The solver was told of the best heuristic.
    assert found.reference.objective <= min(values) + 1e-9


def test_an_invalid_schedule_is_an_error_row(fake):
    instance = one_job()
    good = pl.replay(instance, pl.complete(instance, {"w0": ["j/a", "j/b"]}))
    first = good.runs[0]
    early = first._replace(start_s=first.start_s - 0.5, end_s=first.end_s - 0.5)
    fake(replace(good, runs=(early, *good.runs[1:])))
    (row,) = pl.compare(instance, ["fake"], time_limit_s=1).rows
    assert row.objective is None
    assert row.gap is None
    assert len(row.violations) >= 1
    assert "breaks the rules" in row.error
    assert row.to_dict()["violations"] == len(row.violations)


def test_a_scheduler_that_refuses_the_instance_is_an_error_row(fake):
    fake(UnsupportedError("not with two models"))
    found = pl.compare(one_job(), ["fake"], time_limit_s=1)
    assert found.rows[0].error == "not with two models"
    assert found.reference.objective is not None
    assert "without a valid schedule: fake" in str(found)


def test_a_scheduler_that_crashes_is_not_hidden(fake):
    fake(ZeroDivisionError("a bug"))
    with pytest.raises(ZeroDivisionError, match="a bug"):
        pl.compare(one_job(), ["fake"], time_limit_s=1)


def test_a_schedule_below_the_bound_is_a_bug_and_no_row(monkeypatch):
    def boast(instance, objective, limit, **options) -> Result:
        found = solve(instance, objective, 0.0, **options)
        return replace(found, bound=2.0 * found.objective, status="optimal")

    monkeypatch.setattr("placement_lab.solvers.solve", boast)
    with pytest.raises(RefereeError, match=r"below the proven bound .* a bug"):
        pl.compare(one_job(), ["heft"], time_limit_s=1)


def test_a_reference_that_breaks_the_rules_is_a_bug(monkeypatch):
    def cheat(instance, objective, limit, **options) -> Result:
        found = solve(instance, objective, 0.0, **options)
        return replace(found, schedule=replace(found.schedule, loads=()))

    monkeypatch.setattr("placement_lab.solvers.solve", cheat)
    with pytest.raises(RefereeError, match="the reference breaks"):
        pl.compare(one_job(), ["heft"], time_limit_s=1)


@pytest.mark.parametrize(
    "rules",
    [{"prefetch": "on_demand"}, {"evict_bandwidth_bytes_per_s": 5.0}],
    ids=["on_demand", "timed evictions"],
)
@pytest.mark.parametrize("loading", ["overlap", "blocking"])
def test_rules_that_the_solver_refuses_get_the_bound_of_a_relaxed_sibling(
    rules, loading
):
    found = pl.compare(one_job(loading=loading, **rules), time_limit_s=2)
    assert "relaxed sibling" in found.reference.bound_source
    assert found.reference.status in ("feasible", "optimal")
    assert found.reference.bound > 0
    assert all(row.gap >= 0 for row in found.rows)
    assert pl.verify(found.instances[0].instance, found.reference.schedule) == []


def test_foresight_is_shown_where_loads_wait_for_releases():
    waiting = pl.compare(one_job(), ["heft"], time_limit_s=2).instances[0]
    # The one load that can come before the release, at 1 s, takes 1 s.
    gain = waiting.reference.objective - waiting.clairvoyant.objective
    assert gain == pytest.approx(1.0, abs=1e-6)


def test_there_is_no_second_line_where_foresight_cannot_help():
    for instance in (one_job(prefetch="clairvoyant"), case_u12()):
        found = pl.compare(instance, ["heft"], time_limit_s=2)
        assert found.instances[0].clairvoyant is None


def test_a_better_bound_of_the_sibling_is_taken_over(monkeypatch):
    def weak(instance, *args, **options) -> Result:
        found = solve(instance, *args, **options)
        if instance.rules.prefetch == "clairvoyant":
            return found
        return replace(found, bound=0.5, gap=0.9, status="feasible")

    monkeypatch.setattr("placement_lab.solvers.solve", weak)
    found = pl.compare(one_job(), ["heft"], time_limit_s=2).instances[0]
    assert found.bound == found.clairvoyant.bound > 0.5
    assert found.reference.bound_source.endswith("of the clairvoyant sibling")
    expected = 1.0 - found.bound / found.reference.objective
    assert found.reference.gap == pytest.approx(expected)


def test_no_jobs_no_cost():
    empty = pl.Instance(workers=(pl.Worker("w0", 0),))
    found = pl.compare(empty, time_limit_s=1)
    assert found.reference.status == "optimal"
    assert {row.objective for row in found.rows} == {0.0}
    assert {row.gap for row in found.rows} == {0.0}
    assert {row.excess for row in found.rows} == {0.0}


def test_without_time_the_best_heuristic_is_the_reference():
    found = pl.compare(load_dataset("compass-5w", n_jobs=3), time_limit_s=0)
    assert found.reference.objective <= min(row.objective for row in found.rows)
    assert found.reference.bound > 0


def test_several_instances_give_paired_distributions():
    instances = [load_dataset("tiny", seed=seed) for seed in range(3)]
    found = pl.compare(instances, ["heft", "jit"], time_limit_s=1)
    assert len(found.instances) == 3
    assert len(found.rows) == 6
    assert [one.scheduler for one in found.distributions] == ["heft", "jit"]
    assert all(one.n + one.n_failed == 3 for one in found.distributions)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [len(one["rows"]) for one in document["instances"]] == [2, 2, 2]
    with pytest.raises(ValueError, match="3 instances were compared"):
        _ = found.reference


def test_seeds_of_one_instance_share_one_reference():
    instance = load_dataset("compass-5w", n_jobs=3)
    found = pl.compare(instance, ["hash"], time_limit_s=0.5, seeds=3, seed=5)
    assert [one.seed for one in found.instances] == [5, 6, 7]
    assert len({id(one.reference) for one in found.instances}) == 1
    assert found.distributions[0].n == 3


def test_the_default_is_the_bundled_workload():
    found = pl.compare(schedulers=["heft"], time_limit_s=0)
    assert found.instances[0].instance.sha256 == load_dataset("compass-5w").sha256


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"schedulers": ["heft", "hetf"]}, "did you mean 'heft'"),
        ({"objective": "latncy"}, "did you mean 'latency'"),
    ],
)
def test_wrong_names_are_refused_before_any_work(options, words):
    def fail(progress):
        raise AssertionError("work began")

    with pytest.raises(UnknownNameError, match=words):
        pl.compare(case_u12(), **options, on_progress=fail)


def test_progress_tells_the_stage_and_what_the_solver_found():
    seen: list[Progress] = []
    pl.compare(one_job(), ["heft", "eft"], time_limit_s=2, on_progress=seen.append)
    assert [(one.stage, one.name) for one in seen[:2]] == [
        ("schedule", "heft"),
        ("schedule", "eft"),
    ]
    assert next(one.stage for one in seen if one.objective is not None) == "solve"
    assert "clairvoyant" in {one.stage for one in seen}
    assert all(one.limit_s in (0.0, 1.6, 0.4) for one in seen)


def interrupted_at(stage: str, **options) -> Comparison:
    def stop(progress):
        if progress.stage == stage and progress.name != "heft":
            raise KeyboardInterrupt

    with pytest.raises(ComparisonInterrupted) as caught:
        pl.compare(
            one_job(), ["heft", "eft"], time_limit_s=1, on_progress=stop, **options
        )
    return caught.value.partial


def test_an_interruption_keeps_the_rows_so_far():
    partial = interrupted_at("schedule")
    assert partial.interrupted
    assert [row.scheduler for row in partial.rows] == ["heft"]
    assert partial.rows[0].gap is not None
    assert partial.reference.objective == partial.rows[0].objective


def test_an_interruption_of_the_second_line_keeps_the_first():
    partial = interrupted_at("clairvoyant")
    assert partial.reference.status == "optimal"
    assert len(partial.rows) == 2
    assert partial.instances[0].clairvoyant is None


def test_a_solver_that_was_interrupted_ends_the_comparison(monkeypatch):
    def stopped(*args, **options) -> Result:
        return replace(solve(*args, **options), interrupted=True)

    monkeypatch.setattr("placement_lab.solvers.solve", stopped)
    with pytest.raises(ComparisonInterrupted) as caught:
        pl.compare([one_job(), one_job()], ["heft"], time_limit_s=1)
    assert len(caught.value.partial.instances) == 1


def test_the_summary_ranks_schedulers():
    instance = load_dataset("compass-5w", n_jobs=4)
    found = pl.compare(instance, ["heft_stateless", "eft"], time_limit_s=0)
    lines = [line.strip() for line in str(found).splitlines()]
    assert "feasible" in lines[0]
    assert lines[1].startswith("eft: ")
    assert lines[2].startswith("heft_stateless: ")
