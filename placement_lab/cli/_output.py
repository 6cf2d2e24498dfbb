"""Results: people's text on standard output, or JSON, and files beside them."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from placement_lab.files import dumps_json, write_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from placement_lab.problem import Instance
    from placement_lab.schedule import Schedule

__all__ = ["Output", "ScheduleFiles", "check_file", "check_folder", "show_metrics"]

PIPE_WIDTH = 130


@dataclass(frozen=True)
class Output:
    """Where a result goes.

    Attributes
    ----------
    json_to : str or None
        A path, ``-`` for standard output, or None.
    """

    json_to: str | None

    def __post_init__(self) -> None:
        if self.json_to not in (None, "-"):
            check_file(self.json_to, "--json")

    def emit(self, document: Any, show: Callable[[Console], None]) -> None:
        """Print for people, unless standard output is for JSON; write the JSON."""
        if self.json_to == "-":
            sys.stdout.write(dumps_json(document))
            return
        if self.json_to is not None:
            write_json(self.json_to, document)
        show(_console())


@dataclass(frozen=True)
class ScheduleFiles:
    """Files that a command can make of a schedule."""

    gantt: str | None = None
    trace: str | None = None
    csv: str | None = None

    def __post_init__(self) -> None:
        for name in ("gantt", "trace", "csv"):
            if getattr(self, name) is not None:
                check_file(getattr(self, name), f"--{name}")

    def write(self, schedule: Schedule, instance: Instance) -> None:
        """Write those that were asked for."""
        if self.trace is not None:
            schedule.to_chrome_trace(self.trace)
        if self.csv is not None:
            schedule.to_csv(self.csv)
        if self.gantt is not None:
            from placement_lab.report.pictures import write_gantt

            write_gantt(self.gantt, schedule, instance)


def check_file(path: str, option: str) -> None:
    """Refuse a place that cannot be written, before any work is done."""
    if not path or Path(path).is_dir():
        what = f"{path} is a folder" if path else "the name is empty"
        raise typer.BadParameter(f"{what}; name a file", param_hint=option)
    _check_parent(Path(path).absolute().parent, path, option)


def check_folder(path: str, option: str) -> None:
    """Refuse a folder that cannot be made or written, before any work is done."""
    if not path:
        raise typer.BadParameter("the name is empty; name a folder", param_hint=option)
    if Path(path).exists() and not Path(path).is_dir():
        raise typer.BadParameter(f"{path} is a file; name a folder", param_hint=option)
    _check_parent(Path(path).absolute(), path, option)


def _check_parent(folder: Path, path: str, option: str) -> None:
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise typer.BadParameter(
            f"{path} cannot be written ({folder} is no writable folder); "
            "choose another place",
            param_hint=option,
        )


def _console() -> Console:
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    return console


def show_metrics(
    console: Console, title: str, instance: Instance, schedule: Schedule
) -> None:
    """Print the statistics of a schedule."""
    from placement_lab.metrics import evaluate
    from placement_lab.report.formatting import (
        format_count_bytes,
        format_fraction,
        format_number,
        format_objective,
    )

    found = evaluate(instance, schedule)
    console.print(title, style="bold")
    for name, value in (
        ("makespan", format_objective(found.makespan_s, "makespan")),
        ("mean latency", format_objective(found.mean_latency_s, "latency")),
        ("mean slow-down", format_number(found.mean_slow_down)),
        ("p95 slow-down", format_number(found.p95_slow_down)),
        ("late weight", f"{found.late_weight:g}"),
        ("hit rate", format_fraction(found.hit_rate)),
        ("loads", f"{found.n_loads} ({format_count_bytes(found.bytes_loaded)})"),
        ("evictions", str(found.n_evictions)),
        ("utilisation", format_fraction(found.utilisation)),
        ("workers used", f"{found.workers_used} of {len(instance.workers)}"),
    ):
        console.print(f"  {name:<15} {value}")
