"""`Profile` holds the numbers of `InstanceArrays`, in another shape."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from placement_lab.policy import FixedView, Profile
from tests.strategies import instances


@settings(max_examples=60, deadline=None)
@given(instances())
def test_a_profile_agrees_with_the_arrays(instance):
    arrays = instance.arrays
    profile = Profile(arrays)
    workers = range(arrays.n_workers)
    for task in range(arrays.n_tasks):
        row = profile.task_row[task]
        assert profile.runtime_s[row] == tuple(arrays.runtime_s[task].tolist())
        assert profile.row_model[row] == arrays.model[task]
        assert profile.row_memory_bytes[row] == arrays.memory_bytes[task]
        a, b = arrays.pred_ptr[task : task + 2]
        preds = [task + distance for distance, _ in profile.row_preds[row]]
        assert preds == arrays.pred_task[a:b].tolist()
        a, b = arrays.succ_ptr[task : task + 2]
        assert profile.row_succs[row] == tuple(
            zip(
                (arrays.succ_task[a:b] - task).tolist(),
                arrays.succ_edge[a:b].tolist(),
                strict=True,
            )
        )
        ingress = profile.job_ingress[profile.task_job[task]]
        for w in workers:
            moved_s = profile.input_transfer_s(row, ingress, w)
            assert moved_s == arrays.input_transfer_s(task, w)
            assert (w in profile.eligible[row]) == np.isfinite(
                arrays.runtime_s[task, w]
            )
    for edge in range(len(arrays.edge_bytes)):
        for a in workers:
            for b in workers:
                moved_s = profile.transfer_s(edge, a, b)
                assert moved_s == arrays.transfer_s(edge, a, b)


@settings(max_examples=30, deadline=None)
@given(instances(max_tasks=3))
def test_a_fixed_view_of_nothing_is_an_idle_cold_cluster(instance):
    view = FixedView(Profile(instance.arrays))
    assert view.queue_wait_s() == [0.0] * len(instance.workers)
    assert view.resident_bits() == view.expected_bits() == [0] * len(instance.workers)
    assert view.free_bytes() == [worker.memory_bytes for worker in instance.workers]


def test_a_fixed_view_can_be_given_numbers():
    from placement_lab import InstanceBuilder

    build = InstanceBuilder()
    build.worker("w0", 10)
    build.model("a", 3, load_s=1.0)
    build.model("b", 4, load_s=1.0)
    view = FixedView(Profile(build.build().arrays), wait_s=[2.0], resident=[0b10])
    assert view.queue_wait_at_s(0) == 2.0
    assert view.free_bytes() == [6]
