"""``placement-lab simulate``: an online policy, job by job."""

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
        str, typer.Option("--scheduler", metavar="NAME", help="An online one.")
    ],
    faithful: Annotated[
        bool,
        typer.Option("--faithful", help="compass: with the quirks of its authors."),
    ] = False,
    no_adjust: Annotated[
        bool, typer.Option("--no-adjust", help="compass: without adjustment.")
    ] = False,
    no_cache_term: Annotated[
        bool,
        typer.Option("--no-cache-term", help="compass: blind to what is resident."),
    ] = False,
    no_load_term: Annotated[
        bool, typer.Option("--no-load-term", help="compass: blind to queues.")
    ] = False,
    seed: Seed = 0,
    variant: Variant = None,
    warm: Warm = False,
    gantt: Gantt = None,
    trace: ChromeTrace = None,
    csv: Csv = None,
    json: Json = None,
    progress: ShowProgress = None,
) -> None:
    """Simulate an online scheduler, which sees jobs as they arrive."""
    from placement_lab.metrics import evaluate
    from placement_lab.schedulers import get_scheduler

    output, files = Output(json), ScheduleFiles(gantt, trace, csv)
    options = {
        name: value
        for name, value, is_given in (
            ("faithful", True, faithful),
            ("adjust", False, no_adjust),
            ("cache_term", False, no_cache_term),
            ("load_term", False, no_load_term),
        )
        if is_given
    }
    chosen = get_scheduler(scheduler, **options)
    asked = load_instance(instance, seed=seed, variant=variant, warm=warm)
    with Display(progress) as display:
        display.update(f"simulate {scheduler}")
        made = chosen.schedule(asked, seed=seed)
    output.emit(
        {"metrics": evaluate(asked, made).to_dict(), "schedule": made.to_dict()},
        lambda console: show_metrics(console, scheduler, asked, made),
    )
    files.write(made, asked)
