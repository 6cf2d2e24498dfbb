"""The referee: hand-made schedules pass, and each kind of broken one is named."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import math
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from placement_lab.errors import ScheduleError
from placement_lab.problem import Instance, InstanceBuilder
from placement_lab.schedule import Eviction, Load, Run, Schedule
from placement_lab.units import time_slack_s
from placement_lab.verify import Violation, verify
from placement_lab.verify._records import Slack
from tests.list_scheduler import list_schedule
from tests.referee_twin import broken_rules
from tests.strategies import instances

# A world in which every rule has something to say. On w0 `opt` makes room for `nli`;
# w1 runs the second half of j0, one second of transfer away.


def world(
    prefetch: str = "after_release",
    *,
    loading: str = "overlap",
    evict_bandwidth_bytes_per_s: float | None = None,
    memory_bytes: int = 11,
    slots: int = 1,
    release_s: float = 1.0,
    ingress: str = "w0",
    has_link: bool = True,
    ask: dict | None = None,
    edge: dict | None = None,
) -> Instance:
    build = InstanceBuilder(
        prefetch=prefetch,
        loading=loading,
        evict_bandwidth_bytes_per_s=evict_bandwidth_bytes_per_s,
    )
    build.worker("w0", memory_bytes, kind="gpu", slots=slots, resident=("old",))
    build.worker("w1", 11, kind="gpu")
    build.worker("w2", 11, kind="cpu")
    if has_link:
        build.default_link(10, latency_s=0.5)
    build.model("opt", 6, load_s=2)
    build.model("nli", 5, load_s=1)
    build.model("old", 1, load_s=1)
    build.model("big", 11, load_s={"gpu": 1})  # fills w2, which cannot load it
    flow = build.workflow("qa")
    flow.task("ask", {"gpu": 3}, model="opt", **{"input_bytes": 10, **(ask or {})})
    flow.task("check", {"gpu": 2}, model="nli", memory_bytes=1)
    flow.edge("ask", "check", **(edge or {"bytes": 5}))
    build.job("j0", "qa", release_s=release_s, ingress=ingress)
    build.job("j1", "qa", release_s=5, ingress=ingress)
    return build.build()


VALID = Schedule(
    runs=(
        Run("j0/ask", "w0", 3, 6),
        Run("j1/ask", "w0", 6, 9),
        Run("j0/check", "w1", 7, 9),
        Run("j1/check", "w0", 10, 12),
    ),
    loads=(
        Load("opt", "w0", 1, 3),
        Load("nli", "w1", 1, 2),
        Load("nli", "w0", 9, 10),
    ),
    evictions=(Eviction("opt", "w0", 9, 9), Eviction("nli", "w1", 9, 9)),
)

# The same with evictions at 6 bytes/s, and with loads on demand.
TIMED = dataclasses.replace(
    VALID,
    runs=(*VALID.runs[:3], Run("j1/check", "w0", 11, 13)),
    loads=(*VALID.loads[:2], Load("nli", "w0", 10, 11)),
    evictions=(Eviction("opt", "w0", 9, 10), Eviction("nli", "w1", 9, 9 + 5 / 6)),
)
ON_DEMAND = dataclasses.replace(
    VALID,
    runs=(*VALID.runs[:2], Run("j0/check", "w1", 8, 10), VALID.runs[3]),
    loads=(VALID.loads[0], Load("nli", "w1", 7, 8), VALID.loads[2]),
    evictions=(Eviction("opt", "w0", 9, 9), Eviction("nli", "w1", 10, 10)),
)


def edit(schedule: Schedule, old: tuple, *new: tuple) -> Schedule:
    """Return the schedule with other records in the place of one."""
    field = {Run: "runs", Load: "loads", Eviction: "evictions"}[type(old)]
    records = list(getattr(schedule, field))
    records.remove(old)
    return dataclasses.replace(schedule, **{field: (*records, *new)})


def add(schedule: Schedule, new: tuple) -> Schedule:
    field = {Run: "runs", Load: "loads", Eviction: "evictions"}[type(new)]
    records = (*getattr(schedule, field), new)
    return dataclasses.replace(schedule, **{field: records})


def found(instance: Instance, schedule: Schedule, **options) -> list[tuple]:
    violations = verify(instance, schedule, **options)
    for one in violations:
        assert isinstance(one, Violation)
        assert one.message.startswith(f"{one.rule}: {one.where}")
        assert "\n" not in one.message
        assert ";" in one.message, "a message ends with a remedy"
    return [
        (
            one.rule,
            one.where,
            None if one.time_s is None else pytest.approx(one.time_s, abs=1e-12),
            pytest.approx(one.amount, abs=1e-12),
        )
        for one in violations
    ]


@pytest.mark.parametrize("prefetch", ["clairvoyant", "after_release", "on_demand"])
@pytest.mark.parametrize("loading", ["overlap", "blocking"])
def test_a_valid_schedule_has_no_violations(loading, prefetch):
    schedule = ON_DEMAND if prefetch == "on_demand" else VALID
    assert verify(world(prefetch, loading=loading), schedule) == []
    if prefetch != "on_demand":
        timed = world(prefetch, loading=loading, evict_bandwidth_bytes_per_s=6)
        assert verify(timed, TIMED) == []


OPT, NLI = VALID.loads[0], VALID.loads[2]
J0_ASK, J1_ASK, J0_CHECK, J1_CHECK = VALID.runs
FREE, FREE_W1 = VALID.evictions
W0_OPT, W0_NLI = "worker w0, load of opt", "worker w0, load of nli"

# name: (world, broken schedule, what is found: rule, place, time, amount)
BROKEN = {
    "run shifted into the run before it": (
        {},
        edit(VALID, J1_ASK, Run("j1/ask", "w0", 5.5, 8.5)),
        [("R1", "worker w0, task j1/ask", 5.5, 1)],
    ),
    "three runs in two slots": (
        {"slots": 2, "prefetch": "clairvoyant"},
        add(
            edit(VALID, J1_ASK, Run("j1/ask", "w0", 5.5, 8.5)),
            Run("j0/ask", "w0", 5.75, 8.75),
        ),
        [
            ("R0", "worker w0, task j0/ask", 5.75, 1),
            ("R1", "worker w0, task j0/ask", 5.75, 1),
        ],
    ),
    "run shortened": (
        {},
        edit(VALID, J0_ASK, Run("j0/ask", "w0", 3, 5.5)),
        [("R1", "worker w0, task j0/ask", 3, 0.5)],
    ),
    "run lengthened": (
        {},
        edit(VALID, J1_CHECK, Run("j1/check", "w0", 10, 12.5)),
        [("R1", "worker w0, task j1/check", 10, 0.5)],
    ),
    "run dropped": (
        {},
        edit(VALID, J1_ASK),
        [("R0", "task j1/ask", None, 1)],
    ),
    "run dropped, and its load with nobody to use it": (
        {},
        edit(VALID, J1_CHECK),
        [("R0", "task j1/check", None, 1), ("R6", W0_NLI, 9, 1)],
    ),
    "run doubled": (
        {},
        edit(VALID, J1_CHECK, J1_CHECK, J1_CHECK),
        [
            ("R0", "worker w0, task j1/check", 10, 1),
            ("R1", "worker w0, task j1/check", 10, 1),
        ],
    ),
    "run doubled later": (
        {},
        add(VALID, Run("j1/check", "w0", 12, 14)),
        [("R0", "worker w0, task j1/check", 12, 1)],
    ),
    "run on a worker of a kind that cannot run it": (
        {"prefetch": "clairvoyant"},
        edit(VALID, J1_CHECK, Run("j1/check", "w2", 10, 12)),
        [
            ("R1", "worker w2, task j1/check", 10, 1),
            ("R2", "worker w2, task j1/check", 10, 2),
        ],
    ),
    "run on an unknown worker": (
        {"prefetch": "clairvoyant"},
        edit(VALID, J1_CHECK, Run("j1/check", "w9", 10, 12)),
        [("R0", "worker w9, task j1/check", 10, 1)],
    ),
    "run of an unknown task": (
        {},
        add(VALID, Run("j9/ask", "w1", 20, 23)),
        [("R0", "worker w1, task j9/ask", 20, 1)],
    ),
    "load of an unknown model": (
        {},
        add(VALID, Load("ghost", "w1", 20, 21)),
        [("R0", "worker w1, load of ghost", 20, 1)],
    ),
    "eviction of an unknown model": (
        {},
        add(VALID, Eviction("ghost", "w1", 20, 20)),
        [("R0", "worker w1, eviction of ghost", 20, 1)],
    ),
    "load before time 0": (
        {"prefetch": "clairvoyant"},
        edit(VALID, OPT, Load("opt", "w0", -1, 1)),
        [("R0", W0_OPT, -1, 1)],
    ),
    "run that ends before it starts": (
        {"prefetch": "clairvoyant"},
        edit(VALID, J1_CHECK, Run("j1/check", "w0", 12, 10)),
        [("R0", "worker w0, task j1/check", 12, 2)],
    ),
    "run without a time": (
        {"prefetch": "clairvoyant"},
        edit(VALID, J1_CHECK, Run("j1/check", "w0", math.nan, 12)),
        [("R0", "worker w0, task j1/check", None, 1)],
    ),
    "run that never ends": (
        {"prefetch": "clairvoyant"},
        edit(VALID, J1_CHECK, Run("j1/check", "w0", 10, math.inf)),
        [("R0", "worker w0, task j1/check", 10, 1)],
    ),
    "load dropped": (
        {},
        edit(VALID, OPT),
        [
            ("R2", "worker w0, task j0/ask", 3, 3),
            ("R2", "worker w0, task j1/ask", 6, 3),
            ("R4", "worker w0, eviction of opt", 9, 1),
        ],
    ),
    "load on another worker than its run": (
        {"prefetch": "clairvoyant"},
        edit(VALID, NLI, Load("nli", "w2", 9, 10)),
        [("R2", "worker w0, task j1/check", 10, 2)],
    ),
    "load doubled": (
        {},
        edit(VALID, OPT, OPT, OPT),
        [("R2", W0_OPT, 1, 1), ("R3", W0_OPT, 1, 1)],
    ),
    "load of a resident model": (
        {},
        add(VALID, Load("opt", "w0", 6, 8)),
        [("R2", W0_OPT, 6, 1)],
    ),
    "load of an initial resident": (
        {},
        add(VALID, Load("old", "w0", 4, 5)),
        [("R2", "worker w0, load of old", 4, 1)],
    ),
    "load too short": (
        {},
        edit(VALID, OPT, Load("opt", "w0", 1, 2.5)),
        [("R3", W0_OPT, 1, 0.5)],
    ),
    "load too long for the run after it": (
        {},
        edit(VALID, OPT, Load("opt", "w0", 1, 3.5)),
        [("R3", W0_OPT, 1, 0.5), ("R2", "worker w0, task j0/ask", 3, 0.5)],
    ),
    "load overlapping another load": (
        {"memory_bytes": 20, "prefetch": "clairvoyant"},
        edit(VALID, NLI, Load("nli", "w0", 2.5, 3.5)),
        [("R3", W0_NLI, 2.5, 1)],
    ),
    "load without a known length": (
        {"prefetch": "clairvoyant"},
        add(VALID, Load("big", "w2", 3, 4)),
        [("R3", "worker w2, load of big", 3, 1)],
    ),
    "run before its load has ended": (
        {},
        edit(VALID, NLI, Load("nli", "w0", 9.25, 10.25)),
        [("R2", "worker w0, task j1/check", 10, 0.25)],
    ),
    "memory one byte short while two models are there": (
        {},
        edit(VALID, NLI, Load("nli", "w0", 8, 9)),
        [("R2", W0_NLI, 8, 1)],
    ),
    "memory one byte short for a task's own need": (
        {"memory_bytes": 12},
        edit(VALID, FREE, Eviction("opt", "w0", 11, 11)),
        [("R2", "worker w0, task j1/check", 10, 1)],
    ),
    "model that fits no memory there": (
        {"memory_bytes": 5, "prefetch": "clairvoyant"},
        VALID,
        [
            ("R2", W0_OPT, 1, 2),
            ("R1", "worker w0, task j0/ask", 3, 1),
            ("R1", "worker w0, task j1/ask", 6, 1),
            ("R2", W0_NLI, 9, 2),
            ("R1", "worker w0, task j1/check", 10, 1),
        ],
    ),
    "model evicted in use": (
        {},
        edit(VALID, FREE, Eviction("opt", "w0", 8.5, 8.5)),
        [("R4", "worker w0, eviction of opt", 8.5, 0.5)],
    ),
    "model evicted while loading": (
        {},
        add(VALID, Eviction("nli", "w0", 9.5, 9.5)),
        [
            ("R4", "worker w0, eviction of nli", 9.5, 0.5),
            ("R2", "worker w0, task j1/check", 10, 2),
        ],
    ),
    "model evicted while loading, with nobody to use it": (
        {"prefetch": "clairvoyant"},
        dataclasses.replace(
            VALID,
            loads=(Load("old", "w1", 10, 11), *VALID.loads),
            evictions=(*VALID.evictions, Eviction("old", "w1", 10.25, 10.25)),
        ),
        [("R4", "worker w1, eviction of old", 10.25, 0.75)],
    ),
    "timed eviction that starts while loading": (
        {"evict_bandwidth_bytes_per_s": 6},
        dataclasses.replace(
            TIMED,
            loads=(Load("old", "w1", 10, 11), *TIMED.loads),
            evictions=(*TIMED.evictions, Eviction("old", "w1", 10.9, 10.9 + 1 / 6)),
        ),
        [
            ("R3", "worker w1, eviction of old", 10.9, 1),
            ("R4", "worker w1, eviction of old", 10.9, 0.1),
        ],
    ),
    "model evicted just before its run": (
        {"prefetch": "clairvoyant"},
        add(VALID, Eviction("nli", "w0", 10, 10)),
        [("R2", "worker w0, task j1/check", 10, 2)],
    ),
    "model evicted when not resident": (
        {},
        add(VALID, Eviction("nli", "w0", 5, 5)),
        [("R4", "worker w0, eviction of nli", 5, 1)],
    ),
    "model evicted twice": (
        {},
        add(VALID, FREE),
        [("R4", "worker w0, eviction of opt", 9, 1)],
    ),
    "free eviction that takes time": (
        {},
        edit(VALID, FREE_W1, Eviction("nli", "w1", 9, 9.5)),
        [("R4", "worker w1, eviction of nli", 9, 0.5)],
    ),
    "timed eviction too short": (
        {"evict_bandwidth_bytes_per_s": 6},
        edit(TIMED, TIMED.evictions[0], Eviction("opt", "w0", 9, 9.5)),
        [("R4", "worker w0, eviction of opt", 9, 0.5)],
    ),
    "load before the timed eviction has made room": (
        {"evict_bandwidth_bytes_per_s": 6},
        edit(TIMED, TIMED.loads[2], Load("nli", "w0", 9.5, 10.5)),
        [("R2", W0_NLI, 9.5, 1), ("R3", W0_NLI, 9.5, 1)],
    ),
    "load of a model that is still being evicted": (
        {"evict_bandwidth_bytes_per_s": 6, "prefetch": "clairvoyant"},
        add(TIMED, Load("nli", "w1", 9.5, 10.5)),
        [
            ("R2", "worker w1, load of nli", 9.5, 1),
            ("R3", "worker w1, load of nli", 9.5, 1),
        ],
    ),
    "run of a model that is being evicted": (
        {"evict_bandwidth_bytes_per_s": 6, "prefetch": "clairvoyant"},
        edit(TIMED, J0_CHECK, Run("j0/check", "w1", 9.5, 11.5)),
        [("R2", "worker w1, task j0/check", 9.5, 2)],
    ),
    "two timed evictions at once": (
        {"evict_bandwidth_bytes_per_s": 6},
        add(TIMED, Eviction("old", "w0", 9.5, 9.5 + 1 / 6)),
        [("R4", "worker w0, eviction of old", 9.5, 1)],
    ),
    "timed eviction while blocking": (
        {"evict_bandwidth_bytes_per_s": 6, "loading": "blocking"},
        add(TIMED, Eviction("old", "w0", 8, 8 + 1 / 6)),
        [("R4", "worker w0, eviction of old", 8, 1)],
    ),
    "blocking load while a task runs": (
        {"loading": "blocking", "memory_bytes": 20},
        edit(VALID, NLI, Load("nli", "w0", 8.5, 9.5)),
        [("R3", W0_NLI, 8.5, 1)],
    ),
    "run during a blocking load": (
        {"loading": "blocking", "memory_bytes": 20},
        edit(VALID, NLI, Load("nli", "w0", 5, 6)),
        [("R3", W0_NLI, 5, 1)],
    ),
    "transfer ignored": (
        {},
        edit(VALID, J0_CHECK, Run("j0/check", "w1", 6, 8)),
        [("R5", "worker w1, task j0/check", 6, 1)],
    ),
    "latency of an empty transfer ignored": (
        {"edge": {"bytes": 0}},
        edit(VALID, J0_CHECK, Run("j0/check", "w1", 6, 8)),
        [("R5", "worker w1, task j0/check", 6, 0.5)],
    ),
    "own transfer time ignored": (
        {"edge": {"bytes": 0, "transfer_s": 1.75}},
        VALID,
        [("R5", "worker w1, task j0/check", 7, 0.75)],
    ),
    "order of a workflow ignored": (
        {"memory_bytes": 20},
        edit(
            edit(VALID, J1_ASK, Run("j1/ask", "w0", 8, 11)),
            FREE,
            Eviction("opt", "w0", 12, 12),
        ),
        [
            ("R1", "worker w0, task j1/check", 10, 1),
            ("R5", "worker w0, task j1/check", 10, 1),
        ],
    ),
    "no link for an edge": (
        {"has_link": False},
        VALID,
        [("R5", "worker w1, task j0/check", 7, 1)],
    ),
    "no link for a job's input": (
        {"has_link": False, "ingress": "w2", "edge": {"transfer_s": 1}},
        VALID,
        [
            ("R5", "worker w0, task j0/ask", 3, 1),
            ("R5", "worker w0, task j1/ask", 6, 1),
        ],
    ),
    "input transfer ignored": (
        {"ingress": "w1"},
        VALID,
        [("R5", "worker w0, task j1/ask", 6, 0.5)],
    ),
    "own input transfer ignored": (
        {"ingress": "w1", "ask": {"input_transfer_s": 1.25}},
        VALID,
        [("R5", "worker w0, task j1/ask", 6, 0.25)],
    ),
    "start before the job's release": (
        {"prefetch": "clairvoyant", "release_s": 4},
        VALID,
        [("R6", "worker w0, task j0/ask", 3, 1)],
    ),
    "start before release, of an input that comes at no time": (
        {
            "prefetch": "clairvoyant",
            "release_s": 4,
            "ingress": "w1",
            "ask": {"input_transfer_s": 0},
        },
        VALID,
        [("R6", "worker w0, task j0/ask", 3, 1)],
    ),
    "start before the task's own release": (
        {"ask": {"release_s": 2.25}},
        VALID,
        [
            ("R6", "worker w0, task j0/ask", 3, 0.25),
            ("R6", "worker w0, task j1/ask", 6, 1.25),
        ],
    ),
    "load before release": (
        {},
        edit(VALID, OPT, Load("opt", "w0", 0.25, 2.25)),
        [("R6", W0_OPT, 0.25, 0.75)],
    ),
    "load before the release of the job that uses this copy": (
        {"memory_bytes": 20},
        edit(VALID, NLI, Load("nli", "w0", 3, 4)),
        [("R6", W0_NLI, 3, 2)],
    ),
    "load that no run uses": (
        {},
        add(VALID, Load("opt", "w1", 10, 12)),
        [("R6", "worker w1, load of opt", 10, 1)],
    ),
    "load that no run uses on demand": (
        {"prefetch": "on_demand"},
        add(ON_DEMAND, Load("opt", "w1", 10, 12)),
        [("R6", "worker w1, load of opt", 10, 1)],
    ),
    "load before the demand": (
        {"prefetch": "on_demand"},
        edit(ON_DEMAND, ON_DEMAND.loads[1], Load("nli", "w1", 6.75, 7.75)),
        [("R6", "worker w1, load of nli", 6.75, 0.25)],
    ),
    "eviction before the demand of the first load": (
        {"prefetch": "on_demand"},
        add(ON_DEMAND, Eviction("old", "w0", 0.25, 0.25)),
        [("R6", "worker w0, eviction of old", 0.25, 0.75)],
    ),
    "eviction during a load, before the demand of the next one": (
        {"prefetch": "on_demand"},
        add(ON_DEMAND, Eviction("old", "w0", 2, 2)),
        [("R6", "worker w0, eviction of old", 2, 7)],
    ),
    "eviction before the demand of the next load": (
        {"prefetch": "on_demand"},
        add(ON_DEMAND, Eviction("old", "w0", 8, 8)),
        [("R6", "worker w0, eviction of old", 8, 1)],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_each_fault_is_named_by_its_rule_place_time_and_amount(name):
    options, schedule, expected = BROKEN[name]
    assert found(world(**options), schedule) == expected


@pytest.mark.parametrize("name", BROKEN)
def test_the_readable_twin_names_the_same_rules(name):
    options, schedule, expected = BROKEN[name]
    assert broken_rules(world(**options), schedule) == {rule for rule, *_ in expected}


# What looks broken, but is allowed.
ALLOWED = {
    "a load ahead of every release, in a clairvoyant world": (
        {"prefetch": "clairvoyant"},
        edit(VALID, OPT, Load("opt", "w0", 0, 2)),
    ),
    "a load that no run uses, in a clairvoyant world": (
        {"prefetch": "clairvoyant"},
        add(VALID, Load("opt", "w1", 10, 12)),
    ),
    "a load beside a run": (
        {"memory_bytes": 12},
        edit(VALID, NLI, Load("nli", "w0", 8, 9)),
    ),
    "a blocking load beside a run in the second slot": (
        {"memory_bytes": 12, "loading": "blocking", "slots": 2},
        edit(VALID, NLI, Load("nli", "w0", 8, 9)),
    ),
    "two runs in two slots": (
        {"slots": 2},
        edit(VALID, J1_ASK, Run("j1/ask", "w0", 5, 8)),
    ),
    "a timed eviction beside a run": (
        {"evict_bandwidth_bytes_per_s": 6},
        add(TIMED, Eviction("old", "w0", 8, 8 + 1 / 6)),
    ),
    "a free eviction while blocking": (
        {"loading": "blocking"},
        add(VALID, Eviction("old", "w0", 8, 8)),
    ),
    "an eviction before the demand of the next load, after release": (
        {},
        add(VALID, Eviction("old", "w0", 8, 8)),
    ),
    "an eviction for the load of its instant, ahead of other loads": (
        {"prefetch": "on_demand"},
        add(ON_DEMAND, Eviction("old", "w0", 1, 1)),
    ),
    "an eviction that no load follows, on demand": (
        {"prefetch": "on_demand"},
        add(ON_DEMAND, Eviction("old", "w0", 9.5, 9.5)),
    ),
    "a short transfer of its own where no link is": (
        {"has_link": False, "edge": {"transfer_s": 0.5}},
        edit(VALID, J0_CHECK, Run("j0/check", "w1", 6.5, 8.5)),
    ),
    "an input with a transfer of its own where no link is": (
        {
            "has_link": False,
            "ingress": "w1",
            "ask": {"input_transfer_s": 1},
            "edge": {"transfer_s": 1},
        },
        VALID,
    ),
    "an exact fit": (
        {"memory_bytes": 13},
        edit(VALID, FREE, Eviction("opt", "w0", 11, 11)),
    ),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_what_the_rules_allow_is_no_violation(name):
    options, schedule = ALLOWED[name]
    assert verify(world(**options), schedule) == []


# On demand.


def pair(prefetch="on_demand", *, loading="overlap", slots=1) -> Instance:
    """Two jobs that use one model, the second one's input being slow."""
    build = InstanceBuilder(prefetch=prefetch, loading=loading)
    build.worker("w0", 10, slots=slots)
    build.model("m", 4, load_s=2)
    build.workflow("quick").task("t", 1, model="m", input_transfer_s=0)
    build.workflow("other").task("t", 1)
    build.workflow("slow").task("t", 1, model="m", release_s=3)
    for name in ("quick", "other", "slow"):
        build.job(name, name)
    return build.build()


