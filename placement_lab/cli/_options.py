"""Options that several commands share, and what they accept."""

from __future__ import annotations

import math
from difflib import get_close_matches
from typing import Annotated

import typer

__all__ = [
    "ChromeTrace",
    "Csv",
    "Deterministic",
    "Gantt",
    "InstanceArgument",
    "Json",
    "Objective",
    "Seed",
    "Seeds",
    "ShowProgress",
    "TimeLimit",
    "Variant",
    "Warm",
    "one_of",
    "seconds",
]


def one_of(value: str, names: tuple[str, ...], what: str) -> str:
    """Return a name if it is known; suggest a close one if not."""
    if value in names:
        return value
    close = get_close_matches(value, names, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise typer.BadParameter(
        f"unknown {what} {value!r}; {hint}available: {', '.join(names)}"
    )


def _objective(value: str) -> str:
    from placement_lab.metrics import OBJECTIVES

    return one_of(value, OBJECTIVES, "objective")


def seconds(text: str | float) -> float:
    """Return a time that the user gave."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise typer.BadParameter(
            f"must be a finite number of seconds of at least 0, got {text!r}"
        )
    return value


def _whole(text: str | int, least: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise typer.BadParameter(
            f"must be a whole number of at least {least}, got {text!r}"
        )
    return value


def _seed(text: str | int) -> int:
    return _whole(text, 0)


def _count(text: str | int) -> int:
    return _whole(text, 1)


InstanceArgument = Annotated[
    str,
    typer.Argument(
        metavar="INSTANCE",
        help="A JSON file, or a data set: NAME or NAME:option=value,...",
        show_default=False,
    ),
]
Json = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="PATH|-",
        help="Write the result as JSON; - is standard output, for it alone.",
        show_default=False,
    ),
]
Seed = Annotated[
    int,
    typer.Option("--seed", metavar="N", help="For everything random.", parser=_seed),
]
ShowProgress = Annotated[
    bool | None,
    typer.Option(
        "--progress/--no-progress",
        help="Progress on standard error.  [default: if it is a terminal]",
        show_default=False,
    ),
]
Objective = Annotated[
    str,
    typer.Option(
        "--objective",
        metavar="NAME",
        help="latency, makespan, slowdown or late.",
        callback=_objective,
    ),
]
TimeLimit = Annotated[
    float,
    typer.Option(
        "--time-limit",
        metavar="S",
        help="Seconds for the exact solver, for each instance.",
        parser=seconds,
    ),
]
Seeds = Annotated[
    int,
    typer.Option(
        "--seeds",
        metavar="N",
        help="N instances of a generator, or N seeds for the schedulers.",
        parser=_count,
    ),
]
Deterministic = Annotated[
    bool,
    typer.Option(
        "--deterministic",
        help="The same result in every run, whatever the load of the machine.",
    ),
]
Variant = Annotated[
    str | None,
    typer.Option(
        "--variant",
        metavar="NAME",
        help="A sibling of a bundled workload: blocking, clairvoyant, 30-jobs, ...",
        show_default=False,
    ),
]
Warm = Annotated[
    bool,
    typer.Option("--warm", help="A bundled workload: start with filled caches."),
]
Gantt = Annotated[
    str | None,
    typer.Option(
        "--gantt", metavar="PNG", help="Draw a Gantt chart.", show_default=False
    ),
]
ChromeTrace = Annotated[
    str | None,
    typer.Option(
        "--trace",
        metavar="PATH",
        help="Write the Chrome trace format, which opens in Perfetto.",
        show_default=False,
    ),
]
Csv = Annotated[
    str | None,
    typer.Option(
        "--csv",
        metavar="PATH",
        help="Write one line for each run, load and eviction.",
        show_default=False,
    ),
]
