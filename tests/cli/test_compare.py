"""``compare``, ``solve`` and ``bound`` on the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(sys.executable).with_name("placement-lab")
SMALL = "compass-5w:n_jobs=3"


def without_times(document):
    """Return the document without wall-clock times; nothing else may differ."""
    if isinstance(document, dict):
        return {
            key: without_times(value)
            for key, value in document.items()
            if key != "seconds"
        }
    if isinstance(document, list):
        return [without_times(value) for value in document]
    return document


def test_the_table_says_which_bound_and_whether_it_is_proven(cli):
    done = cli("compare", SMALL, "--schedulers", "heft,jit", "--time-limit", 1)
    assert done.code == 0
    assert done.err == ""
    for words in (
        "heft",
        "jit",
        "reference",
        "hit rate",
        "bound ",
        "proven optimal",
        "clairvoyant bound",
        "seed 0, time limit 1 s, deterministic: ",
    ):
        assert words in done.out


def test_json_on_standard_output_stands_alone(cli):
    done = cli(
        *("compare", SMALL, "--schedulers", "heft", "--time-limit", 0.5),
        *("--json", "-"),
    )
    assert [row["scheduler"] for row in done.json["rows"]] == ["heft"]
    assert done.err == ""


def test_a_json_file_comes_beside_the_table(cli, tmp_path):
    done = cli(
        *("compare", SMALL, "--schedulers", "heft", "--time-limit", 0.5),
        *("--json", "deep/in/found.json"),
    )
    assert "reference" in done.out
    found = json.loads((tmp_path / "deep/in/found.json").read_text())
    assert found["reference"]["schedule"]["runs"]


def test_out_holds_everything_and_one_page_that_needs_no_other_file(cli, tmp_path):
    done = cli(
        *("compare", SMALL, "--schedulers", "heft,jit", "--time-limit", 0.5),
        *("--out", "report"),
    )
    assert done.code == 0
    files = {path.name for path in (tmp_path / "report").iterdir()}
    expected = {"compare.json", "gap.png", "report.html"}
    for name in ("heft", "jit", "reference"):
        expected |= {
            f"{name}.{kind}" for kind in ("schedule.json", "gantt.png", "trace.json")
        }
    assert files == expected
    page = (tmp_path / "report/report.html").read_text()
    assert page.count("data:image/png;base64,") == 4
    assert "http" not in page
    assert "jit" in page
    cli("datasets", SMALL, "--json", "three.json")
    assert cli("verify", "three.json", "report/jit.schedule.json").code == 0


def test_several_instances_have_a_folder_each(cli, tmp_path):
    done = cli(
        *("compare", "tiny", "--seeds", 2, "--schedulers", "heft,jit"),
        *("--time-limit", 0.5, "--out", "report"),
    )
    assert done.code == 0
    assert "95 % interval" in done.out
    folders = [path for path in (tmp_path / "report").iterdir() if path.is_dir()]
    assert len(folders) == 2
    assert all((one / "heft.gantt.png").exists() for one in folders)


def test_seeds_of_a_trace_are_the_windows_that_follow_one_another(cli):
    done = cli(
        *("compare", SMALL, "--seeds", 2, "--schedulers", "heft"),
        *("--time-limit", 0, "--json", "-"),
    )
    names = [one["instance"]["name"] for one in done.json["instances"]]
    assert "jobs 0 to 2" in names[0]
    assert "jobs 3 to 5" in names[1]


def test_variants_and_warm_caches_of_the_bundled_workload(cli):
    warm = cli("datasets", "compass-5w", "--warm", "--json", "-").json
    assert any(worker.get("resident") for worker in warm["workers"])
    blocking = cli("datasets", "compass-5w", "--variant", "blocking", "--json", "-")
    assert blocking.json["rules"]["loading"] == "blocking"


def test_a_generator_and_a_file_are_not_mixed_under_seeds(cli, work):
    done = cli("compare", work, "tiny", "--seeds", 2, "--time-limit", 0)
    assert done.code == 2
    assert "--seeds" in done.lines[0]


def test_solve_prints_a_summary_and_writes_what_bound_and_verify_agree_with(cli, work):
    done = cli("solve", work, "--time-limit", 60, "--json", "found.json")
    assert done.code == 0
    assert "optimal" in done.out
    found = json.loads(Path("found.json").read_text())
    Path("best.json").write_text(json.dumps(found["schedule"]))
    assert cli("verify", work, "best.json").code == 0
    bound = cli("bound", work, "--json", "-").json
    assert bound["bound_s"] <= found["objective_s"]
    assert bound["bound_s"] in bound["bounds"].values()
    hinted = cli("solve", work, "--time-limit", 0, "--hint", "best.json", "--json", "-")
    assert hinted.json["objective_s"] == pytest.approx(found["objective_s"])


def test_a_hint_for_another_instance_exits_2_and_names_the_file(cli, work, tmp_path):
    plan = {
        "format": "placement-lab/plan",
        "version": 1,
        "instance": "0" * 64,
        "workers": {},
    }
    (tmp_path / "other.json").write_text(json.dumps(plan))
    done = cli("solve", work, "--time-limit", 0, "--hint", "other.json")
    assert done.code == 2
    assert done.lines[0].startswith("other.json: ")


def test_the_seed_reaches_a_generator_unless_its_specification_has_one(cli):
    def name(*arguments):
        return cli("validate", *arguments, "--json", "-").json["sha256"]

    assert name("tiny", "--seed", 3) == name("tiny:seed=3") != name("tiny")
    assert name("tiny:seed=3", "--seed", 4) == name("tiny:seed=3")


def test_a_formulation_that_does_not_exist_exits_2(cli, work):
    done = cli("solve", work, "--formulation", "magic")
    assert done.code == 2
    assert "'magic'" in done.lines[0]


@pytest.mark.parametrize("seed", [0, 2**31, 10**30])
def test_seeds_may_have_any_size(cli, work, seed):
    done = cli(
        *("compare", work, "--seed", seed, "--time-limit", 0.2, "--json", "-"),
        *("--schedulers", "hash,eft"),
    )
    assert done.code == 0
    assert done.json["seed"] == seed


def test_an_empty_workload_is_compared(cli, tmp_path, document):
    document["jobs"] = []
    (tmp_path / "empty.json").write_text(json.dumps(document))
    done = cli("compare", "empty.json", "--json", "-")
    assert done.code == 0
    assert {row["objective_s"] for row in done.json["rows"]} == {0.0}
    for command in (
        ["solve", "empty.json"],
        ["schedule", "empty.json", "--scheduler", "heft"],
        ["simulate", "empty.json", "--scheduler", "compass"],
        ["bound", "empty.json"],
    ):
        assert cli(*command).code == 0


def test_an_instance_without_a_schedule_exits_1(cli, tmp_path, document):
    # Two tasks that need different workers, and no link to send the data over.
    document["default_link"] = None
    document["models"] = []
    document["workers"] = [
        {"id": "w0", "memory_bytes": 1},
        {"id": "w1", "memory_bytes": 1},
    ]
    document["workflows"][0]["tasks"] = [
        {"id": "a", "runtime_s": {"w0": 1}},
        {"id": "b", "runtime_s": {"w1": 1}},
    ]
    (tmp_path / "apart.json").write_text(json.dumps(document))
    done = cli("solve", "apart.json", "--time-limit", 1, "--json", "-")
    assert done.code == 1
    assert done.json["status"] == "infeasible"
    assert done.json["objective_s"] is None
    done = cli("compare", "apart.json", "--time-limit", 1, "--json", "-")
    assert done.code == 1
    assert done.json["reference"]["status"] == "infeasible"


@pytest.mark.parametrize("command", ["compare", "solve"])
def test_progress_is_on_standard_error_when_asked_for(cli, command):
    done = cli(command, SMALL, "--time-limit", 0.5, "--progress", "--json", "-")
    assert done.json
    assert any("solve" in line for line in done.lines)


@pytest.mark.parametrize("command", ["compare", "solve"])
def test_ctrl_c_reports_the_best_found_so_far(tmp_path, command):
    running = subprocess.Popen(
        [
            *(SCRIPT, command, "compass-5w:n_jobs=8", "--time-limit", "60"),
            *("--progress", "--json", "found.json"),
        ],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in running.stderr:
        if "incumbent" in line:
            break
    time.sleep(1.0)
    started = time.monotonic()
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=50)
    assert time.monotonic() - started < 30
    assert running.returncode == 130
    assert "placement-lab: interrupted; the best found so far:" in err
    assert "Traceback" not in err
    assert "latency" in out
    found = json.loads((tmp_path / "found.json").read_text())
    reference = found.get("reference", found)
    assert reference["schedule"]["runs"]
    assert reference["bound_s"] > 0


def test_compare_is_the_same_under_every_hash_seed(tmp_path):
    found = []
    for hash_seed in range(4):
        done = subprocess.run(
            [
                *(SCRIPT, "compare", "compass-5w:n_jobs=6", "--deterministic"),
                *("--time-limit", "0.3", "--json", "-"),
                *("--schedulers", "compass,eft,hash,heft"),
            ],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        found.append(without_times(json.loads(done.stdout)))
    texts = {json.dumps(one) for one in found}
    assert len(texts) == 1
    assert found[0]["deterministic"]
    assert found[0]["reference"]["deterministic"]
