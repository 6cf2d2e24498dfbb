"""All commands under one name."""

from __future__ import annotations

from typing import Annotated

import typer

from placement_lab.cli import (
    bound,
    compare,
    datasets,
    replay,
    schedule,
    simulate,
    solve,
    validate,
    verify,
)

__all__ = ["app"]

app = typer.Typer(
    name="placement-lab",
    help="Place ML inference tasks on GPUs, and know how far from optimal that is.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        "Exit codes: 0 done, 1 negative answer (infeasible, violations, invalid), "
        "2 bad input or usage, 130 interrupted."
    ),
)


def _version(value: bool) -> None:
    if value:
        from placement_lab import __version__

        print(f"placement-lab {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    _version_asked: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_version, is_eager=True
        ),
    ] = False,
    _debug: Annotated[
        bool, typer.Option("--debug", help="Show tracebacks; works in any place.")
    ] = False,
) -> None:
    pass


for module in (
    compare,
    solve,
    bound,
    schedule,
    simulate,
    replay,
    verify,
    validate,
    datasets,
):
    app.command(module.__name__.rpartition(".")[2])(module.command)
