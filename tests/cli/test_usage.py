"""Bad usage is one line and exit 2; a traceback only on request."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from placement_lab import __version__
from placement_lab.errors import InfeasiblePlanError, RefereeError


def interrupted_kernel() -> SystemError:
    """Return what numba raises when Ctrl-C comes while compiled code runs."""
    error = SystemError("returned a result with an exception set")
    error.__cause__ = SystemError("returned a result with an exception set")
    error.__cause__.__cause__ = KeyboardInterrupt()
    return error


SCRIPT = Path(sys.executable).with_name("placement-lab")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Missing command"),
        (["comapre"], "'comapre'. Did you mean 'compare'"),
        (["compare", "--jsn", "x"], "--jsn"),
        (["solve"], "INSTANCE"),
        (["schedule", "work.json"], "--scheduler"),
        (["solve", "x", "--time-limit", "soon"], "'--time-limit': must be a finite"),
        (["solve", "x", "--time-limit", "-1"], "at least 0, got '-1'"),
        (["solve", "x", "--time-limit", "inf"], "got 'inf'"),
        (["solve", "x", "--time-limit", "nan"], "got 'nan'"),
        (["solve", "x", "--seed", "-3"], "'--seed': must be a whole number"),
        (["solve", "x", "--seed", "1.5"], "got '1.5'"),
        (["compare", "--seeds", "0"], "at least 1, got '0'"),
        (["compare", "--schedulers", ","], "names no scheduler"),
        (["solve", "x", "--objective", "latncy"], "did you mean 'latency'?"),
        (["replay", "x", "y", "--evict", "lfu"], "fifo, lru, lookahead, belady"),
        (["verify", "x", "y", "--tolerance", "-1e-9"], "got '-1e-9'"),
        (["compare", "compas-5w"], "did you mean 'compass-5w'?"),
        (["solve", "compass-5w:jobs"], "option=value"),
        (["solve", "nowhere.json"], "nowhere.json: no such file"),
        (["solve", "no/such/place"], "no/such/place: no such file"),
        (["schedule", "compass-5w", "--scheduler", "hetf"], "did you mean 'heft'?"),
        (["compare", "--schedulers", "heft,hetf"], "did you mean 'heft'?"),
    ],
)
def test_a_fault_of_the_user_is_one_line_and_exit_2(cli, arguments, words):
    done = cli(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert len(done.lines) == 1
    assert words in done.lines[0]


def test_a_file_takes_no_variant(cli, work):
    done = cli("bound", work, "--variant", "blocking")
    assert done.code == 2
    assert "work.json is a file; leave it out" in done.lines[0]


@pytest.mark.parametrize(
    ("option", "command"),
    [
        ("--json", ["bound", "compass-5w"]),
        ("--gantt", ["solve", "compass-5w"]),
        ("--trace", ["schedule", "compass-5w", "--scheduler", "heft"]),
        ("--csv", ["simulate", "compass-5w", "--scheduler", "jit"]),
        ("--out", ["compare"]),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    cli, tmp_path, option, command
):
    (tmp_path / "file").write_text("in the way")
    done = cli(*command, option, "file/inside")
    assert done.code == 2
    assert "file/inside cannot be written" in done.lines[0]
    assert option in done.lines[0]
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_folder_is_no_file_and_a_file_is_no_folder(cli, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    assert "name a file" in cli("bound", "x.json", "--json", "folder").lines[0]
    assert "name a file" in cli("bound", "x.json", "--json", "").lines[0]
    assert "name a folder" in cli("compare", "--out", "file").lines[0]


def test_version_and_help_are_no_errors(cli):
    assert cli("--version").out == f"placement-lab {__version__}\n"
    assert "verify" in cli("--help").out
    assert "--time-limit" in cli("compare", "-h").out


def test_a_traceback_comes_with_debug_alone(cli):
    assert "Traceback" not in cli("bound", "nowhere.json").err
    for arguments in (
        ("--debug", "bound", "nowhere.json"),
        ("bound", "nowhere.json", "--debug"),
    ):
        done = cli(*arguments)
        assert done.code == 2
        assert "Traceback" in done.err
        assert "placement-lab: nowhere.json: no such file" in done.err


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (RuntimeError("two\nlines"), 1, "bug: RuntimeError: two lines; please report"),
        (RefereeError("a bound too high"), 1, "bug: a bound too high"),
        (InfeasiblePlanError("worker 'w0' waits"), 1, "worker 'w0' waits"),
        (PermissionError(13, "Permission denied", "out.json"), 2, "out.json: Perm"),
        (OSError(28, "No space left on device", "out.json"), 2, "No space left"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (interrupted_kernel(), 130, "interrupted"),
    ],
)
def test_whatever_goes_wrong_inside_is_one_line_too(
    cli, work, monkeypatch, *, error, code, words
):
    def fail(*_args, **_options):
        raise error

    monkeypatch.setattr("placement_lab.solvers.lower_bound", fail)
    done = cli("bound", work)
    assert done.code == code
    assert len(done.lines) == 1
    assert words in done.lines[0]


def test_the_installed_script_returns_the_exit_code(tmp_path):
    done = subprocess.run(
        [SCRIPT, "bound", "nowhere.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "placement-lab: nowhere.json: no such file; check the path\n"
    )


def test_a_reader_that_leaves_early_is_no_crash(tmp_path):
    done = subprocess.run(
        f"'{SCRIPT}' datasets --json - | head -c 1",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout == "{"
    assert done.stderr == ""