def test_of_runs_that_start_together_the_first_inputs_allow_the_load():
    runs = (Run("quick/t", "w0", 5, 6), Run("slow/t", "w0", 5, 6))
    other = Run("other/t", "w0", 0, 1)
    schedule = Schedule((other, *runs), (Load("m", "w0", 0, 2),))
    assert verify(pair(slots=2), schedule) == []
    # If the slow one alone starts first, its inputs decide.
    later = Run("quick/t", "w0", 5.5, 6.5)
    schedule = Schedule((other, runs[1], later), (Load("m", "w0", 0, 2),))
    assert found(pair(slots=2), schedule) == [("R6", "worker w0, load of m", 0, 3)]


def test_only_the_next_run_that_uses_a_copy_has_a_say():
    schedule = Schedule(
        (
            Run("slow/t", "w0", 5, 6),
            Run("quick/t", "w0", 6, 7),
            Run("other/t", "w0", 7, 8),
        ),
        (Load("m", "w0", 2, 4),),
    )
    assert found(pair(), schedule) == [("R6", "worker w0, load of m", 2, 1)]
    assert verify(pair("after_release"), schedule) == []


def test_an_eviction_on_demand_waits_for_the_next_load_of_its_own_worker():
    build = InstanceBuilder(prefetch="on_demand", evict_bandwidth_bytes_per_s=4)
    for worker in ("w0", "w1"):
        build.worker(worker, 4, resident=("old",))
    build.model("old", 4, load_s=1)
    build.model("new", 4, load_s=1)
    build.workflow("late").task("t", 1, model="new", release_s=5)
    build.job("j", "late")
    run, load = Run("j/t", "w1", 7, 8), Load("new", "w1", 6, 7)
    elsewhere = Eviction("old", "w0", 1, 2)
    makes_room = Eviction("old", "w1", 5, 6)
    schedule = Schedule((run,), (load,), (elsewhere, makes_room))
    assert verify(build.build(), schedule) == []
    early = edit(schedule, makes_room, Eviction("old", "w1", 1, 2))
    assert found(build.build(), early) == [("R6", "worker w1, eviction of old", 1, 4)]


