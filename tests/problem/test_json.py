"""JSON in and out: what is written is read back, and bad files say what is wrong."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from placement_lab.errors import ProblemError
from placement_lab.problem import Instance
from tests.problem.documents import document
from tests.strategies import instances


def message_of(path):
    with pytest.raises(ProblemError) as caught:
        Instance.from_json(path)
    return str(caught.value)


def test_every_key_survives_the_file(tmp_path):
    instance = Instance.from_dict(document())
    instance.to_json(tmp_path / "instance.json")
    again = Instance.from_json(tmp_path / "instance.json")
    assert again == instance
    assert again.sha256 == instance.sha256
    assert again.name == "everything"


@given(instances())
@settings(max_examples=60, deadline=None)
def test_any_instance_survives_its_document(instance):
    text = json.dumps(instance.to_dict(), allow_nan=False)
    again = Instance.from_dict(json.loads(text))
    assert again == instance
    assert again.sha256 == instance.sha256


def test_what_is_read_has_one_canonical_form():
    instance = Instance.from_dict(document())
    w0, w1 = instance.workers
    assert (w0.memory_bytes, type(w0.memory_bytes)) == (16_000_000_000, int)
    assert (w1.kind, w1.slots, w1.resident) == ("w1", 1, ())
    ask = instance.workflows[0].tasks[0]
    assert type(ask.runtime_s["w1"]) is float
    assert type(instance.jobs[0].deadline_s) is float
    assert instance.models[0].size_bytes == 5_720_000_000


def test_only_workers_are_needed():
    instance = Instance.from_dict(
        {"format": "placement-lab/instance", "version": 1, "workers": []}
    )
    assert instance.n_tasks == 0
    assert instance.rules.loading == "overlap"
    assert instance.rules.prefetch == "after_release"


def test_defaults_are_left_out_when_writing():
    written = Instance.from_dict(document()).to_dict()
    assert written["workers"][1] == {"id": "w1", "memory_bytes": 8_000_000_000}
    assert written["jobs"][1] == {"id": "j1", "workflow": "qa"}
    assert written["workflows"][0]["edges"][2] == {"src": "check", "dst": "merge"}


def test_a_negative_zero_is_a_zero():
    broken = document()
    broken["jobs"][0]["release_s"] = -0.0
    assert str(Instance.from_dict(broken).jobs[0].release_s) == "0.0"


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (b"", "is not JSON: Expecting value (line 1, column 1)"),
        (b'{"format": ', "is not JSON: Expecting value (line 1, column 12)"),
        (b'{"a": 1}\n{"b": 2}', "is not JSON: Extra data (line 2, column 1)"),
        (b'{"x": NaN}', "NaN is not JSON; use a finite number or null"),
        (b'{"x": -Infinity}', "-Infinity is not JSON; use a finite number or null"),
        (b"\xff\xfe\x00PNG", "is not UTF-8 text (invalid start byte at byte 0)"),
        (b"[" * 100_000, "is nested too deeply"),
        (b"[1]", "must be an object, got [1] (list)"),
        (b"null", "must be an object, got null"),
        (b"9" * 5000, "holds a whole number of thousands of digits"),
    ],
)
def test_a_file_that_is_no_instance_says_why(tmp_path, content, wanted):
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    assert message_of(path) == f"{path}: {wanted}"


def test_a_missing_file_and_a_folder_say_so(tmp_path):
    gone = tmp_path / "gone.json"
    assert message_of(gone) == f"{gone}: no such file; check the path"
    assert message_of(tmp_path) == f"{tmp_path}: cannot be read: Is a directory"


def test_a_number_that_is_too_large_for_a_float_is_refused(tmp_path):
    path = tmp_path / "large.json"
    text = json.dumps(document()).replace('"deadline_s": 9', '"deadline_s": 1e999')
    path.write_text(text)
    wanted = f"{path}: jobs[0].deadline_s: must be finite, got inf"
    assert message_of(path) == wanted


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('"version": 1', '"version": 1, "version": 1', "version"),
        ('"id": "w1"', '"id": "w1", "id": "w1"', "workers[1].id"),
        ('"src": "ask"', '"src": "ask", "src": "ask"', "workflows[0].edges[0].src"),
        (
            '{"T4": 0.5',
            '{"T4": 0.25, "T4": 0.5',
            "workflows[0].tasks[0].runtime_s.T4",
        ),
        ('"loading"', '"loading": "overlap", "loading"', "rules.loading"),
        ('"edges"', '"edges": [], "edges"', "workflows[0].edges"),
    ],
)
def test_a_key_that_stands_twice_is_refused(tmp_path, old, new, place):
    path = tmp_path / "twice.json"
    path.write_text(json.dumps(document()).replace(old, new, 1))
    assert message_of(path).splitlines()[0] == (
        f"{path}: {place}: the key is given twice; remove one"
    )


def test_every_line_of_a_report_names_the_file(tmp_path):
    broken = document()
    broken["workers"][0]["slots"] = 0
    broken["jobs"][0]["weight"] = -1
    path = tmp_path / "two.json"
    path.write_text(json.dumps(broken))
    assert message_of(path).splitlines() == [
        f"{path}: workers[0].slots: must be a whole number, 1 to 1000000, got 0",
        f"{path}: jobs[0].weight: must be at least 0, got -1.0",
    ]


def test_writing_to_a_bad_place_leaves_nothing_behind(tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("x")
    with pytest.raises(OSError, match=r"exists|Not a directory"):
        Instance.from_dict(document()).to_json(blocker / "instance.json")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
