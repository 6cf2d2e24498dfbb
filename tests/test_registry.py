"""Names resolve to one entry point each, and wrong names get help."""

from __future__ import annotations

import sys
import tomllib
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest

from placement_lab import registry
from placement_lab.errors import PlacementError, UnknownNameError

GROUP = "placement_lab.schedulers"
PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"


def register(monkeypatch: pytest.MonkeyPatch, **targets: str) -> None:
    """Make `targets` the only entry points there are."""
    entries = tuple(EntryPoint(name, value, GROUP) for name, value in targets.items())
    monkeypatch.setattr(
        registry,
        "entry_points",
        lambda group: tuple(entry for entry in entries if entry.group == group),
    )


def test_names_are_sorted(monkeypatch):
    register(monkeypatch, heft="json:loads", eft="json:dumps")
    assert registry.available(GROUP) == ("eft", "heft")


def test_a_group_that_nobody_fills_is_empty():
    assert registry.available("placement_lab.no_such_group") == ()


def test_the_schedulers_of_pyproject_are_available():
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    assert set(project["entry-points"][GROUP]) <= set(registry.available(GROUP))


def test_load_returns_what_the_entry_point_names(monkeypatch):
    register(monkeypatch, upper="builtins:str.upper")
    assert registry.load(GROUP, "upper") is str.upper


def test_load_imports_only_the_one_asked_for(monkeypatch):
    monkeypatch.delitem(sys.modules, "this", raising=False)
    register(monkeypatch, broken="no_such_module:Thing", loud="this:s", ok="json:loads")
    registry.load(GROUP, "ok")
    assert "this" not in sys.modules


def test_available_imports_nothing(monkeypatch):
    monkeypatch.delitem(sys.modules, "this", raising=False)
    register(monkeypatch, loud="this:s")
    registry.available(GROUP)
    assert "this" not in sys.modules


def test_a_close_name_is_suggested(monkeypatch):
    register(monkeypatch, heft="json:loads", eft="json:dumps")
    with pytest.raises(UnknownNameError) as caught:
        registry.load(GROUP, "hetf")
    assert str(caught.value) == (
        "unknown scheduler 'hetf'; did you mean 'heft'? Available: eft, heft"
    )


def test_a_far_name_gets_the_list_alone(monkeypatch):
    register(monkeypatch, heft="json:loads", eft="json:dumps")
    with pytest.raises(UnknownNameError) as caught:
        registry.load(GROUP, "zzz")
    assert str(caught.value) == "unknown scheduler 'zzz'. Available: eft, heft"


def test_an_empty_group_says_so():
    with pytest.raises(UnknownNameError, match=r"unknown no such group 'x'.*none"):
        registry.load("placement_lab.no_such_group", "x")


def test_the_error_is_a_value_error_of_ours():
    assert issubclass(UnknownNameError, PlacementError)
    assert issubclass(UnknownNameError, ValueError)


def test_ours_wins_where_two_packages_register_one_name(monkeypatch):
    ours = next(iter(entry_points(group=GROUP)))
    theirs = EntryPoint(ours.name, "json:loads", GROUP)
    for order in ([ours, theirs], [theirs, ours]):
        monkeypatch.setattr(registry, "entry_points", lambda group, order=order: order)
        assert registry._entries(GROUP)[ours.name] == ours
