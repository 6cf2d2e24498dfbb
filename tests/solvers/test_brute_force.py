import os
import subprocess
import sys

import numpy as np
import pytest

from placement_lab import verify
from placement_lab.errors import UnsupportedError
from placement_lab.problem import Instance, InstanceBuilder
from placement_lab.solvers import brute_force
from placement_lab.solvers._kernels import explore
from placement_lab.solvers.brute_force import _case, _relevant_models
from tests.solvers.tiny import tiny_instance


def test_a_load_in_an_idle_gap_beats_loading_right_before_the_task():
    """Two slow inputs leave a gap in which the other model can come in already."""
    build = InstanceBuilder(loading="blocking", prefetch="clairvoyant")
    build.worker("w0", memory_bytes=2)
    build.model("a", size_bytes=1, load_s=2.0)
    build.model("b", size_bytes=1, load_s=3.0)
    build.workflow("f").task("t", 1.0, model="a")
    build.workflow("g").task("t", 1.0, model="b")
    build.job("early", "f")
    build.job("late", "g", release_s=6.0)
    found = brute_force(build.build(), "makespan")
    assert found.objective == 7.0  # 9 if b came right before its task
    assert [load.model for load in found.schedule.loads] == ["a", "b"]


def test_after_release_makes_the_second_load_wait_for_its_job():
    build = InstanceBuilder(prefetch="after_release")
    build.worker("w0", memory_bytes=2)
    build.model("b", size_bytes=1, load_s=3.0)
    build.workflow("g").task("t", 1.0, model="b")
    build.job("late", "g", release_s=6.0)
    assert brute_force(build.build(), "makespan").objective == 10.0


def test_a_full_memory_forces_a_reload():
    build = InstanceBuilder(loading="blocking", prefetch="clairvoyant")
    build.worker("w0", memory_bytes=1)
    build.model("a", size_bytes=1, load_s=1.0)
    build.model("b", size_bytes=1, load_s=1.0)
    flow = build.workflow("f")
    flow.task("1", 1.0, model="a").task("2", 1.0, model="b").task("3", 1.0, model="a")
    flow.edge("1", "2").edge("2", "3")
    build.job("j", "f")
    found = brute_force(build.build(), "makespan")
    assert found.objective == 6.0
    assert len(found.schedule.loads) == 3


def test_tasks_that_may_neither_meet_nor_part_are_infeasible():
    build = InstanceBuilder()
    build.worker("w1", memory_bytes=1)
    build.worker("w2", memory_bytes=1)
    flow = build.workflow("f").task("A", {"w1": 1.0}).task("B", {"w2": 1.0})
    flow.edge("A", "B", bytes=1)
    build.job("j", "f")
    found = brute_force(build.build())
    assert (found.status, found.objective, found.schedule) == ("infeasible", None, None)


def test_nothing_to_do_takes_no_time():
    found = brute_force(Instance(workers=()))
    assert (found.status, found.objective) == ("optimal", 0.0)
    assert found.schedule.runs == ()


def test_it_refuses_what_it_cannot_finish_by_number():
    build = InstanceBuilder()
    build.worker("w0", memory_bytes=1)
    flow = build.workflow("f")
    for i in range(9):
        flow.task(f"t{i}", 1.0)
    build.job("j", "f")
    with pytest.raises(UnsupportedError, match="at most 8 tasks, this instance has 9"):
        brute_force(build.build())


@pytest.mark.parametrize("seed", range(12))
def test_its_schedule_is_valid_whatever_the_features(seed):
    instance = tiny_instance(
        seed, 6, slots=1 + seed % 2, own_memory=True, zero_lengths=seed % 3 == 0
    )
    assert verify(instance, brute_force(instance).schedule) == []


def test_the_compiled_search_and_plain_python_agree_bit_for_bit():
    code = "from tests.solvers.test_brute_force import print_search; print_search()"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    plain = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert plain.stdout.split() == list(_search_lines())


def print_search():
    """Print what the search finds on a few instances (in another interpreter)."""
    sys.stdout.write("\n".join(_search_lines()))


def _search_lines():
    for seed in (3, 5, 8):
        instance = tiny_instance(seed, 4, own_memory=True)
        case = _case(instance, "latency", _relevant_models(instance))
        value, length, path, starts, nodes = explore(case, 10**6)
        numbers = np.concatenate([[value, length, nodes], path.ravel(), starts])
        yield numbers.astype(np.float64).tobytes().hex()
