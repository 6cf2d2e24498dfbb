"""Optional packages are explained, heavy ones are left alone until they are used."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from placement_lab._imports import require
from placement_lab.errors import MissingDependencyError

HEAVY = (
    "matplotlib",
    "numba",
    "onnxruntime",
    "ortools",
    "pandas",
    "ray",
    "rich",
    "scipy",
    "sklearn",
    "torch",
    "typer",
    "xgboost",
)

# Numpy is imported before the clock starts: it is the one package that every use
# needs, and its own time says nothing about ours.
PROBE = """
import json, sys, time
import numpy
start = time.perf_counter()
import placement_lab
seconds = time.perf_counter() - start
roots = sorted({name.partition(".")[0] for name in sys.modules})
print(json.dumps({"seconds": seconds, "roots": roots}))
"""


def probe(folder) -> dict:
    """Import the package in a fresh interpreter and tell what that did."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return json.loads(done.stdout)


def test_require_returns_the_module():
    assert require("json.decoder", extra="train", needed_by="a test").JSONDecoder


def test_a_missing_package_names_the_command_that_installs_it():
    with pytest.raises(MissingDependencyError) as caught:
        require("no_such_package.part", extra="train", needed_by="BoostedRuntime")
    assert str(caught.value) == (
        "BoostedRuntime needs the optional package 'no_such_package'; "
        "install it with: pip install 'placement-lab[train]'"
    )
    assert caught.value.name == "no_such_package"


def test_a_missing_package_is_an_import_error():
    with pytest.raises(ImportError):
        require("no_such_package", extra="train", needed_by="a test")


def test_a_package_that_is_there_but_broken_shows_its_own_error(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_package") as caught:
        require("broken_package", extra="train", needed_by="a test")
    assert not isinstance(caught.value, MissingDependencyError)


def test_a_missing_part_of_a_package_that_is_there_is_not_ours_to_explain():
    with pytest.raises(ModuleNotFoundError) as caught:
        require("json.no_such_part", extra="train", needed_by="a test")
    assert not isinstance(caught.value, MissingDependencyError)


def test_importing_the_package_leaves_heavy_packages_alone(tmp_path):
    assert not set(HEAVY) & set(probe(tmp_path)["roots"])


def test_importing_the_package_takes_little_time(tmp_path):
    # The best of three: the first may have to compile the bytecode.
    assert min(probe(tmp_path)["seconds"] for _ in range(3)) < 0.3
