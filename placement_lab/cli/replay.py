"""``placement-lab replay``: give a plan its times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

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
    one_of,
)
from placement_lab.cli._output import Output, ScheduleFiles, show_metrics
from placement_lab.cli._progress import Display

if TYPE_CHECKING:
    from placement_lab.plan import Plan

__all__ = ["command"]

EVICT = ("fifo", "lru", "lookahead", "belady")


def _policy(value: str | None) -> str | None:
    return None if value is None else one_of(value, EVICT, "eviction policy")


def command(
    instance: InstanceArgument,
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="A JSON file.")],
    *,
    evict: Annotated[
        str | None,
        typer.Option(
            "--evict",
            metavar="NAME",
            help="Take the runs alone from the plan; add loads, and evictions by fifo, "
            "lru, lookahead or belady.",
            callback=_policy,
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    variant: Variant = None,
    warm: Warm = False,
    gantt: Gantt = None,
    trace: ChromeTrace = None,
    csv: Csv = None,
    json: Json = None,
    progress: ShowProgress = None,
) -> None:
    """Replay a plan: every action as early as its order allows (exit 1: it cannot)."""
    from placement_lab.completion import complete
    from placement_lab.errors import InfeasiblePlanError, PlanError
    from placement_lab.plan import Plan
    from placement_lab.replay import replay

    output, files = Output(json), ScheduleFiles(gantt, trace, csv)
    asked = load_instance(instance, seed=seed, variant=variant, warm=warm)
    given = Plan.from_json(plan)
    with Display(progress) as display:
        display.update("replay")
        try:
            if evict is not None:
                given = complete(asked, _runs(given), evict)
            made = replay(asked, given)
        except InfeasiblePlanError as error:
            raise InfeasiblePlanError(f"{plan}: {error}") from error
        except PlanError as error:
            raise PlanError(f"{plan}: {error}") from error
    output.emit(
        made.to_dict(), lambda console: show_metrics(console, plan, asked, made)
    )
    files.write(made, asked)


def _runs(plan: Plan) -> dict[str, list[str]]:
    return {
        worker: [action.target for action in actions if action.kind == "run"]
        for worker, actions in plan.workers.items()
    }
