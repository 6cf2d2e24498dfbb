"""``placement-lab verify``: whether a schedule obeys the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from placement_lab.cli._inputs import load_instance
from placement_lab.cli._options import (
    InstanceArgument,
    Json,
    Seed,
    ShowProgress,
    Variant,
    Warm,
    seconds,
)
from placement_lab.cli._output import Output
from placement_lab.cli._progress import Display

if TYPE_CHECKING:
    from rich.console import Console

    from placement_lab.verify import Violation

__all__ = ["command"]


def command(
    instance: InstanceArgument,
    schedule: Annotated[str, typer.Argument(metavar="SCHEDULE", help="A JSON file.")],
    *,
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance",
            metavar="S",
            help="Times this close are equal.  [default: 1e-9]",
            parser=seconds,
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    variant: Variant = None,
    warm: Warm = False,
    json: Json = None,
    progress: ShowProgress = None,
) -> None:
    """Check a schedule against the rules (exit 1: it breaks some)."""
    from placement_lab.errors import ScheduleError
    from placement_lab.schedule import Schedule
    from placement_lab.verify import verify

    output = Output(json)
    asked = load_instance(instance, seed=seed, variant=variant, warm=warm)
    given = Schedule.from_json(schedule)
    with Display(progress) as display:
        display.update("verify")
        try:
            found = verify(asked, given, tolerance_s=tolerance)
        except ScheduleError as error:
            raise ScheduleError(f"{schedule}: {error}") from error
    output.emit(
        {"violations": [one.to_dict() for one in found]},
        lambda console: _show(console, found),
    )
    if found:
        raise typer.Exit(1)


def _show(console: Console, found: list[Violation]) -> None:
    for one in found:
        console.print(f"{one.rule}  {one.message}", soft_wrap=True)
    count = len(found)
    if count:
        console.print(f"{count} violation{'s' * (count > 1)}", style="bold red")
    else:
        console.print("valid: no violations", style="bold")
