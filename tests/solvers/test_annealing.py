import numpy as np
import pytest

from placement_lab import verify
from placement_lab.metrics import objective_value
from placement_lab.replay import replay
from placement_lab.schedulers import get_scheduler
from placement_lab.solvers import brute_force
from placement_lab.solvers.annealing import _case, _decisions, _kernels, annealed_plans
from tests.solvers.tiny import tiny_instance, with_rules


@pytest.mark.parametrize("loading", ["overlap", "blocking"])
def test_annealing_reaches_most_optima_and_passes_none(loading):
    reached, tried = 0, range(30)
    for seed in tried:
        instance = with_rules(tiny_instance(seed), loading, "after_release")
        optimum = brute_force(instance, "latency").objective
        first = get_scheduler("eft").schedule(instance)
        best = objective_value(instance, first, "latency")
        used = iter((0.0, 0.5, 1.0))
        for plan in annealed_plans(
            instance, "latency", first, 0, used.__next__, first_work=20_000
        ):
            schedule = replay(instance, plan)
            assert verify(instance, schedule) == []
            best = min(best, objective_value(instance, schedule, "latency"))
        assert best >= optimum - 1e-9, seed
        reached += best <= optimum + 1e-9
    assert reached >= 0.8 * len(tried)


def test_the_decoder_and_its_python_form_agree_bit_for_bit():
    for seed in range(10):
        instance = tiny_instance(seed, 6, own_memory=True, slots=1 + seed % 2)
        case = _case(instance, "latency")
        order, worker = _decisions(instance, get_scheduler("eft").schedule(instance))
        compiled = _kernels.decode(case, order, worker)
        assert compiled == _kernels.decode.py_func(case, order, worker)


def test_the_same_seed_gives_the_same_walk():
    instance = tiny_instance(7, 6)
    case = _case(instance, "latency")
    order, worker = _decisions(instance, get_scheduler("eft").schedule(instance))
    walks = [
        _kernels.anneal(case, order, worker, np.random.default_rng(3), 2000, 1.0, 1e-3)
        for _ in range(2)
    ]
    assert walks[0][0] == walks[1][0]
    assert (walks[0][1] == walks[1][1]).all()
