"""``placement-lab validate``: whether a file is an instance, and if not, why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from placement_lab.cli._inputs import load_instance
from placement_lab.cli._options import InstanceArgument, Json, Seed, ShowProgress
from placement_lab.cli._output import Output
from placement_lab.cli._progress import Display
from placement_lab.errors import Fault, ProblemError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

__all__ = ["command"]


def command(
    instance: InstanceArgument,
    *,
    seed: Seed = 0,
    json: Json = None,
    progress: ShowProgress = None,
) -> None:
    """Report every fault and warning of an instance (exit 1: it has faults)."""
    output = Output(json)
    faults: Sequence[Fault] = ()
    document: dict[str, Any] = {"valid": True, "name": None, "sha256": None}
    warnings: Sequence[Fault] = ()
    with Display(progress) as display:
        display.update(f"validate {instance}")
        try:
            found = load_instance(instance, seed=seed, shows_warnings=False)
        except ProblemError as error:
            if isinstance(error.__cause__, ValueError):
                raise  # no document to judge: missing, unreadable, or not JSON
            faults = error.faults
        else:
            document |= {"name": found.name, "sha256": found.sha256}
            warnings = found.warnings
    document |= {
        "valid": not faults,
        "faults": [_fault(one) for one in faults],
        "warnings": [_fault(one) for one in warnings],
    }
    output.emit(document, lambda console: _show(console, instance, faults, warnings))
    if faults:
        raise typer.Exit(1)


def _fault(one: Fault) -> dict[str, str]:
    return {"path": one.path, "message": one.message}


def _show(
    console: Console, name: str, faults: Sequence[Fault], warnings: Sequence[Fault]
) -> None:
    for one in faults:
        console.print(f"{name}: {one}", soft_wrap=True)
    for one in warnings:
        console.print(f"{name}: warning: {one}", soft_wrap=True)
    if not faults:
        console.print(f"{name}: valid", style="bold", soft_wrap=True)
