"""The bundled workloads: which jobs, which rules, which caches."""

from __future__ import annotations

import pytest

from placement_lab.datasets import golden_arrivals, load_dataset
from placement_lab.datasets.compass import WORKER_MEMORY_BYTES
from placement_lab.errors import ProblemError


def test_the_standard_workload_is_the_first_twelve_jobs_of_the_trace():
    instance = load_dataset("compass-5w")
    first = golden_arrivals("compass_5w_2rps")[:12]
    assert (len(instance.jobs), instance.n_tasks) == (12, 46)
    assert [(job.id, job.release_s, job.ingress) for job in instance.jobs] == [
        (f"j{one.job}", one.created_s, one.planning_worker) for one in first
    ]
    assert (instance.rules.loading, instance.rules.prefetch) == (
        "overlap",
        "after_release",
    )
    assert [worker.kind for worker in instance.workers] == ["T4"] * 5
    assert {worker.memory_bytes for worker in instance.workers} == {14_000_000_000}
    assert len(instance.models) == 8  # shared between the workflows
    assert all(worker.resident == () for worker in instance.workers)


@pytest.mark.parametrize(
    ("variant", "n_tasks", "loading", "prefetch"),
    [
        ("blocking", 46, "blocking", "after_release"),
        ("clairvoyant", 46, "overlap", "clairvoyant"),
        ("30-jobs", 118, "overlap", "after_release"),
        ("100-jobs", 391, "overlap", "after_release"),
    ],
)
def test_a_variant_changes_one_thing(variant, n_tasks, loading, prefetch):
    instance = load_dataset("compass-5w", variant=variant)
    assert instance.n_tasks == n_tasks
    assert (instance.rules.loading, instance.rules.prefetch) == (loading, prefetch)


def test_jobs_are_whole_where_the_trace_ends_before_they_do():
    instance = load_dataset("compass-5w", first_job=998, n_jobs=5)
    assert [job.id for job in instance.jobs][-1] == "j1000"  # one task in the trace
    assert instance.jobs[-1].workflow == "translation"


def test_a_window_starts_at_time_zero_with_its_first_job():
    instance = load_dataset("compass-5w", first_job=20, n_jobs=3)
    created = [one.created_s for one in golden_arrivals("compass_5w_2rps")[20:23]]
    assert [job.release_s for job in instance.jobs] == [
        one - created[0] for one in created
    ]


def test_a_warm_window_starts_with_the_models_that_the_trace_leaves():
    cold = load_dataset("compass-5w", first_job=100)
    warm = load_dataset("compass-5w", warm=True)
    assert warm.jobs == cold.jobs
    assert [worker.resident for worker in warm.workers] == [
        ("opt", "nli", "mt5", "vit"),
        ("marian", "opt", "depth", "txt2speech"),
        ("vit", "txt2speech", "opt", "marian", "nli"),
        ("marian", "opt", "nli", "detr", "mt5"),
        ("depth", "vit", "mt5", "nli", "detr"),
    ]


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("first_job", [1, 5, 50, 500])
def test_warm_caches_fit_the_memory(first_job, shared):
    instance = load_dataset(
        "compass-5w", warm=True, first_job=first_job, shared_models=shared
    )
    for worker in instance.workers:
        held = sum(instance.model(name).size_bytes for name in worker.resident)
        assert held <= WORKER_MEMORY_BYTES


def test_models_of_workflows_can_be_told_apart():
    instance = load_dataset("compass-5w", shared_models=False)
    assert len(instance.models) == 10
    used = {task.model for flow in instance.workflows for task in flow.tasks}
    assert {"translation.opt", "question_answer.opt"} <= used


def test_the_other_traces_have_their_own_clusters():
    assert len(load_dataset("compass-40w-40rps").workers) == 40
    slow = load_dataset("compass-5w-0p5rps", n_jobs=1000)
    assert slow.jobs[-1].release_s > 1900


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variant": "fast"}, "variant: must be one of blocking, .*got 'fast'"),
        ({"n_jobs": -1}, "n_jobs: must be 0 to 1003, got -1"),
        ({"n_jobs": 1004}, "n_jobs: must be 0 to 1003, got 1004"),
        ({"n_jobs": 1.5}, "n_jobs: must be a whole number, got 1.5"),
        ({"first_job": 1000, "n_jobs": 4}, "n_jobs: must be 0 to 3, got 4"),
        ({"first_job": 0, "warm": True}, "first_job: must be 1 to 1003, got 0"),
        (
            {"loading": "eager"},
            "loading: must be one of overlap, blocking, got 'eager'",
        ),
        ({"prefetch": None}, "prefetch: must be one of .*, got None"),
        ({"warm": "yes"}, "warm: must be true or false, got 'yes'"),
        ({"shared_models": 1}, "shared_models: must be true or false, got 1"),
    ],
)
def test_a_wrong_option_is_refused_with_its_name_and_value(options, message):
    with pytest.raises(ProblemError, match=message):
        load_dataset("compass-5w", **options)


def test_no_jobs_at_all_are_allowed():
    instance = load_dataset("compass-5w", n_jobs=0)
    assert instance.jobs == ()
