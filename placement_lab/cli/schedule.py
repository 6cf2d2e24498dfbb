"""``placement-lab schedule``: what one scheduler makes of an instance."""

from __future__ import annotations

from typing import Annotated

import typer

from placement_lab.cli._inputs import load_instance
from placement_lab.cli._options import (
    ChromeTrace,
    Csv,
    Gantt,
    InstanceArgument,
    Json,
    Seed,
    ShowProgress,
    Variant,
    Warm,
)
from placement_lab.cli._output import Output, ScheduleFiles, show_metrics
from placement_lab.cli._progress import Display

__all__ = ["command"]


def command(
    instance: InstanceArgument,
    *,
    scheduler: Annotated[
        str, typer.Option("--scheduler", metavar="NAME", help="Offline or online.")
    ],
    seed: Seed = 0,
    variant: Variant = None,
    warm: Warm = False,
    gantt: Gantt = None,
    trace: ChromeTrace = None,
    csv: Csv = None,
    json: Json = None,
    progress: ShowProgress = None,
) -> None:
    """Make a schedule with one scheduler, offline or online."""
    from placement_lab.schedulers import get_scheduler

    output, files = Output(json), ScheduleFiles(gantt, trace, csv)
    chosen = get_scheduler(scheduler)
    asked = load_instance(instance, seed=seed, variant=variant, warm=warm)
    with Display(progress) as display:
        display.update(f"schedule {scheduler}")
        made = chosen.schedule(asked, seed=seed)
    output.emit(
        made.to_dict(), lambda console: show_metrics(console, scheduler, asked, made)
    )
    files.write(made, asked)
