"""Names, options and specifications of data sets."""

from __future__ import annotations

import subprocess
import sys

import pytest

from placement_lab.datasets import available_datasets, load_dataset, parse_spec
from placement_lab.errors import ProblemError, UnknownNameError
from placement_lab.problem import Instance

NAMES = [info.name for info in available_datasets()]


@pytest.mark.parametrize("info", available_datasets(), ids=lambda info: info.name)
def test_a_data_set_is_what_its_entry_says(info):
    instance = load_dataset(info.name)
    assert (info.n_jobs, info.n_tasks, info.n_workers) == (
        len(instance.jobs),
        instance.n_tasks,
        len(instance.workers),
    )
    assert info.description
    assert info.provenance


@pytest.mark.parametrize("name", NAMES)
def test_a_data_set_survives_its_file(name, tmp_path):
    instance = load_dataset(name)
    instance.to_json(tmp_path / "instance.json")
    assert Instance.from_json(tmp_path / "instance.json") == instance


def test_the_bundled_workload_comes_first():
    assert NAMES[0] == "compass-5w"


def test_the_worked_example_of_heft_is_the_paper_s():
    instance = load_dataset("heft10")
    [flow] = instance.workflows
    t1, p3 = flow.tasks[0], instance.worker("p3")
    assert instance.runtime_s(t1, p3) == 9
    assert len(flow.edges) == 15
    assert sum(sum(task.runtime_s.values()) for task in flow.tasks) == 400
    assert sum(edge.transfer_s for edge in flow.edges) == 241


def test_options_of_a_call_go_before_those_of_the_specification():
    instance = load_dataset("compass-5w:n_jobs=2,loading=blocking", n_jobs=3)
    assert len(instance.jobs) == 3
    assert instance.rules.loading == "blocking"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("heft10", ("heft10", {})),
        ("heft10:", ("heft10", {})),
        ("tiny:seed=3", ("tiny", {"seed": 3})),
        ("layered:ccr=0.5", ("layered", {"ccr": 0.5})),
        ("compass-5w:warm=TRUE", ("compass-5w", {"warm": True})),
        ("compass-5w:variant=none", ("compass-5w", {"variant": None})),
        ("compass-5w:variant=30-jobs", ("compass-5w", {"variant": "30-jobs"})),
    ],
)
def test_a_specification_is_a_name_with_options(text, expected):
    assert parse_spec(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("compas-5w", "unknown data set 'compas-5w'; did you mean 'compass-5w'"),
        ("", "unknown data set ''. Available: compass-5w, "),
        ("tiny:seed", "data set 'tiny': 'seed' must be option=value"),
        ("tiny:seed=", "data set 'tiny': 'seed=' must be option=value"),
        ("tiny:=4", "data set 'tiny': '=4' must be option=value"),
        ("tiny:seed=1,seed=2", "'seed=2' must be option=value, each option once"),
        ("tiny:sed=1", "data set 'tiny' has no option 'sed'; did you mean 'seed'"),
        ("heft10:seed=1", "'heft10' has no option 'seed'. Available: none"),
        ("compass-5w:trace=x", "has no option 'trace'"),
    ],
)
def test_a_wrong_specification_is_refused_with_a_remedy(text, message):
    with pytest.raises(UnknownNameError, match=message):
        load_dataset(text)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("tiny:seed=-1", "data set: seed: must be at least 0, got -1"),
        ("layered:n_tasks=nan", "n_tasks: must be a whole number, got nan"),
        ("layered:ccr=inf", "ccr: must be finite and at least 0, got inf"),
        ("layered:ccr=much", "ccr: must be a number, got 'much'"),
        ("layered:n_layers=60", "n_layers: must be 1 to 50, got 60"),
        ("planted:n_tasks=7", "n_tasks: must be at least 8, got 7"),
        ("compass-like:rate_per_s=0", "rate_per_s: must be finite and positive, got 0"),
        ("20x4x5:mix=odd", "mix: must be one of diamond, mixed, got 'odd'"),
    ],
)
def test_a_wrong_value_is_refused_with_its_option(spec, message):
    with pytest.raises(ProblemError, match=message):
        load_dataset(spec)


def test_a_seed_may_be_of_any_size():
    assert load_dataset("tiny", seed=2**200).n_tasks >= 3


def test_reading_a_bundled_workload_needs_no_heavy_package():
    code = (
        "import sys; from placement_lab.datasets import load_dataset; "
        "load_dataset('compass-5w'); "
        "print([m for m in ('pandas', 'numba', 'ortools', 'matplotlib') "
        "if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
