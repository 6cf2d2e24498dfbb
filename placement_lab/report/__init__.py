"""Tables, pictures and pages that show what was compared."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# matplotlib and rich take a second to import: each name brings its own module along.
_HOME = {
    "comparison_table": "tables",
    "distribution_table": "tables",
    "plot_gantt": "gantt",
    "plot_gap": "gap",
    "write_report": "html",
}

__all__ = [
    "comparison_table",
    "distribution_table",
    "plot_gantt",
    "plot_gap",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
