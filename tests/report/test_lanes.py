"""Schedules as rectangles."""

from __future__ import annotations

import placement_lab as pl
from placement_lab.report.lanes import (
    Block,
    memory_blocks,
    model_of_tasks,
    run_bars,
    workers_of,
)


def two_models(slots: int = 1) -> pl.Instance:
    build = pl.InstanceBuilder("two")
    build.worker(
        "w0",
        memory_bytes=10,
        slots=slots,
        resident=["old"],
        load_bandwidth_bytes_per_s=4,
    )
    build.worker("w1", memory_bytes=10, load_bandwidth_bytes_per_s=4)
    build.model("old", size_bytes=4)
    build.model("new", size_bytes=8)
    flow = build.workflow("f")
    flow.task("a", runtime_s=1.0, model="old")
    flow.task("b", runtime_s=1.0, model="new")
    build.job("j", "f")
    return build.build()


SCHEDULE = pl.Schedule(
    runs=(pl.Run("j/a", "w0", 0.0, 1.0), pl.Run("j/b", "w0", 3.0, 4.0)),
    loads=(pl.Load("new", "w0", 1.0, 3.0),),
    evictions=(pl.Eviction("old", "w0", 1.0, 1.0),),
)


def test_memory_shows_residents_until_they_leave_and_loads_apart_from_what_is_usable():
    assert list(memory_blocks(SCHEDULE, two_models(), 5.0)) == [
        Block("old", "w0", False, 0.0, 1.0, 0.0, 0.4),
        Block("new", "w0", True, 1.0, 3.0, 0.0, 0.8),
        Block("new", "w0", False, 3.0, 5.0, 0.0, 0.8),
    ]


def test_a_model_that_is_loaded_twice_leaves_in_between():
    schedule = pl.Schedule(
        loads=(pl.Load("new", "w1", 0.0, 2.0), pl.Load("new", "w1", 4.0, 6.0)),
        evictions=(pl.Eviction("new", "w1", 3.0, 3.0),),
    )
    spans = [
        (block.start_s, block.end_s, block.loading)
        for block in memory_blocks(schedule, two_models(), 7.0)
        if block.worker == "w1"
    ]
    assert spans == [
        (0.0, 2.0, True),
        (2.0, 3.0, False),
        (4.0, 6.0, True),
        (6.0, 7.0, False),
    ]


def test_without_an_instance_the_loads_alone_are_known():
    assert list(memory_blocks(SCHEDULE, None, 5.0)) == [
        Block("new", "w0", True, 1.0, 3.0, 0, 1)
    ]


def test_runs_that_overlap_go_into_different_slots():
    schedule = pl.Schedule(
        runs=(pl.Run("j/a", "w0", 0.0, 2.0), pl.Run("j/b", "w0", 1.0, 2.0))
    )
    bars = run_bars(schedule, two_models(slots=2))
    assert [(bar.slot, bar.slots) for bar in bars] == [(0, 2), (1, 2)]


def test_a_slot_is_free_for_a_run_that_starts_when_the_last_one_ends():
    bars = run_bars(SCHEDULE, two_models(slots=2))
    assert [bar.slot for bar in bars] == [0, 0]


def test_idle_workers_keep_their_lane_where_the_instance_is_known():
    assert workers_of(SCHEDULE, two_models()) == ["w0", "w1"]
    assert workers_of(SCHEDULE, None) == ["w0"]


def test_workers_come_in_natural_order_without_an_instance():
    runs = tuple(pl.Run(f"j/{i}", f"w{i}", 0.0, 1.0) for i in (10, 2, 1))
    assert workers_of(pl.Schedule(runs=runs), None) == ["w1", "w2", "w10"]


def test_every_task_has_its_model():
    assert model_of_tasks(two_models()) == {"j/a": "old", "j/b": "new"}
