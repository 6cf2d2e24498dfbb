from __future__ import annotations

import pytest

from placement_lab import InstanceBuilder
from placement_lab.schedulers.heft import Heft
from placement_lab.schedulers.peft import Peft, optimistic_cost_s


def fork(**rules):
    """One task, then a long one that only the slower worker of the first can run."""
    build = InstanceBuilder(**rules)
    build.worker("a", 1)
    build.worker("b", 1)
    flow = build.workflow("f").task("x", {"a": 1, "b": 2}).task("y", {"b": 4, "a": 30})
    flow.edge("x", "y", transfer_s=6)
    build.job("j", "f")
    return build.build()


def test_the_optimistic_cost_table_is_that_of_the_definition():
    # From a: stay (30) or move (6 + 4); from b: stay (4) or move (6 + 30).
    assert optimistic_cost_s(fork()).tolist() == [[10, 4], [0, 0]]


def test_looking_ahead_beats_heft_where_the_next_step_is_elsewhere():
    assert Heft().schedule(fork()).makespan_s == pytest.approx(11)
    assert Peft().schedule(fork()).makespan_s == pytest.approx(6)


def test_a_missing_link_leaves_only_staying():
    build = InstanceBuilder()
    build.worker("a", 1)
    build.worker("b", 1)
    flow = build.workflow("f").task("x", {"a": 1, "b": 2}).task("y", {"b": 4})
    flow.edge("x", "y")
    build.job("j", "f")
    instance = build.build()
    assert optimistic_cost_s(instance).tolist() == [[float("inf"), 4], [0, 0]]
    assert {run.worker for run in Peft().schedule(instance).runs} == {"b"}
