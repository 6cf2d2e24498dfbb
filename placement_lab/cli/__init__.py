"""The command line: ``placement-lab``, one module per command."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``placement-lab`` and return its exit code.

    0: done; 1: the question has a negative answer (infeasible, violations found,
    validation failed), or a bug of ours; 2: bad input or usage; 130: interrupted.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: those of the process.
    """
    from placement_lab.cli._run import run

    return run(arguments)
