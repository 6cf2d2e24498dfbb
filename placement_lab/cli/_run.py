"""Run a command; turn what goes wrong into one line per fault and an exit code."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from typing import TYPE_CHECKING

import typer

from placement_lab.errors import (
    InfeasiblePlanError,
    MissingDependencyError,
    PlacementError,
    RefereeError,
    was_interrupted,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["run"]

PROGRAM = "placement-lab"
DONE, NEGATIVE, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

# typer brings its own copy of click, or depends on it, by version; the one class of
# both that is public leads to the others.
UsageError = typer.BadParameter.__mro__[1]


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name; see `placement_lab.cli.main`."""
    from placement_lab.cli._app import app

    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    given = [one for one in given if one != "--debug"]
    logging.basicConfig(
        level=logging.DEBUG if debug else logging.WARNING,
        stream=sys.stderr,
        format=f"{PROGRAM}: %(message)s",
    )
    if debug:
        logging.getLogger("matplotlib").setLevel(logging.WARNING)
        logging.getLogger("numba").setLevel(logging.WARNING)
    command = typer.main.get_command(app)
    try:
        # Not command.main(): it has its own ideas of how to report what goes wrong.
        with command.make_context(PROGRAM, given) as context:
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as stop:
        return int(stop.exit_code)
    except BrokenPipeError:
        return _without_reader()
    except (KeyboardInterrupt, typer.Abort):
        _say("interrupted")
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 -- the last place that can explain it
        if debug:
            traceback.print_exc()
        lines, code = explain(error)
        for line in lines:
            _say(line)
        return code
    return DONE


def explain(error: Exception) -> tuple[list[str], int]:
    """Return what to tell the user about an error, and the exit code."""
    if was_interrupted(error):
        return ["interrupted"], INTERRUPTED
    if isinstance(error, UsageError):
        return [_usage_line(error)], BAD_INPUT
    if isinstance(error, OSError):
        return [_file_line(error)], BAD_INPUT
    if isinstance(error, RefereeError):
        return [f"bug: {line}" for line in str(error).splitlines()], NEGATIVE
    if isinstance(error, (PlacementError, MissingDependencyError)):
        is_answer = isinstance(error, InfeasiblePlanError)
        return str(error).splitlines(), NEGATIVE if is_answer else BAD_INPUT
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return [f"bug: {text}; please report it with what --debug prints"], NEGATIVE


def _usage_line(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else PROGRAM
    message = error.format_message()  # type: ignore[attr-defined]
    message = " ".join(message.split()).rstrip(".")
    where = path.removeprefix(PROGRAM).strip()
    return f"{where + ': ' if where else ''}{message}; see: {path} --help"


def _file_line(error: OSError) -> str:
    reason = error.strerror or str(error)
    name = error.filename2 or error.filename
    if name is None:
        return f"{reason}; check the file and its folder"
    return f"{os.fsdecode(name)}: {reason}; choose another file or folder"


def _say(line: str) -> None:
    print(f"{PROGRAM}: {line}", file=sys.stderr)


def _without_reader() -> int:
    """Leave quietly when whoever read our output has gone (``... | head``)."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    return NEGATIVE
