"""``placement-lab solve``: the best schedule, and how good it is for certain."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from placement_lab.cli._inputs import load_instance
from placement_lab.cli._options import (
    ChromeTrace,
    Csv,
    Deterministic,
    Gantt,
    InstanceArgument,
    Json,
    Objective,
    Seed,
    ShowProgress,
    TimeLimit,
    Variant,
    Warm,
)
from placement_lab.cli._output import Output, ScheduleFiles
from placement_lab.cli._progress import Display
from placement_lab.errors import PlanError, ScheduleError

if TYPE_CHECKING:
    from placement_lab.plan import Plan
    from placement_lab.problem import Instance
    from placement_lab.solvers import TracePoint

__all__ = ["command"]


def command(
    instance: InstanceArgument,
    *,
    objective: Objective = "latency",
    time_limit: TimeLimit = 20.0,
    formulation: Annotated[
        str, typer.Option("--formulation", metavar="NAME", help="Of the exact model.")
    ] = "epochs",
    hint: Annotated[
        str | None,
        typer.Option(
            "--hint",
            metavar="PLAN",
            help="Start from a plan or schedule (JSON).",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    variant: Variant = None,
    warm: Warm = False,
    deterministic: Deterministic = False,
    gantt: Gantt = None,
    trace: ChromeTrace = None,
    csv: Csv = None,
    json: Json = None,
    progress: ShowProgress = None,
) -> None:
    """Find the best schedule, with a proven bound (exit 1: there is none)."""
    from placement_lab.solvers import solve

    output, files = Output(json), ScheduleFiles(gantt, trace, csv)
    asked = load_instance(instance, seed=seed, variant=variant, warm=warm)
    start = None if hint is None else _read_hint(hint, asked)
    with Display(progress, objective) as display:

        def report(point: TracePoint) -> None:
            display.update(
                "solve",
                limit_s=time_limit,
                objective=point.objective,
                bound=point.bound,
            )

        display.update("solve", limit_s=time_limit)
        found = solve(
            asked,
            objective,
            time_limit,
            formulation=formulation,
            hint=start,
            seed=seed,
            deterministic=deterministic,
            on_progress=report,
        )
    if found.interrupted:
        print("placement-lab: interrupted; the best found so far:", file=sys.stderr)
    output.emit(found.to_dict(), lambda console: console.print(found.summary()))
    if found.schedule is not None:
        files.write(found.schedule, asked)
    if found.interrupted:
        raise typer.Exit(130)
    if found.schedule is None:
        raise typer.Exit(1)


def _read_hint(path: str, instance: Instance) -> Plan:
    """Read a plan or a schedule, whichever the file says it is, and try it.

    One that cannot be carried out is bad input: it says nothing about the instance.
    """
    from placement_lab.completion import plan_of
    from placement_lab.jsonfile import load_json
    from placement_lab.plan import Plan
    from placement_lab.replay import replay
    from placement_lab.schedule import Schedule

    try:
        document: Any = load_json(path)
    except ValueError:
        document = None  # Plan.from_json explains what is wrong with the file
    is_object = isinstance(document, dict)
    if is_object and document.get("format") == "placement-lab/schedule":
        given: Plan | Schedule = Schedule.from_json(path)
    else:
        given = Plan.from_json(path)
    try:
        plan = given if isinstance(given, Plan) else plan_of(instance, given)
        replay(instance, plan)
    except (PlanError, ScheduleError) as error:
        raise PlanError(f"{path}: {error}") from error
    return plan
