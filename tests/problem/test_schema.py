"""The shipped JSON Schemas: they accept what we write and refuse what we refuse."""

from __future__ import annotations

import json
from importlib.resources import files

import jsonschema
import pytest
from hypothesis import given, settings

from placement_lab.datasets import available_datasets, load_dataset, planted
from placement_lab.errors import PlanError, ProblemError, ScheduleError
from placement_lab.plan import Action, Plan
from placement_lab.problem import Instance
from placement_lab.problem.entities import (
    Edge,
    Job,
    Link,
    LinkSpeed,
    Model,
    Rules,
    Task,
    Worker,
    Workflow,
)
from placement_lab.schedule import Run, Schedule
from tests.problem.documents import del_, document, put
from tests.strategies import instances


def schema_of(folder, name):
    text = files(folder).joinpath(f"{name}.schema.json").read_text(encoding="utf-8")
    return json.loads(text)


INSTANCE = schema_of("placement_lab.problem", "instance")
PLAN = schema_of("placement_lab", "plan")
SCHEDULE = schema_of("placement_lab", "schedule")
accepts_instance = jsonschema.Draft202012Validator(INSTANCE).is_valid
accepts_plan = jsonschema.Draft202012Validator(PLAN).is_valid
accepts_schedule = jsonschema.Draft202012Validator(SCHEDULE).is_valid


@pytest.mark.parametrize("schema", [INSTANCE, PLAN, SCHEDULE])
def test_a_schema_is_one(schema):
    jsonschema.Draft202012Validator.check_schema(schema)


