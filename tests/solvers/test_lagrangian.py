import numpy as np
import pytest

from placement_lab.solvers import brute_force
from placement_lab.solvers.lagrangian import raise_lagrangian_bound
from placement_lab.solvers.lagrangian._kernels import Prices
from placement_lab.solvers.lagrangian.relaxation import PRICE_UNIT, Relaxation
from placement_lab.solvers.objectives import Objective
from placement_lab.solvers.ticks import Tick, choose_tick, round_down
from placement_lab.solvers.windows import latest_completions
from tests.solvers.tiny import tiny_instance, with_rules


def _relaxed(instance, objective, tick, value=None):
    costs = round_down(instance, tick)
    integers = Objective.of(instance, objective, costs, tick)
    latest = latest_completions(instance, costs, integers, value)
    return Relaxation(instance, costs, integers, latest), integers


def _random_prices(relaxation, rng, scale):
    parts = [
        np.round(rng.exponential(scale, part.shape) / PRICE_UNIT) * PRICE_UNIT
        for part in relaxation.zero_prices()
    ]
    if relaxation.arrays.prefetch == "clairvoyant":
        parts[2][:] = 0.0
    return Prices(*parts)


@pytest.mark.parametrize("prefetch", ["after_release", "clairvoyant"])
@pytest.mark.parametrize("loading", ["overlap", "blocking"])
def test_any_prices_give_a_bound_below_the_optimum(loading, prefetch):
    for seed in range(40):
        features = {
            "slots": 1 + seed % 2,
            "own_memory": seed % 3 == 0,
            "zero_lengths": seed % 5 == 0,
        }
        instance = with_rules(tiny_instance(seed, 5, **features), loading, prefetch)
        optimum = brute_force(instance, "latency").objective
        tick = choose_tick(instance) if seed % 2 else Tick(0.7, exact=False)
        relaxation, integers = _relaxed(instance, "latency", tick)
        rng = np.random.default_rng(seed)
        for scale in (0.0, 0.05, 0.2, 1.0):
            prices = _random_prices(relaxation, rng, scale)
            value = relaxation.evaluate(prices).value
            bound = integers.in_seconds(value * relaxation.unit)
            assert bound <= optimum + 1e-9, (seed, scale)


def test_a_climb_ends_between_the_critical_path_and_the_optimum():
    from placement_lab.solvers import lower_bound

    for seed in (1, 4, 9):
        instance = tiny_instance(seed, 6)
        optimum = brute_force(instance, "latency").objective
        bounds, steps = [], iter(np.linspace(0, 1, 60))
        raise_lagrangian_bound(instance, "latency", None, steps.__next__, bounds.append)
        assert bounds == sorted(bounds)
        assert bounds[-1] <= optimum + 1e-9
        simple = lower_bound(instance, "latency", ["critical_path"]).bound
        assert bounds[-1] >= 0.99 * simple
