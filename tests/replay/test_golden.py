"""Replay reproduces the timelines of the Compass authors' simulator, row by row."""

import pytest

from placement_lab import complete, replay, verify
from placement_lab.datasets.golden import GOLDEN_NAMES, golden_timeline

ONE_MILLIONTH_MS = 1e-9


def turns_s(plan, schedule):
    """Return when each task's worker turned to it: the first load, eviction or run."""
    start_s = {run.task: run.start_s for run in schedule.runs}
    moves = {}
    for record in sorted(
        (*schedule.loads, *schedule.evictions), key=lambda r: r.start_s
    ):
        moves.setdefault((record.worker, record.model), []).append(record.start_s)
    turns = {}
    for worker, actions in plan.workers.items():
        first_s = None
        for kind, target in actions:
            if kind == "run":
                turns[target] = start_s[target] if first_s is None else first_s
                first_s = None
            else:
                move_s = moves[worker, target].pop(0)
                first_s = move_s if first_s is None else first_s
    return turns


@pytest.mark.parametrize("name", GOLDEN_NAMES)
def test_every_row_is_reproduced_to_a_millionth_of_a_millisecond(name):
    golden = golden_timeline(name)
    plan = complete(golden.instance, golden.order, evict="fifo")
    schedule = replay(golden.instance, plan)
    runs = {run.task: run for run in schedule.runs}
    turns = turns_s(plan, schedule)
    assert len(runs) == len(golden.rows)
    worst = max(
        max(
            abs(turns[row.task] - row.fetch_start_s),
            abs(runs[row.task].start_s - row.run_start_s),
            abs(runs[row.task].end_s - row.run_end_s),
        )
        for row in golden.rows
    )
    assert worst < ONE_MILLIONTH_MS
    assert all(runs[row.task].worker == row.worker for row in golden.rows)
    assert verify(golden.instance, schedule) == []


def test_the_parity_test_can_fail():
    golden = golden_timeline("compass_5w_2rps")
    lru = replay(golden.instance, complete(golden.instance, golden.order, evict="lru"))
    ends = {run.task: run.end_s for run in lru.runs}
    assert any(
        abs(ends[row.task] - row.run_end_s) > ONE_MILLIONTH_MS for row in golden.rows
    )