def objects_in(schema):
    if isinstance(schema, dict):
        if "properties" in schema and schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from objects_in(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects_in(value)


@pytest.mark.parametrize("schema", [INSTANCE, PLAN, SCHEDULE])
def test_every_object_is_closed_and_every_key_explained(schema):
    for one in objects_in(schema):
        assert one["additionalProperties"] is False
        assert one["description"]
        for key, value in one["properties"].items():
            target = value.get("$ref", "").rpartition("/")[2]
            definition = schema.get("$defs", {}).get(target, {})
            explained = value.get("description") or definition.get("description")
            assert explained or key in ("load", "run", "evict")


@pytest.mark.parametrize(
    ("name", "entity"),
    [
        ("rules", Rules),
        ("worker", Worker),
        ("link_speed", LinkSpeed),
        ("link", Link),
        ("model", Model),
        ("workflow", Workflow),
        ("task", Task),
        ("edge", Edge),
        ("job", Job),
    ],
)
def test_a_definition_has_the_keys_and_defaults_of_its_entity(name, entity):
    definition = INSTANCE["$defs"][name]
    fields = entity.__dataclass_fields__
    assert set(definition["properties"]) == set(fields)
    for key, value in definition["properties"].items():
        default = fields[key].default
        if key in definition["required"] or key == "kind":
            assert "default" not in value
        else:
            assert value["default"] == (list(default) if default == () else default)


def test_units_are_in_every_explanation_of_a_quantity():
    for name, definition in INSTANCE["$defs"].items():
        for key, value in definition.get("properties", {}).items():
            if key.endswith("_s") and not key.endswith("per_s"):
                assert "econds" in value["description"], (name, key)
            elif "bytes" in key:
                assert "ytes" in value["description"], (name, key)


@given(instances())
@settings(max_examples=40, deadline=None)
def test_what_we_write_is_accepted(instance):
    assert accepts_instance(instance.to_dict())


@pytest.mark.parametrize("info", available_datasets(), ids=lambda info: info.name)
def test_every_data_set_is_accepted(info):
    assert accepts_instance(load_dataset(info.name).to_dict())


def test_every_key_is_accepted():
    assert accepts_instance(document())


BROKEN = [
    ("format", "other"),
    ("format", del_),
    ("version", 2),
    ("version", True),
    ("version", del_),
    ("workers", del_),
    ("workers", {}),
    ("links", None),
    ("rules", None),
    ("job", []),
    ("name", 1),
    ("rules.loading", "eager"),
    ("rules.prefetch", "never"),
    ("rules.evict_bandwidth_bytes_per_s", 0),
    ("rules.more", 1),
    ("default_link", 1),
    ("default_link.bandwidth_bytes_per_s", del_),
    ("links[0].bandwidth_bytes_per_s", 0),
    ("links[0].c", 0),
    ("workers[0]", "w0"),
    ("workers[0].id", ""),
    ("workers[0].id", "a/b"),
    ("workers[0].id", 5),
    ("workers[0].id", del_),
    ("workers[0].kind", None),
    ("workers[0].memory_bytes", "16 GB"),
    ("workers[0].memory_bytes", 0.5),
    ("workers[0].memory_bytes", -1),
    ("workers[0].memory_bytes", 2**53 + 2),
    ("workers[0].memory_bytes", del_),
    ("workers[0].slots", 0),
    ("workers[0].slots", 1.5),
    ("workers[0].slots", 10**7),
    ("workers[0].resident", ["opt", "opt"]),
    ("workers[0].resident", "opt"),
    ("workers[0].load_latency_s", None),
    ("workers[0].load_latency_s", 1e17),
    ("models[0].size_bytes", del_),
    ("models[0].load_s", "1"),
    ("models[0].load_s", {"T4": None}),
    ("models[0].load_s", {"": 1}),
    ("workflows[0].tasks", []),
    ("workflows[0].tasks", del_),
    ("workflows[0].tasks[0].runtime_s", None),
    ("workflows[0].tasks[0].runtime_s", True),
    ("workflows[0].tasks[0].runtime_s", -1),
    ("workflows[0].tasks[0].runtime_s", del_),
    ("workflows[0].tasks[0].model", 5),
    ("workflows[0].tasks[0].memory_bytes", 1.5),
    ("workflows[0].tasks[0].x", 1.5),
    ("workflows[0].edges[0].src", del_),
    ("workflows[0].edges[0].bytes", None),
    ("workflows[0].edges[0].transfer_s", -1),
    ("jobs[0].workflow", del_),
    ("jobs[0].deadline_s", "late"),
    ("jobs[0].weight", None),
]


@pytest.mark.parametrize(("path", "value"), BROKEN, ids=str)
def test_schema_and_reader_refuse_the_same(path, value):
    broken = document()
    put(broken, path, value)
    assert not accepts_instance(broken)
    with pytest.raises(ProblemError):
        Instance.from_dict(broken)


ACCEPTED = [
    ("name", del_),
    ("rules", {}),
    ("rules.evict_bandwidth_bytes_per_s", None),
    ("default_link", None),
    ("links", del_),
    ("version", 1.0),
    ("workers[0].memory_bytes", 16000000000.0),
    ("workers[0].load_bandwidth_bytes_per_s", 5),
    ("workers[1].load_bandwidth_bytes_per_s", None),
    ("workflows[0].tasks[0].model", None),
    ("workflows[0].tasks[0].input_transfer_s", None),
    ("workflows[0].tasks[0].input_bytes", 0.5),
    ("workflows[0].edges", del_),
    ("workflows[0].edges[0].transfer_s", None),
    ("jobs", []),
    ("jobs[0].ingress", None),
    ("jobs[0].deadline_s", None),
]


@pytest.mark.parametrize(("path", "value"), ACCEPTED, ids=str)
def test_schema_and_reader_accept_the_same(path, value):
    changed = document()
    put(changed, path, value)
    assert accepts_instance(changed)
    Instance.from_dict(changed)


# Plans and schedules.

A_PLAN = Plan({"w0": (Action("load", "m"), Action("run", "j/t"))}, "ab12")


def test_plans_that_we_write_are_accepted():
    assert accepts_plan(A_PLAN.to_dict())
    assert accepts_plan(Plan({}).to_dict())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("format", "x"),
        ("version", 2),
        ("workers", []),
        ("workers", del_),
        ("instance", 5),
        ("more", 5),
        ("workers.w0", {}),
        ("workers.w0[0]", "load m"),
        ("workers.w0[0]", {"load": "m", "run": "j/t"}),
        ("workers.w0[0]", {"wait": "m"}),
        ("workers.w0[0]", {"load": 3}),
    ],
    ids=str,
)
def test_schema_and_reader_refuse_the_same_plans(path, value):
    broken = A_PLAN.to_dict()
    put(broken, path, value)
    assert not accepts_plan(broken)
    with pytest.raises(PlanError):
        Plan.from_dict(broken)


def test_schedules_that_we_write_are_accepted():
    assert accepts_schedule(planted(200, 4).schedule.to_dict())
    assert accepts_schedule(Schedule().to_dict())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("format", "x"),
        ("version", 2),
        ("runs", {}),
        ("instance", 5),
        ("made_by", []),
        ("more", 5),
        ("world", {"noise": 1}),
        ("runs[0]", 5),
        ("runs[0].task", 5),
        ("runs[0].worker", None),
        ("runs[0].start_s", "0"),
        ("runs[0].start_s", True),
        ("version", True),
        ("runs[0].end_s", del_),
        ("runs[0].model", "m"),
    ],
    ids=str,
)
def test_schema_and_reader_refuse_the_same_schedules(path, value):
    broken = Schedule((Run("j/t", "w0", 0.0, 1.0),)).to_dict()
    put(broken, path, value)
    assert not accepts_schedule(broken)
    with pytest.raises(ScheduleError):
        Schedule.from_dict(broken)


@pytest.mark.parametrize("value", [10**400, float("inf"), float("nan")])
def test_a_time_that_no_double_holds_is_refused(value):
    broken = Schedule((Run("j/t", "w0", 0.0, 1.0),)).to_dict()
    put(broken, "runs[0].end_s", value)
    with pytest.raises(
        ScheduleError, match=r"runs\[0\].end_s: must be a finite number"
    ):
        Schedule.from_dict(broken)