def test_no_run_stands_between_a_blocking_load_on_demand_and_its_run():
    schedule = Schedule(
        (
            Run("other/t", "w0", 2, 3),
            Run("quick/t", "w0", 3, 4),
            Run("slow/t", "w0", 4, 5),
        ),
        (Load("m", "w0", 0, 2),),
    )
    instance = pair(loading="blocking")
    assert found(instance, schedule) == [("R6", "worker w0, load of m", 0, 1)]
    assert verify(pair(), schedule) == []
    assert verify(pair("after_release", loading="blocking"), schedule) == []
    between = edit(
        edit(schedule, schedule.runs[0], Run("other/t", "w0", 0, 1)),
        schedule.loads[0],
        Load("m", "w0", 1, 3),
    )
    assert verify(instance, between) == []


def test_all_runs_between_a_blocking_load_on_demand_and_its_run_are_counted():
    build = InstanceBuilder(prefetch="on_demand", loading="blocking")
    build.worker("w0", 10)
    build.model("m", 4, load_s=1)
    build.workflow("plain").task("t", 1)
    build.workflow("user").task("t", 1, model="m")
    for name in ("first", "second", "third"):
        build.job(name, "plain")
    build.job("user", "user")
    schedule = Schedule(
        (
            Run("first/t", "w0", 0, 1),
            Run("second/t", "w0", 2, 3),
            Run("third/t", "w0", 3, 4),
            Run("user/t", "w0", 4, 5),
        ),
        (Load("m", "w0", 1, 2),),
    )
    (violation,) = verify(build.build(), schedule)
    assert (violation.rule, violation.where, violation.time_s, violation.amount) == (
        "R6",
        "worker w0, load of m",
        1,
        2,
    )
    assert "task second/t starts between" in violation.message


