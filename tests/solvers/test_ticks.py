import numpy as np
import pytest

from placement_lab.problem import InstanceBuilder
from placement_lab.solvers import solve
from placement_lab.solvers.ticks import Tick, choose_tick, in_seconds, round_down
from tests.solvers.tiny import tiny_instance


def _independent(times_s, *, n_workers=1, **rules):
    build = InstanceBuilder(**rules)
    for w in range(n_workers):
        build.worker(f"w{w}", memory_bytes=1)
    flow = build.workflow("f")
    for i, time_s in enumerate(times_s):
        flow.task(f"t{i:03}", time_s)
    build.job("j", "f")
    return build.build()


@pytest.mark.parametrize(
    ("times_s", "tick_s"),
    [
        ([1.0, 2.0], 1.0),
        ([0.2, 0.3], 0.1),
        ([0.2, 0.4], 0.2),
        ([864000.0] * 100, 864000.0),
        ([0.1 + 0.2, 0.3], 0.3),
        ([0.000001, 3.0], 0.000001),
    ],
)
def test_the_tick_divides_decimal_times_exactly(times_s, tick_s):
    tick = choose_tick(_independent(times_s))
    assert tick.exact
    assert tick.seconds == pytest.approx(tick_s, rel=1e-12)


def test_times_that_nothing_divides_get_a_power_of_ten():
    tick = choose_tick(_independent([1 / 3, 2**0.5]))
    assert not tick.exact
    assert tick.seconds == 1e-6


def test_rounding_never_lifts_a_time():
    tick = Tick(1e-3, exact=False)
    times_s = np.array([0.441, 0.0019999, 0.002, 1.0, np.inf])
    assert tick.count(times_s).tolist() == [441.0, 1.0, 2.0, 1000.0, np.inf]


def test_rounded_quantities_never_exceed_the_true_ones():
    instance = tiny_instance(4)
    tick = Tick(0.7, exact=False)
    true, rounded = in_seconds(instance), round_down(instance, tick)
    finite = np.isfinite(true.run)
    assert (rounded.run[finite] * 0.7 <= true.run[finite]).all()
    assert (rounded.delay * 0.7 <= true.delay).all()
    assert (rounded.size <= true.size).all()


def test_ten_day_tasks_are_solved_in_ticks_of_their_own():
    """U10: a nanosecond tick would overflow 64 bits."""
    found = solve(_independent([864000.0] * 100, n_workers=4), "makespan", 30.0)
    assert found.status == "optimal"
    assert found.objective == 21_600_000.0


@pytest.mark.parametrize("loading", ["overlap", "blocking"])
def test_giga_and_microseconds_in_one_instance_give_a_right_answer(loading):
    times_s = [1e9, 3e-6, 2e-6, 1e9, 1.5e9]
    instance = _independent(times_s, n_workers=2, loading=loading)
    found = solve(instance, "makespan", 5.0, num_workers=1)
    assert found.status in ("optimal", "feasible")
    assert found.bound <= found.objective
    assert found.objective == pytest.approx(2e9, rel=1e-4)


def test_clock_times_do_not_coarsen_the_tick():
    """Releases in seconds since 1970 leave milliseconds countable."""
    build = InstanceBuilder()
    build.worker("w0", memory_bytes=1)
    build.workflow("f").task("t", 0.003)
    build.job("a", "f", release_s=1.7e9)
    build.job("b", "f", release_s=1.7e9 + 0.001)
    found = solve(build.build(), "latency", 5.0, num_workers=1)
    assert found.tick_s <= 1e-2
    assert found.status == "optimal"
    assert found.objective == pytest.approx(0.004, abs=1e-6)


def test_a_proof_in_rounded_time_never_exceeds_a_real_schedule():
    """A rounded-up model once "proved" 50.013 where 50.012 was possible."""
    from placement_lab.metrics import objective_value
    from placement_lab.schedulers import get_scheduler

    for seed in range(5):
        rng = np.random.default_rng(seed)
        build = InstanceBuilder(f"20x4-{seed}")
        for w in range(4):
            build.worker(f"w{w}", memory_bytes=1)
        build.default_link(bandwidth_bytes_per_s=float(rng.uniform(0.5, 2.0)))
        flow = build.workflow("f")
        for i in range(20):
            size = float(rng.uniform(1, 10))
            flow.task(f"t{i}", {f"w{w}": size / (1 + w / 3) for w in range(4)})
        for b in range(1, 20):
            flow.edge(f"t{int(rng.integers(0, b))}", f"t{b}", bytes=float(rng.random()))
        build.job("j", "f")
        instance = build.build()
        found = solve(instance, "makespan", 1.0)
        assert found.tick_s <= 1e-2
        assert found.rounding_slack_s <= 1e-4 * found.objective
        assert found.bound <= found.objective
        if found.status == "optimal":
            allowed = max(1e-9, found.rounding_slack_s)
            assert found.objective - found.bound <= allowed
        for name in ("heft", "peft", "min_min", "eft"):
            schedule = get_scheduler(name).schedule(instance)
            assert objective_value(instance, schedule, "makespan") >= found.bound
