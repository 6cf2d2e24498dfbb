"""Broken files: every fault on its own line, with file, field, value and remedy."""

from __future__ import annotations

import json

import pytest

import placement_lab as pl


def put(tmp_path, document, name="bad.json"):
    path = tmp_path / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def test_all_faults_of_an_instance_come_at_once(cli, tmp_path, document):
    document["workers"][0]["memory_bytes"] = -1
    document["models"][1]["sise_bytes"] = 3
    document["jobs"][2]["workflow"] = "g"
    put(tmp_path, document)
    done = cli("bound", "bad.json")
    assert done.code == 2
    assert len(done.lines) == 3
    assert any("bad.json: workers[0].memory_bytes: " in line for line in done.lines)
    assert any("bad.json: models[1].sise_bytes: " in line for line in done.lines)
    assert any("bad.json: jobs[2].workflow: " in line for line in done.lines)
    assert any("-1" in line for line in done.lines)
    assert any("did you mean 'size_bytes'" in line for line in done.lines)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[]", "must be an object"),
        ('{"format": NaN}', "NaN is not JSON"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
@pytest.mark.parametrize("command", ["validate", "bound"])
def test_a_file_that_is_no_instance_is_one_line(cli, tmp_path, text, words, command):
    put(tmp_path, text)
    done = cli(command, "bad.json")
    if "object" not in words or command == "bound":
        assert done.code == 2
        assert len(done.lines) == 1
        assert "bad.json" in done.lines[0]
        assert words in done.lines[0]


def test_validate_lists_faults_on_standard_output_and_exits_1(cli, tmp_path, document):
    document["workers"][0]["memory_bytes"] = 0
    document["workers"][1]["memory_bytes"] = 0
    document["jobs"][0]["weight"] = "1"
    put(tmp_path, document)
    done = cli("validate", "bad.json")
    assert done.code == 1
    assert done.err == ""
    assert "bad.json: jobs[0].weight: " in done.out
    found = cli("validate", "bad.json", "--json", "-").json
    assert not found["valid"]
    assert "jobs[0].weight" in [fault["path"] for fault in found["faults"]]
    assert found["sha256"] is None


def test_validate_reports_warnings_and_exits_0(cli, tmp_path, document):
    document["workflows"][0]["tasks"][1]["input_bytes"] = 5
    path = put(tmp_path, document)
    found = cli("validate", "bad.json", "--json", "-").json
    assert found["valid"]
    assert found["sha256"] == pl.Instance.from_json(path).sha256
    assert [one["path"] for one in found["warnings"]] == ["workflows[0].tasks[1]"]
    done = cli("validate", "bad.json")
    assert done.code == 0
    assert "warning: workflows[0].tasks[1]: " in done.out


def test_other_commands_report_warnings_on_standard_error(cli, tmp_path, document):
    document["workflows"][0]["tasks"][1]["input_bytes"] = 5
    put(tmp_path, document)
    done = cli("bound", "bad.json", "--json", "-")
    assert done.code == 0
    assert done.json["bound_s"] > 0
    assert "warning: bad.json: workflows[0].tasks[1]: " in done.lines[0]


@pytest.mark.parametrize("command", ["replay", "verify"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nonsense", "is not JSON"),
        ("[]", "must be an object"),
        ('{"format": "placement-lab/wrong"}', "format: must be"),
    ],
)
def test_broken_plans_and_schedules_name_the_file(
    cli, work, tmp_path, *, command, text, words
):
    put(tmp_path, text)
    done = cli(command, work, "bad.json")
    assert done.code == 2
    assert len(done.lines) == 1
    assert done.lines[0].startswith("bad.json: ")
    assert words in done.lines[0]


def test_nothing_is_written_when_a_command_fails(cli, work, tmp_path):
    before = sorted(tmp_path.iterdir())
    assert cli("replay", work, "missing.json", "--json", "out.json").code == 2
    assert sorted(tmp_path.iterdir()) == before
