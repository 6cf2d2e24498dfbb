from __future__ import annotations

import pytest

from placement_lab import InstanceBuilder
from placement_lab.datasets import load_dataset
from placement_lab.schedulers.cpop import Cpop, critical_path
from placement_lab.schedulers.ranks import downward_rank_s, upward_rank_s


def test_the_papers_example_takes_86():
    instance = load_dataset("heft10")
    assert Cpop().schedule(instance).makespan_s == pytest.approx(86)


def test_the_papers_critical_path_runs_on_its_second_worker():
    instance = load_dataset("heft10")
    priority = upward_rank_s(instance) + downward_rank_s(instance)
    path = critical_path(instance.arrays, priority)
    assert path == [0, 1, 8, 9]  # t1, t2, t9, t10
    assert Cpop().plan(instance).worker[path].tolist() == [1] * 4


def test_a_path_that_no_worker_can_run_whole_goes_where_most_of_it_can():
    build = InstanceBuilder()
    build.worker("a", 1)
    build.worker("b", 1)
    build.default_link(1.0)
    flow = build.workflow("f").task("x", {"a": 1})
    flow.task("y", {"a": 1, "b": 5}).task("z", {"b": 9, "a": 20}).task("u", {"b": 1})
    flow.chain("x", "y", "z", "u")
    build.job("j", "f")
    instance = build.build()
    assert Cpop().plan(instance).worker.tolist() == [0, 1, 1, 1]