# Instants: actions of no length.


def instants(
    *, load_s=2.0, loading="overlap", memory_bytes=10, own_bytes=0
) -> Instance:
    build = InstanceBuilder(prefetch="after_release", loading=loading)
    build.worker("w0", memory_bytes)
    build.model("m", 4, load_s=load_s)
    build.workflow("long").task("t", 3)
    flow = build.workflow("instant")
    flow.task("t", 0, model="m", memory_bytes=own_bytes)
    build.job("long", "long")
    build.job("a", "instant")
    build.job("b", "instant")
    return build.build()


@pytest.mark.parametrize("time_s", [2, 3.5, 6])
def test_a_run_of_no_length_may_touch_either_end_of_its_copy(time_s):
    schedule = Schedule(
        (
            Run("long/t", "w0", 6, 9),
            Run("a/t", "w0", time_s, time_s),
            Run("b/t", "w0", time_s, time_s),
        ),
        (Load("m", "w0", 0, 2),),
        (Eviction("m", "w0", 6, 6),),
    )
    assert verify(instants(), schedule) == []


def test_a_run_of_no_length_outside_its_copy_is_found():
    runs = (Run("a/t", "w0", 1.5, 1.5), Run("b/t", "w0", 6.5, 6.5))
    schedule = Schedule(
        (Run("long/t", "w0", 7, 10), *runs),
        (Load("m", "w0", 0, 2),),
        (Eviction("m", "w0", 6, 6),),
    )
    assert found(instants(), schedule) == [
        ("R2", "worker w0, task a/t", 1.5, 0.5),
        ("R2", "worker w0, task b/t", 6.5, 0),
    ]


