"""Place ML inference tasks on GPUs, and know how far from optimal the placement is.

Public names are loaded when first used, so that importing the package is cheap.
"""

from __future__ import annotations

import logging
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_HOME = {
    "Edge": "problem",
    "Eviction": "schedule",
    "Instance": "problem",
    "InstanceBuilder": "problem",
    "Job": "problem",
    "Link": "problem",
    "LinkSpeed": "problem",
    "Load": "schedule",
    "Model": "problem",
    "Plan": "plan",
    "Action": "plan",
    "Rules": "problem",
    "Run": "schedule",
    "Schedule": "schedule",
    "Task": "problem",
    "Violation": "verify",
    "Worker": "problem",
    "Workflow": "problem",
    "compare": "compare",
    "complete": "completion",
    "evaluate": "metrics",
    "plan_of": "completion",
    "replay": "replay",
    "simulate": "simulator",
    "verify": "verify",
}

__all__ = sorted(_HOME)
__version__ = "0.1.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())


class _Package(ModuleType):
    """Keeps a submodule from hiding the function that is named like it.

    Importing ``placement_lab.verify`` would otherwise turn ``placement_lab.verify`` from
    the function into the module, for everybody, depending on who imported what first.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
