"""A small instance file, and a way to call the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import placement_lab as pl
from placement_lab.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        """Lines on standard error, each of which must be ours."""
        found = self.err.splitlines()
        assert all(line.startswith("placement-lab: ") for line in found), self.err
        return [line.removeprefix("placement-lab: ") for line in found]


@pytest.fixture
def cli(capsys, tmp_path, monkeypatch) -> Callable[..., Done]:
    """Return a function that runs a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Done:
        capsys.readouterr()
        code = main([str(one) for one in arguments])
        return Done(code, *capsys.readouterr())

    return call


def small_instance(**rules: Any) -> pl.Instance:
    """Return three jobs of two tasks on two workers; memory holds one model."""
    build = pl.InstanceBuilder("small", **rules)
    for i in range(2):
        build.worker(f"w{i}", memory_bytes=10, load_bandwidth_bytes_per_s=8)
    build.model("big", size_bytes=8)
    build.model("mid", size_bytes=4)
    build.default_link(1e9)
    flow = build.workflow("f")
    flow.task("a", runtime_s=1.0, model="big")
    flow.task("b", runtime_s=0.5, model="mid")
    flow.edge("a", "b", bytes=10)
    for j in range(3):
        build.job(f"j{j}", "f", release_s=0.25 * j)
    return build.build()


@pytest.fixture
def instance() -> pl.Instance:
    return small_instance()


@pytest.fixture
def work(tmp_path, instance) -> Path:
    """Return the path of the small instance's file."""
    path = tmp_path / "work.json"
    instance.to_json(path)
    return path


@pytest.fixture
def document(instance) -> dict[str, Any]:
    """Return the small instance's JSON document, to be broken."""
    return json.loads(json.dumps(instance.to_dict()))