def test_a_run_of_no_length_needs_a_slot():
    runs = (Run("a/t", "w0", 2, 2), Run("b/t", "w0", 3, 3))
    schedule = Schedule((Run("long/t", "w0", 2, 5), *runs), (Load("m", "w0", 0, 2),))
    assert found(instants(), schedule) == [("R1", "worker w0, task b/t", 3, 1)]


def test_a_run_of_no_length_needs_memory_even_while_its_model_leaves():
    """At time 2 the model (4) and the run's own need (3) do not fit beside 4 more."""
    build = InstanceBuilder(prefetch="clairvoyant")
    build.worker("w0", 10, resident=("m", "n"))
    build.model("m", 4, load_s=1)
    build.model("n", 4, load_s=1)
    build.workflow("instant").task("t", 0, model="m", memory_bytes=3)
    build.job("a", "instant")
    run = Run("a/t", "w0", 2, 2)
    leaves = Eviction("m", "w0", 2, 2)
    violations = found(build.build(), Schedule((run,), (), (leaves,)))
    assert violations == [("R2", "worker w0, task a/t", 2, 1)]
    makes_room = Eviction("n", "w0", 2, 2)
    assert verify(build.build(), Schedule((run,), (), (leaves, makes_room))) == []


def test_copies_may_come_and_go_within_one_instant():
    moments = [Load("m", "w0", 1, 1), Load("m", "w0", 1, 1)]
    schedule = Schedule(
        (Run("long/t", "w0", 1, 4), Run("a/t", "w0", 1, 1), Run("b/t", "w0", 1, 1)),
        tuple(moments),
        (Eviction("m", "w0", 1, 1), Eviction("m", "w0", 1, 1)),
    )
    assert verify(instants(load_s=0), schedule) == []
    assert found(instants(load_s=0), edit(schedule, schedule.evictions[0])) == []
    twice = dataclasses.replace(schedule, evictions=())
    assert found(instants(load_s=0), twice) == [("R2", "worker w0, load of m", 1, 1)]


