"""Caches and eviction policies: reports U18 and U19, and Belady against the rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement_lab.caching import ModelCache, available_policies, get_policy
from placement_lab.errors import PlanError, UnknownNameError

M1, M2, M3 = range(3)


def trace(memory_bytes, sizes, requests, policy, resident=()):
    """Serve requests one after the other; return loads, evictions and the cache."""
    cache = ModelCache(memory_bytes, sizes, policy, resident)
    loads, evicted = 0, []
    for i, model in enumerate(requests):
        ahead = {}
        for distance, later in enumerate(requests[i + 1 :], 1):
            ahead.setdefault(later, distance)
        leaving, loaded = cache.request(model, next_use=ahead)
        evicted += leaving
        loads += loaded
    return loads, evicted, cache


def test_u18_a_hit_refreshes_under_lru_but_not_under_fifo():
    requests = [M1, M2, M1, M3, M1, M2]
    loads, evicted, cache = trace(10, [5, 5, 5], requests, "lru")
    assert (loads, evicted, cache.resident) == (4, [M2, M3], (M1, M2))
    loads, evicted, _ = trace(10, [5, 5, 5], requests, "fifo")
    assert (loads, evicted) == (5, [M1, M2, M3])


@pytest.mark.parametrize("policy", available_policies())
def test_u19_what_can_never_fit_changes_nothing(policy):
    cache = ModelCache(10, [4, 11], policy, [0])
    with pytest.raises(PlanError, match=r"model 1 needs 11 bytes.* has 10"):
        cache.request(1)
    assert cache.resident == (0,)
    assert cache.used_bytes == 4


@pytest.mark.parametrize("policy", available_policies())
def test_u19_as_many_leave_as_are_needed_and_an_exact_fit_needs_none(policy):
    cache = ModelCache(10, [4, 4, 7], policy, [0, 1])
    assert cache.request(2) == ((0, 1), True)
    assert (cache.resident, cache.used_bytes) == ((2,), 7)
    exact = ModelCache(10, [4, 6], policy, [0])
    assert exact.request(1) == ((), True)
    assert (exact.resident, exact.used_bytes) == ((0, 1), 10)


def test_room_beside_the_model_is_made_too():
    cache = ModelCache(10, [4, 4], "lru", [0, 1])
    assert cache.request(1, extra_bytes=5) == ((0,), False)
    with pytest.raises(PlanError, match="model 1 needs 4 bytes and 7 beside it"):
        cache.request(1, extra_bytes=7)


def test_look_ahead_evicts_the_unused_first_and_then_the_farthest():
    policy = get_policy("lookahead")
    order = {0: 1, 1: 2, 2: 3}
    told = {"load_order": order, "last_use": order}
    assert policy.victim([0, 1, 2], next_use={0: 1, 2: 5}, **told) == 1
    assert policy.victim([0, 1, 2], next_use={0: 1, 1: 9, 2: 5}, **told) == 1
    assert policy.victim([0, 1, 2], next_use={}, **told) == 0


@given(st.lists(st.integers(0, 4), max_size=25))
def test_belady_never_loads_more_than_the_others_where_sizes_are_equal(requests):
    loads = {
        policy: trace(3, [1] * 5, requests, policy)[0]
        for policy in available_policies()
    }
    assert loads["belady"] == min(loads.values())


def test_an_unknown_policy_is_named_with_a_suggestion():
    with pytest.raises(UnknownNameError, match="'beladi'; did you mean 'belady'"):
        get_policy("beladi")
    mine = get_policy("fifo")
    assert get_policy(mine) is mine
