"""The compiled kernels and their readable forms give the same bits."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from placement_lab import Instance, InstanceBuilder
from placement_lab.schedulers import _kernels
from placement_lab.schedulers._domains import Choices
from placement_lab.schedulers._insertion import place_readable
from placement_lab.schedulers._planning import planning_input
from placement_lab.schedulers.ranks import longest_path_readable
from tests.schedulers.random_instances import instances


def assert_same_placement(
    instance: Instance, rng: np.random.Generator, *, with_extras: bool
) -> None:
    arrays = instance.arrays
    n, n_workers = arrays.n_tasks, arrays.n_workers
    problem = planning_input(arrays)
    priority = rng.integers(0, 4, n) / 3.0
    wanted, look_ahead_s = np.full(n, -1), np.zeros((0, 0))
    if with_extras:
        wanted = rng.integers(-1, n_workers, n)
        look_ahead_s = rng.uniform(0, 3, (n, n_workers))
    compiled = _kernels.place(problem, priority, wanted, look_ahead_s)
    choices = Choices(arrays)
    readable = place_readable(problem, priority, wanted, look_ahead_s, choices)
    for ours, theirs in zip(compiled, readable, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@settings(max_examples=100, deadline=None)
@given(
    instance=instances(linked=True),
    seed=st.integers(0, 2**32 - 1),
    with_extras=st.booleans(),
)
def test_placing_small_instances(instance: Instance, seed: int, with_extras: bool):
    rng = np.random.default_rng(seed)
    assert_same_placement(instance, rng, with_extras=with_extras)


def test_placing_many_tasks_with_many_gaps():
    rng = np.random.default_rng(7)
    build = InstanceBuilder()
    for w in range(3):
        build.worker(f"w{w}", 1, slots=1 + w % 2)
    build.default_link(3.0, latency_s=0.1)
    flow = build.workflow("f")
    n = 200
    for t in range(n):
        flow.task(f"t{t}", {f"w{w}": float(rng.uniform(0, 2)) for w in range(3)})
        for pred in sorted(set(rng.integers(0, t, 2).tolist()) if t else ()):
            flow.edge(f"t{pred}", f"t{t}", bytes=float(rng.uniform(0, 9)))
    for j in range(3):
        build.job(f"j{j}", "f", release_s=float(rng.uniform(0, 50)))
    instance = build.build()
    assert_same_placement(instance, rng, with_extras=False)
    assert_same_placement(instance, rng, with_extras=True)


@settings(max_examples=50, deadline=None)
@given(instance=instances(linked=True), seed=st.integers(0, 2**32 - 1))
def test_longest_paths(instance: Instance, seed: int):
    arrays = instance.arrays
    rng = np.random.default_rng(seed)
    hop_s = rng.uniform(0, 5, len(arrays.succ_task))
    own_s = rng.uniform(0, 5, arrays.n_tasks)
    order = arrays.topological[::-1].copy()
    graph = (order, arrays.succ_ptr, arrays.succ_task, hop_s, own_s)
    np.testing.assert_array_equal(
        _kernels.longest_path_s(*graph), longest_path_readable(*graph)
    )
