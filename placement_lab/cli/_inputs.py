"""What the user names: instances from files and data sets, plans, schedules."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from placement_lab.errors import ProblemError

if TYPE_CHECKING:
    from placement_lab.problem import Instance

__all__ = ["load_instance", "load_instances"]


def load_instance(
    text: str,
    *,
    seed: int = 0,
    variant: str | None = None,
    warm: bool = False,
    shows_warnings: bool = True,
) -> Instance:
    """Load an instance from a JSON file or a data set, and report its warnings.

    A generator gets the seed, unless the user's specification has one.
    """
    if _is_file(text):
        if variant is not None or warm:
            option = "--warm" if variant is None else "--variant"
            raise typer.BadParameter(
                f"is for bundled workloads, and {text} is a file; leave it out",
                param_hint=option,
            )
        from placement_lab.problem import Instance

        instance = Instance.from_json(text)
    else:
        flags = _flags(variant, warm=warm)
        name, given = _parsed(text)
        if "seed" in _known_options(name) and "seed" not in given:
            flags["seed"] = seed
        instance = _from_dataset(text, flags)
    shown = instance.warnings if shows_warnings and _is_file(text) else ()
    for warning in shown:
        print(f"placement-lab: warning: {text}: {warning}", file=sys.stderr)
    return instance


def load_instances(
    text: str, *, seeds: int, seed: int, variant: str | None, warm: bool
) -> list[Instance]:
    """Load as many instances as there are seeds, where a data set has so many.

    A generator gets ``seed``, ``seed + 1``, ...; of a trace, the windows that follow
    one another are taken. A file is the only one of its kind, and so is an example.
    """
    first = load_instance(text, seed=seed, variant=variant, warm=warm)
    if seeds == 1 or _is_file(text):
        return [first]
    name, given = _parsed(text)
    known = _known_options(name)
    flags = _flags(variant, warm=warm)
    if "seed" in known:
        start = given.get("seed", seed)
        return [_from_dataset(text, flags | {"seed": start + i}) for i in range(seeds)]
    if "first_job" in known and first.jobs:
        return [first, *_windows(text, given, flags, len(first.jobs), seeds)]
    return [first]


def _windows(
    text: str, given: dict[str, Any], flags: dict[str, Any], n_jobs: int, count: int
) -> list[Instance]:
    from placement_lab.datasets.workloads import WARM_UP_JOBS

    is_warm = (given | flags).get("warm", False)
    start = given.get("first_job", WARM_UP_JOBS if is_warm else 0)
    return [
        _from_dataset(text, flags | {"first_job": start + i * n_jobs})
        for i in range(1, count)
    ]


def _is_file(text: str) -> bool:
    looks_like_one = text.endswith(".json") or os.sep in text
    return looks_like_one or Path(text).is_file()


def _flags(variant: str | None, *, warm: bool) -> dict[str, Any]:
    flags: dict[str, Any] = {} if variant is None else {"variant": variant}
    return flags | {"warm": True} if warm else flags


def _known_options(name: str) -> tuple[str, ...]:
    from placement_lab.datasets import available_datasets

    return {one.name: one.options for one in available_datasets()}[name]


def _parsed(text: str) -> tuple[str, dict[str, Any]]:
    from placement_lab.datasets import parse_spec

    return parse_spec(text)


def _from_dataset(text: str, options: dict[str, Any]) -> Instance:
    from placement_lab.datasets import load_dataset

    try:
        return load_dataset(text, **options)
    except ProblemError as error:
        raise ProblemError(error.faults, source=text) from None
