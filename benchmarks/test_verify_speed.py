"""`verify` on 100,000 tasks with loads and evictions: under 2 seconds.

Run with ``pytest benchmarks/test_verify_speed.py``; the schedule comes from the tests'
own list scheduler, so that only the referee is measured. Processor time is counted: the
referee has one thread, and other work on the machine is not its own.
"""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING

import pytest

from placement_lab.problem import Instance, InstanceBuilder
from placement_lab.verify import verify
from tests.list_scheduler import list_schedule

if TYPE_CHECKING:
    from placement_lab.schedule import Schedule

pytestmark = pytest.mark.benchmark(timer=time.process_time)

LIMIT_S = 2.0
N_JOBS = 25_000
PREFETCHES = ("after_release", "on_demand")


def workload(prefetch: str, n_jobs: int = N_JOBS) -> Instance:
    """Return jobs of four tasks on 40 workers that hold 3 of 8 models each."""
    build = InstanceBuilder("verify speed", prefetch=prefetch)
    for w in range(40):
        build.worker(f"w{w}", 16e9, load_bandwidth_bytes_per_s=1e10)
    build.default_link(1.2e10, 2e-6)
    for m in range(8):
        build.model(f"m{m}", 4e9 + m * 2e8)
    for f in range(4):
        flow = build.workflow(f"f{f}")
        for t in range(4):
            memory_bytes = 1e8 if t == 1 else 0
            flow.task(
                f"t{t}",
                0.1 + 0.05 * t,
                model=f"m{2 * f + t % 2}",
                memory_bytes=memory_bytes,
            )
        flow.edge("t0", "t1", bytes=1e6).edge("t0", "t2", bytes=1e6)
        flow.edge("t1", "t3", bytes=2e6).edge("t2", "t3", bytes=2e6)
    for j in range(n_jobs):
        build.job(f"j{j}", f"f{j % 4}", release_s=j * 0.02, ingress=f"w{j % 40}")
    return build.build()


@pytest.fixture(scope="module", params=PREFETCHES)
def case(request) -> tuple[Instance, Schedule]:
    instance = workload(request.param)
    return instance, list_schedule(instance)


def test_a_valid_schedule_of_100_000_tasks_takes_under_two_seconds(benchmark, case):
    instance, schedule = case
    assert len(schedule.runs) == 4 * N_JOBS
    assert len(schedule.loads) > N_JOBS
    assert len(schedule.evictions) > N_JOBS

    def fresh():
        """Forget the arrays and the identity: an instance makes them at first use."""
        return (dataclasses.replace(instance), schedule), {}

    assert benchmark.pedantic(verify, setup=fresh, rounds=3) == []
    assert benchmark.stats.stats.max < LIMIT_S


def test_a_schedule_that_is_wrong_everywhere_takes_not_much_longer(benchmark, case):
    instance, schedule = case
    late = [run._replace(end_s=run.end_s + 1.0) for run in schedule.runs]
    wrong = dataclasses.replace(schedule, runs=tuple(late), evictions=())
    found = benchmark.pedantic(verify, args=(instance, wrong), rounds=1)
    assert {one.rule for one in found} >= {"R1", "R2", "R5"}
    assert benchmark.stats.stats.max < 5 * LIMIT_S