def test_an_instant_within_the_fault_of_others_is_no_second_fault():
    build = InstanceBuilder(prefetch="clairvoyant")
    build.worker("w0", 10)
    build.model("m", 4, load_s=0)
    build.workflow("long").task("t", 3)
    build.job("a", "long")
    build.job("b", "long")
    runs = (Run("a/t", "w0", 0, 3), Run("b/t", "w0", 1, 4))
    schedule = Schedule(runs, (Load("m", "w0", 2, 2),))
    assert found(build.build(), schedule) == [("R1", "worker w0, task b/t", 1, 1)]


def test_a_blocking_load_of_no_length_needs_a_slot():
    schedule = Schedule(
        (Run("long/t", "w0", 0, 3), Run("a/t", "w0", 3, 3), Run("b/t", "w0", 3, 3)),
        (Load("m", "w0", 1, 1),),
    )
    expected = [("R3", "worker w0, load of m", 1, 1)]
    assert found(instants(load_s=0, loading="blocking"), schedule) == expected
    assert verify(instants(load_s=0), schedule) == []


# Time and its tolerance.


def series(n: int, runtime_s: float) -> Instance:
    build = InstanceBuilder()
    build.worker("w1", 0)
    build.workflow("one").task("t", runtime_s)
    for i in range(n):
        build.job(f"j{i}", "one")
    return build.build()


def one_after_the_other(n: int, runtime_s: float, start_s: float = 0.0) -> Schedule:
    runs = []
    for i in range(n):
        runs.append(Run(f"j{i}/t", "w1", start_s, start_s + runtime_s))
        start_s += runtime_s
    return Schedule(tuple(runs))


def test_ten_tenths_make_one_second_without_overlaps():
    schedule = one_after_the_other(10, 0.1)
    assert schedule.makespan_s != 1.0
    assert verify(series(10, 0.1), schedule) == []
    exact = Schedule(
        tuple(Run(f"j{i}/t", "w1", i / 10, (i + 1) / 10) for i in range(10))
    )
    assert verify(series(10, 0.1), exact) == []


@pytest.mark.parametrize("shift_s", [5e-10, -5e-10, 2e-9, -2e-9])
def test_times_that_differ_by_a_nanosecond_are_equal(shift_s):
    late = Run("j1/check", "w0", 10 + shift_s, 12 + shift_s)
    violations = found(world(), edit(VALID, J1_CHECK, late))
    if shift_s > -1e-9:
        assert violations == []
    else:
        assert [one[:2] for one in violations] == [("R2", "worker w0, task j1/check")]


def test_many_small_overlaps_do_not_add_up_to_a_looser_rule():
    """A chain of equal times must not join instants that are apart."""
    early_s = 0.9e-9
    runs = [Run("j0/t", "w1", 0, 1e-6)]
    for i in range(1, 50):
        start_s = runs[-1].end_s - early_s
        runs.append(Run(f"j{i}/t", "w1", start_s, start_s + 1e-6))
    assert verify(series(50, 1e-6), Schedule(tuple(runs))) == []
    both = (Run("j0/t", "w1", 0, 1e-6), Run("j1/t", "w1", 5e-9, 1.005e-6))
    violations = found(series(2, 1e-6), Schedule(both))
    assert [one[0] for one in violations] == ["R1"]


