"""``placement-lab datasets``: what is bundled, and any of it as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from placement_lab.cli._inputs import load_instance
from placement_lab.cli._options import Json, Seed, ShowProgress, Variant, Warm
from placement_lab.cli._output import Output
from placement_lab.cli._progress import Display

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from placement_lab.datasets import DatasetInfo
    from placement_lab.problem import Instance

__all__ = ["command"]


def command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="NAME or NAME:option=value,...; without it, list what there is.",
            show_default=False,
        ),
    ] = None,
    *,
    seed: Seed = 0,
    variant: Variant = None,
    warm: Warm = False,
    json: Json = None,
    progress: ShowProgress = None,
) -> None:
    """List the data sets, or write one as an instance file with --json."""
    output = Output(json)
    if name is None:
        _list(output)
        return
    with Display(progress) as display:
        display.update(f"load {name}")
        found = load_instance(name, seed=seed, variant=variant, warm=warm)
    output.emit(found.to_dict(), lambda console: _show(console, found))


def _list(output: Output) -> None:
    from dataclasses import asdict

    from placement_lab.datasets import available_datasets

    found = available_datasets()
    output.emit(
        {"datasets": [asdict(one) for one in found]},
        lambda console: _show_list(console, found),
    )


def _show_list(console: Console, found: Sequence[DatasetInfo]) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("name", no_wrap=True)
    for name in ("jobs", "tasks", "workers"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("what, and its options")
    for one in found:
        sizes = (str(one.n_jobs), str(one.n_tasks), str(one.n_workers))
        about = f"{one.description}\n  {', '.join(one.options) or 'no options'}"
        table.add_row(one.name, *sizes, about)
    console.print(table)


def _show(console: Console, instance: Instance) -> None:
    rules = instance.rules
    console.print(instance.name, style="bold")
    for name, value in (
        ("sha256", instance.sha256),
        ("workers", len(instance.workers)),
        ("models", len(instance.models)),
        ("workflows", len(instance.workflows)),
        ("jobs", len(instance.jobs)),
        ("tasks", instance.n_tasks),
        ("rules", f"loading {rules.loading}, prefetch {rules.prefetch}"),
    ):
        console.print(f"  {name:<10} {value}", soft_wrap=True)
