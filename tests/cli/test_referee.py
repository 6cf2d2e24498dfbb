"""``schedule``, ``replay`` and ``verify`` work on each other's files."""

from __future__ import annotations

import json

import pytest

import placement_lab as pl

ORDER = {"w0": ["j0/a", "j0/b", "j2/a", "j2/b"], "w1": ["j1/a", "j1/b"]}


@pytest.fixture
def plan(tmp_path, instance):
    path = tmp_path / "plan.json"
    pl.complete(instance, ORDER).to_json(path)
    return path


def test_a_replayed_plan_is_a_valid_schedule(cli, work, plan):
    done = cli("replay", work, plan, "--json", "schedule.json")
    assert done.code == 0
    assert "makespan" in done.out
    done = cli("verify", work, "schedule.json")
    assert done.code == 0
    assert "no violations" in done.out


def test_replay_on_standard_output_is_the_schedule_and_nothing_else(
    cli, work, plan, instance
):
    done = cli("replay", work, plan, "--json", "-")
    found = pl.Schedule.from_dict(done.json)
    assert found == pl.replay(instance, pl.Plan.from_json(plan))
    assert done.err == ""


def test_runs_alone_are_a_plan_with_an_eviction_policy(cli, work, plan, tmp_path):
    document = json.loads(plan.read_text())
    for worker, actions in document["workers"].items():
        document["workers"][worker] = [one for one in actions if "run" in one]
    (tmp_path / "bare.json").write_text(json.dumps(document))
    assert cli("replay", work, "bare.json").code == 1
    done = cli("replay", work, "bare.json", "--evict", "lru", "--json", "-")
    assert done.code == 0
    assert done.json == cli("replay", work, plan, "--json", "-").json


def test_a_plan_that_cannot_go_on_exits_1_and_names_worker_and_action(cli, work, plan):
    document = json.loads(plan.read_text())
    document["workers"]["w1"] = document["workers"]["w1"][1:]
    plan.write_text(json.dumps(document))
    done = cli("replay", work, plan)
    assert done.code == 1
    assert "'w1'" in done.lines[0]
    assert "j1/a" in done.lines[0]


def test_a_plan_of_another_instance_exits_2(cli, work, plan):
    document = json.loads(plan.read_text())
    document["instance"] = "0" * 64
    plan.write_text(json.dumps(document))
    assert cli("replay", work, plan).code == 2


def test_violations_exit_1_and_say_rule_place_and_amount(cli, work, plan, tmp_path):
    cli("replay", work, plan, "--json", "schedule.json")
    path = tmp_path / "schedule.json"
    document = json.loads(path.read_text())
    document["runs"][0]["end_s"] += 0.25
    path.write_text(json.dumps(document))
    done = cli("verify", work, path)
    assert done.code == 1
    assert "R1" in done.out
    done = cli("verify", work, path, "--json", "-")
    assert done.code == 1
    first = done.json["violations"][0]
    assert set(first) == {"rule", "where", "time_s", "amount", "message"}


def test_a_tolerance_forgives_small_differences(cli, work, plan, tmp_path):
    cli("replay", work, plan, "--json", "schedule.json")
    path = tmp_path / "schedule.json"
    document = json.loads(path.read_text())
    document["runs"][-1]["end_s"] += 1e-4
    path.write_text(json.dumps(document))
    assert cli("verify", work, path).code == 1
    assert cli("verify", work, path, "--tolerance", "1e-3").code == 0


def test_a_schedule_goes_into_pictures_and_tables(cli, work, tmp_path):
    done = cli(
        *("schedule", work, "--scheduler", "heft", "--gantt", "a.png"),
        *("--trace", "a.trace.json", "--csv", "a.csv", "--json", "a.json"),
    )
    assert done.code == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "a.trace.json").read_text())["traceEvents"]
    assert len((tmp_path / "a.csv").read_text().splitlines()) > 6
    assert cli("verify", work, "a.json").code == 0


def test_simulate_gives_metrics_and_schedule(cli, work):
    done = cli("simulate", work, "--scheduler", "compass", "--faithful", "--json", "-")
    assert done.code == 0
    assert done.json["metrics"]["makespan_s"] > 0
    assert len(done.json["schedule"]["runs"]) == 6


def test_an_option_that_a_scheduler_does_not_have_exits_2(cli, work):
    done = cli("simulate", work, "--scheduler", "jit", "--no-adjust")
    assert done.code == 2
    assert "'jit'" in done.lines[0]


def test_datasets_lists_and_writes_instances(cli, tmp_path):
    listed = cli("datasets", "--json", "-").json["datasets"]
    assert "compass-5w" in [one["name"] for one in listed]
    assert "compass-5w" in cli("datasets").out
    assert cli("datasets", "compass-5w", "--json", "five.json").code == 0
    assert cli("validate", "five.json").code == 0
    assert len(pl.Instance.from_json(tmp_path / "five.json").workers) == 5