def test_a_wide_tolerance_is_taken_and_a_narrow_one_is_not():
    schedule = edit(VALID, J0_ASK, Run("j0/ask", "w0", 3, 5.995))
    assert verify(world(), schedule, tolerance_s=0.01) == []
    assert len(verify(world(), schedule, tolerance_s=0.001)) == 1
    assert verify(series(10, 0.1), one_after_the_other(10, 0.1), tolerance_s=0) == []


@pytest.mark.parametrize("tolerance_s", [math.nan, math.inf, -1.0])
def test_a_tolerance_that_is_none_is_refused(tolerance_s):
    with pytest.raises(ScheduleError, match="tolerance_s must be a finite number"):
        verify(world(), VALID, tolerance_s=tolerance_s)


def test_large_times_have_the_slack_of_their_digits():
    instance = series(50, 0.1)
    assert verify(instance, one_after_the_other(50, 0.1, start_s=1e9)) == []
    schedule = one_after_the_other(50, 0.1, start_s=1e9)
    shifted = schedule.runs[7]._replace(end_s=schedule.runs[7].end_s + 1e-5)
    assert found(instance, edit(schedule, schedule.runs[7], shifted)) != []


@pytest.mark.parametrize("time_s", [0.0, -3.0, 1.0, 1e5, 4e6, -4e6, 1e9, 1e16])
def test_the_slack_is_that_of_the_package(time_s):
    import numpy as np

    assert Slack().at(np.array([time_s]))[0] == pytest.approx(time_slack_s(time_s))
    slack_s = time_slack_s(time_s)
    for other_s in (time_s + 0.4 * slack_s, time_s + 3 * slack_s):
        expected = other_s - time_s > slack_s
        assert Slack().is_less(time_s, other_s) is expected
        assert Slack().less(np.array([time_s]), np.array([other_s]))[0] == expected


# What is no schedule of the instance at all.


def test_a_schedule_of_another_instance_is_refused_by_both_names():
    ours, theirs = world(), world(memory_bytes=12)
    schedule = dataclasses.replace(VALID, instance_sha256=theirs.sha256)
    with pytest.raises(
        ScheduleError, match=f"{theirs.sha256[:12]}.*{ours.sha256[:12]}"
    ):
        verify(ours, schedule)
    assert verify(theirs, schedule) == []


@pytest.mark.parametrize(
    "values",
    [
        (None, "w0", 1.0, 2.0),
        ("j0/ask", ["w0"], 1.0, 2.0),
        ({}, 7, None, "late"),
        ("j0/ask", "w0", True, 2.0),
        ("j0/ask", "w0", 10**400, 2.0),
        ("j0/ask", "w0", 1e308, -1e308),
        ("two\nlines", "w0", -math.inf, math.nan),
    ],
)
@pytest.mark.parametrize("record", [Run, Load, Eviction])
def test_nonsense_is_a_violation_and_never_a_traceback(record, values):
    violations = verify(world("clairvoyant"), add(VALID, record(*values)))
    assert {one.rule for one in violations} == {"R0"}
    for one in violations:
        json.dumps(one.to_dict(), allow_nan=False)
        assert "\n" not in one.message


def test_numbers_of_other_types_are_times():
    import numpy as np

    runs = tuple(
        Run(r.task, r.worker, np.float32(r.start_s), int(r.end_s)) for r in VALID.runs
    )
    assert verify(world(), dataclasses.replace(VALID, runs=runs)) == []


def test_nothing_to_do_and_nothing_done_is_valid():
    assert verify(Instance(workers=()), Schedule()) == []
    idle = InstanceBuilder()
    idle.worker("w0", 0)
    assert verify(idle.build(), Schedule()) == []
    assert found(idle.build(), Schedule((Run("j/t", "w0", 0, 1),))) == [
        ("R0", "worker w0, task j/t", 0, 1)
    ]


def test_an_empty_schedule_misses_every_task():
    assert [one.where for one in verify(world(), Schedule())] == [
        "task j0/ask",
        "task j0/check",
        "task j1/ask",
        "task j1/check",
    ]


def test_sums_of_enormous_models_do_not_overflow():
    """1,100 models of 2**53 bytes are more than 64 bits can count."""
    build = InstanceBuilder(prefetch="clairvoyant")
    build.worker("w0", 2**53)
    for m in range(1100):
        build.model(f"m{m}", 2**53, load_s=1)
    loads = [Load(f"m{m}", "w0", m, m + 1) for m in range(1100)]
    (violation,) = verify(build.build(), Schedule((), tuple(loads)))
    assert violation.rule == "R2"
    assert violation.amount == 1099 * 2**53


# How violations are told.


def test_violations_come_in_the_order_of_time_rule_and_place():
    schedule = Schedule(
        runs=(J1_ASK, Run("j0/ask", "w0", 3, 5), Run("j0/check", "w1", 3, 5)),
        loads=(Load("nli", "w0", 9, 9.5), Load("opt", "w0", 1, 3)),
    )
    violations = verify(world(), schedule)
    keys = [
        (-math.inf if one.time_s is None else one.time_s, one.rule, one.where)
        for one in violations
    ]
    assert keys == sorted(keys)
    assert len(keys) > 3
    shuffled = Schedule(schedule.runs[::-1], schedule.loads[::-1])
    assert verify(world(), shuffled) == violations


def test_a_violation_says_everything_in_one_line():
    (violation,) = verify(
        world(), edit(VALID, J0_CHECK, Run("j0/check", "w1", 6.25, 8.25))
    )
    assert str(violation) == violation.message
    assert violation.message == (
        "R5: worker w1, task j0/check at 6.250 s: starts 750.000 ms before the output "
        "of j0/ask arrives from worker w0; start it later"
    )
    assert violation.to_dict() == {
        "rule": "R5",
        "where": "worker w1, task j0/check",
        "time_s": 6.25,
        "amount": 0.75,
        "message": violation.message,
    }


