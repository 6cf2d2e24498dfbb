"""Gaps over several instances."""

from __future__ import annotations

import numpy as np
import pytest

from placement_lab.compare.distributions import gap_distributions


def by_name(gaps, **options):
    return {one.scheduler: one for one in gap_distributions(gaps, **options)}


def test_the_baseline_has_the_smallest_mean_gap():
    found = by_name({"a": [0.2, 0.4], "b": [0.1, 0.2]})
    assert {one.baseline for one in found.values()} == {"b"}
    assert found["a"].mean_gap == pytest.approx(0.3)
    assert found["a"].mean_difference == pytest.approx(0.15)
    assert found["b"].mean_difference == 0.0
    assert found["b"].mean_difference_interval == (0.0, 0.0)


def test_equal_means_leave_the_first_as_baseline():
    assert by_name({"b": [0.1, 0.2], "a": [0.1, 0.2]})["a"].baseline == "b"


def test_a_constant_difference_has_an_interval_of_no_width_however_the_gaps_spread():
    easy_or_hard = np.linspace(0.0, 0.9, 10)
    found = by_name({"a": list(easy_or_hard + 0.05), "b": list(easy_or_hard)})["a"]
    low, high = found.mean_difference_interval
    assert low == pytest.approx(0.05)
    assert high == pytest.approx(0.05)
    wide_low, wide_high = found.mean_gap_interval
    assert wide_high - wide_low > 0.1


def test_intervals_agree_with_the_normal_approximation_where_it_holds():
    gaps = np.random.default_rng(1).uniform(0.0, 1.0, 400)
    low, high = by_name({"a": list(gaps)})["a"].mean_gap_interval
    half = 1.96 * gaps.std(ddof=1) / 20.0
    assert low == pytest.approx(gaps.mean() - half, abs=0.1 * half)
    assert high == pytest.approx(gaps.mean() + half, abs=0.1 * half)


def test_the_same_seed_gives_the_same_intervals_and_another_does_not():
    gaps = {"a": list(np.random.default_rng(2).uniform(size=20))}
    assert gap_distributions(gaps, seed=3) == gap_distributions(gaps, seed=3)
    assert gap_distributions(gaps, seed=3) != gap_distributions(gaps, seed=4)


def test_missing_gaps_are_counted_and_pairs_need_both():
    found = by_name({"a": [0.1, 0.1, 0.1], "b": [None, 0.3, 0.5]})["b"]
    assert (found.n, found.n_failed) == (2, 1)
    assert found.mean_gap == pytest.approx(0.4)
    assert found.mean_difference == pytest.approx(0.3)
    assert found.baseline == "a"


def test_a_scheduler_that_always_failed_has_no_numbers():
    found = by_name({"a": [0.1, 0.1], "b": [None, None]})["b"]
    assert found.n == 0
    assert found.mean_gap is None
    assert found.mean_gap_interval is None
    assert found.mean_difference is None


def test_a_scheduler_with_few_instances_is_no_baseline():
    found = by_name({"a": [0.5, 0.5], "b": [0.0, None]})
    assert found["a"].baseline == "a"


def test_no_schedulers_no_distributions():
    assert gap_distributions({}) == ()
