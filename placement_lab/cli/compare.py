"""``placement-lab compare``: schedulers against each other and a proven bound."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from placement_lab.cli._inputs import load_instances
from placement_lab.cli._options import (
    Deterministic,
    Json,
    Objective,
    Seed,
    Seeds,
    ShowProgress,
    TimeLimit,
    Variant,
    Warm,
)
from placement_lab.cli._output import Output, check_folder
from placement_lab.cli._progress import Display

if TYPE_CHECKING:
    from rich.console import Console

    from placement_lab.compare import Comparison, Progress
    from placement_lab.problem import Instance

__all__ = ["command"]

BUNDLED = "compass-5w"
INTERRUPTED = 130


def command(
    instances: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INSTANCE",
            help="JSON files or data sets; without any, the bundled compass-5w.",
            show_default=False,
        ),
    ] = None,
    *,
    objective: Objective = "latency",
    schedulers: Annotated[
        str | None,
        typer.Option(
            "--schedulers",
            metavar="A,B",
            help="Which ones.  [default: all]",
            show_default=False,
        ),
    ] = None,
    time_limit: TimeLimit = 20.0,
    seeds: Seeds = 1,
    seed: Seed = 0,
    variant: Variant = None,
    warm: Warm = False,
    deterministic: Deterministic = False,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write the report, and all schedules with Gantt charts and traces.",
            show_default=False,
        ),
    ] = None,
    json: Json = None,
    progress: ShowProgress = None,
) -> None:
    """Compare schedulers, and say how far each is from the optimum."""
    from placement_lab.compare import ComparisonInterrupted, compare

    output = Output(json)
    if out is not None:
        check_folder(out, "--out")
    names = None if schedulers is None else _split(schedulers)
    asked, each = _load(instances or [BUNDLED], seeds, seed, variant, warm=warm)
    code = 0
    with Display(progress, objective) as display:
        try:
            found = compare(
                asked,
                names,
                objective,
                time_limit,
                seeds=each,
                seed=seed,
                deterministic=deterministic,
                on_progress=lambda at: _show_progress(display, at),
            )
        except ComparisonInterrupted as stop:
            found, code = stop.partial, INTERRUPTED
    if code == INTERRUPTED:
        print("placement-lab: interrupted; the best found so far:", file=sys.stderr)
    output.emit(found.to_dict(), lambda console: _show(console, found))
    if out is not None:
        _report(found, out, quiet=json == "-", progress=progress)
    if code or any(one.reference.status == "infeasible" for one in found.instances):
        raise typer.Exit(code or 1)


def _split(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise typer.BadParameter(
            "names no scheduler; leave it out for all of them",
            param_hint="--schedulers",
        )
    return names


def _load(
    texts: list[str], seeds: int, seed: int, variant: str | None, *, warm: bool
) -> tuple[list[Instance], int]:
    """Return the instances, and how many seeds each of them is scheduled with."""
    loaded = [
        load_instances(text, seeds=seeds, seed=seed, variant=variant, warm=warm)
        for text in texts
    ]
    drawn = seeds > 1 and all(len(some) == seeds for some in loaded)
    if not drawn and any(len(some) > 1 for some in loaded):
        raise typer.BadParameter(
            "some instances come from a generator and some do not; "
            "compare them in two calls",
            param_hint="--seeds",
        )
    return [one for some in loaded for one in some], 1 if drawn else seeds


def _show_progress(display: Display, at: Progress) -> None:
    words = {
        "schedule": f"schedule {at.name}",
        "solve": "solve",
        "clairvoyant": "foresight",
    }
    where = f" ({at.step + 1} of {at.steps})" if at.steps > 1 else ""
    display.update(
        words[at.stage] + where,
        limit_s=at.limit_s,
        objective=at.objective,
        bound=at.bound,
    )


def _show(console: Console, found: Comparison) -> None:
    from placement_lab.report.tables import (
        comparison_caption,
        comparison_notes,
        comparison_table,
        distribution_caption,
        distribution_table,
    )

    if found.distributions:
        console.print(distribution_table(found, console.width))
        console.print(distribution_caption(found), style="dim")
        _show_errors(console, found)
        return
    for one in found.instances:
        console.print(comparison_table(one, console.width))
        for line in comparison_notes(one):
            console.print(line)
        console.print(comparison_caption(found, one), style="dim")


def _show_errors(console: Console, found: Comparison) -> None:
    """Say why a scheduler has no gap on some instance, once for each reason."""
    reasons = {f"{row.scheduler}: {row.error}": None for row in found.rows if row.error}
    for line in reasons:
        console.print(line, style="red")


def _report(found: Comparison, out: str, *, quiet: bool, progress: bool | None) -> None:
    from placement_lab.report.html import write_report

    with Display(progress) as display:
        display.update(f"write the report into {out}")
        page = write_report(found, out)
    if not quiet:
        print(f"report: {page}")