def test_one_stretch_of_too_little_memory_is_one_violation():
    """Three loads too many in a row, the worst of which counts."""
    build = InstanceBuilder(prefetch="clairvoyant")
    build.worker("w0", 10)
    for m in range(4):
        build.model(f"m{m}", 4, load_s=1)
    loads = tuple(Load(f"m{m}", "w0", m, m + 1) for m in range(4))
    violations = found(build.build(), Schedule((), loads))
    assert violations == [("R2", "worker w0, load of m2", 2, 6)]


# Faults that users of similar tools met.


def shared_model(
    sizes: dict[str, int], memory_bytes: int, load_s: float
) -> InstanceBuilder:
    build = InstanceBuilder(prefetch="clairvoyant")
    for w in ("w1", "w2"):
        build.worker(w, memory_bytes)
    for name, size in sizes.items():
        build.model(name, size, load_s=load_s)
        build.workflow(name).task("t", 1, model=name)
    return build


def test_no_plan_beats_the_optimum_by_forgetting_a_load():
    """U12: split 2 + 1 with a load on each worker ends at 12; 11 forgets one."""
    build = shared_model({"m1": 8}, memory_bytes=10, load_s=10)
    for job in "ABC":
        build.job(job, "m1")
    runs = (
        Run("A/t", "w1", 10, 11),
        Run("B/t", "w1", 11, 12),
        Run("C/t", "w2", 10, 11),
    )
    loads = (Load("m1", "w1", 0, 10), Load("m1", "w2", 0, 10))
    assert verify(build.build(), Schedule(runs, loads)) == []
    forgotten = Schedule(runs, loads[:1])
    violations = found(build.build(), forgotten)
    assert violations == [("R2", "worker w2, task C/t", 10, 1)]


def test_a_model_that_is_loading_holds_its_memory_and_is_loaded_once():
    """U20: 42 + 33 bytes do not fit into 62, however early they are asked for."""
    build = shared_model({"mA": 42, "mB": 33}, memory_bytes=62, load_s=4)
    for name in ("mA", "mB"):
        build.job(name, name)
    runs = (Run("mA/t", "w1", 4, 5), Run("mB/t", "w1", 9, 10))
    loads = (Load("mA", "w1", 0, 4), Load("mB", "w1", 5, 9))
    evicted = (Eviction("mA", "w1", 5, 5),)
    assert verify(build.build(), Schedule(runs, loads, evicted)) == []
    stale = Schedule(
        (runs[0], Run("mB/t", "w1", 8, 9)),
        (loads[0], Load("mB", "w1", 4, 8)),
        (Eviction("mA", "w1", 8, 8),),
    )
    violations = found(build.build(), stale)
    assert violations == [("R2", "worker w1, load of mB", 4, 13)]


def test_a_model_larger_than_memory_is_a_violation_and_an_exact_fit_is_none():
    """U19."""
    build = shared_model({"m1": 4, "m4": 6}, memory_bytes=10, load_s=1)
    build.model("huge", 11, load_s=1)
    for name in ("m1", "m4"):
        build.job(name, name)
    runs = (Run("m1/t", "w1", 1, 2), Run("m4/t", "w1", 2, 3))
    loads = (Load("m1", "w1", 0, 1), Load("m4", "w1", 1, 2))
    instance = build.build()
    assert verify(instance, Schedule(runs, loads)) == []
    schedule = Schedule(runs, (*loads, Load("huge", "w2", 0, 1)))
    assert found(instance, schedule) == [("R2", "worker w2, load of huge", 0, 1)]


# Any instance.


def spoil(instance: Instance, schedule: Schedule, rng: random.Random) -> Schedule:
    """Return the schedule with one to three faults, or what might be some."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        field = rng.choice(["runs", "loads", "evictions"])
        records = list(getattr(schedule, field))
        if records:
            i = rng.randrange(len(records))
            records[i : i + 1] = spoilt(instance, schedule, records[i], rng)
            schedule = dataclasses.replace(schedule, **{field: tuple(records)})
    return schedule


def spoilt(instance: Instance, schedule: Schedule, record, rng: random.Random) -> list:
    by_s = rng.choice([-2, -1, -0.5, -0.1, -2e-9, -5e-10, 5e-10, 2e-9, 0.1, 0.5, 1, 2])
    shifted = record._replace(start_s=record.start_s + by_s, end_s=record.end_s + by_s)
    target = record[0] if isinstance(record, Run) else rng.choice(instance.models).id
    other = rng.choice([*schedule.runs, *schedule.loads, *schedule.evictions])
    at_s = rng.choice([other.start_s, other.end_s])
    moved = record._replace(start_s=at_s, end_s=at_s + record.end_s - record.start_s)
    return rng.choice(
        [
            [],
            [record, record],
            [record, shifted],
            [shifted],
            [moved],
            [record._replace(end_s=record.end_s + by_s)],
            [record._replace(start_s=record.start_s + by_s)],
            [record._replace(worker=rng.choice(instance.workers).id)],
            [type(record)(target, *record[1:])],
        ]
    )


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(instances(), st.integers(0, 2**32))
def test_any_valid_schedule_passes(instance, seed):
    schedule = list_schedule(instance, seed)
    assert verify(instance, schedule) == []
    assert broken_rules(instance, schedule) == set()


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(instances(max_tasks=5), st.integers(0, 2**32))
def test_any_spoilt_schedule_breaks_the_rules_that_the_twin_finds(instance, seed):
    rng = random.Random(seed)
    schedule = list_schedule(instance, seed)
    for _ in range(5):
        broken = spoil(instance, schedule, rng)
        rules = {one.rule for one in verify(instance, broken)}
        assert rules == broken_rules(instance, broken)


def test_the_referee_imports_nothing_that_it_judges():
    allowed = ("problem", "schedule", "errors", "units", "verify")
    package = Path(inspect.getfile(verify)).parent
    assert package.name == "verify"
    for path in package.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in getattr(node, "names", [])]
            module = getattr(node, "module", None)
            for name in (
                [module] if module else names if isinstance(node, ast.Import) else []
            ):
                if name.startswith("placement_lab"):
                    assert name.split(".")[1] in allowed, f"{path.name} imports {name}"
