"""``placement-lab bound``: lower bounds that need no search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from placement_lab.cli._inputs import load_instance
from placement_lab.cli._options import (
    InstanceArgument,
    Json,
    Objective,
    Seed,
    ShowProgress,
    Variant,
    Warm,
)
from placement_lab.cli._output import Output
from placement_lab.cli._progress import Display

if TYPE_CHECKING:
    from rich.console import Console

    from placement_lab.solvers import BoundResult

__all__ = ["command"]


def command(
    instance: InstanceArgument,
    *,
    objective: Objective = "latency",
    seed: Seed = 0,
    variant: Variant = None,
    warm: Warm = False,
    json: Json = None,
    progress: ShowProgress = None,
) -> None:
    """Prove lower bounds without a search: no schedule is better."""
    from placement_lab.solvers import lower_bound

    output = Output(json)
    asked = load_instance(instance, seed=seed, variant=variant, warm=warm)
    with Display(progress, objective) as display:
        display.update("bound")
        found = lower_bound(asked, objective)
    output.emit(found.to_dict(), lambda console: _show(console, found, objective))


def _show(console: Console, found: BoundResult, objective: str) -> None:
    from placement_lab.report.formatting import format_objective

    width = max(map(len, found.bounds), default=0)
    for name, value in found.bounds.items():
        mark = "  <- the best" if name == found.source else ""
        console.print(f"{name:<{width}}  {format_objective(value, objective)}{mark}")
    console.print(f"bound: {format_objective(found.bound, objective)}", style="bold")
