"""Cycles: found where there is one, and only their own members named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement_lab.problem.cycles import find_cycle


@given(st.integers(1, 12), st.data())
def test_a_cycle_is_one_and_its_absence_is_an_order(n, data):
    nodes = [f"n{i}" for i in range(n)]
    pairs = st.tuples(st.sampled_from(nodes), st.sampled_from(nodes))
    edges = data.draw(st.lists(pairs, max_size=30, unique=True))
    cycle = find_cycle(nodes, edges)
    if cycle:
        assert len(set(cycle)) == len(cycle)
        following = [*cycle[1:], cycle[0]]
        assert set(zip(cycle, following, strict=True)) <= set(edges)
        assert cycle[0] == min(cycle, key=nodes.index)
        return
    done: set[str] = set()
    while len(done) < n:  # some task's predecessors are always done
        waiting = {dst for src, dst in edges if src not in done}
        new = set(nodes) - done - waiting
        assert new
        done |= new


@pytest.mark.parametrize("n", [50_000])
def test_a_long_cycle_takes_no_quadratic_time(n):
    nodes = [f"n{i}" for i in range(n)]
    edges = [(nodes[i], nodes[(i + 1) % n]) for i in range(n)]
    assert find_cycle(nodes, edges) == tuple(nodes)
