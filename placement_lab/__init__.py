"""Place ML inference tasks on GPUs, and know how far from optimal the placement is.

Public names are loaded when first used, so that importing the package is cheap.
"""

from __future__ import annotations

import logging
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = [
    "Action",
    "Edge",
    "Eviction",
    "Instance",
    "InstanceBuilder",
    "Job",
    "Link",
    "LinkSpeed",
    "Load",
    "Model",
    "Plan",
    "Rules",
    "Run",
    "Schedule",
    "Task",
    "Violation",
    "Worker",
    "Workflow",
    "compare",
    "complete",
    "evaluate",
    "objective_value",
    "plan_of",
    "replay",
    "simulate",
    "verify",
]

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
    "objective_value": "metrics",
    "plan_of": "completion",
    "replay": "replay",
    "simulate": "simulator",
    "verify": "verify",
}

__version__ = "0.1.0"

if TYPE_CHECKING:  # the same names, for type checkers and editors
    from placement_lab.compare import compare as compare
    from placement_lab.completion import complete as complete
    from placement_lab.completion import plan_of as plan_of
    from placement_lab.metrics import evaluate as evaluate
    from placement_lab.metrics import objective_value as objective_value
    from placement_lab.plan import Action as Action
    from placement_lab.plan import Plan as Plan
    from placement_lab.problem import Edge as Edge
    from placement_lab.problem import Instance as Instance
    from placement_lab.problem import InstanceBuilder as InstanceBuilder
    from placement_lab.problem import Job as Job
    from placement_lab.problem import Link as Link
    from placement_lab.problem import LinkSpeed as LinkSpeed
    from placement_lab.problem import Model as Model
    from placement_lab.problem import Rules as Rules
    from placement_lab.problem import Task as Task
    from placement_lab.problem import Worker as Worker
    from placement_lab.problem import Workflow as Workflow
    from placement_lab.replay import replay as replay
    from placement_lab.schedule import Eviction as Eviction
    from placement_lab.schedule import Load as Load
    from placement_lab.schedule import Run as Run
    from placement_lab.schedule import Schedule as Schedule
    from placement_lab.simulator import simulate as simulate
    from placement_lab.verify import Violation as Violation
    from placement_lab.verify import verify as verify

logging.getLogger(__name__).addHandler(logging.NullHandler())


class _Package(ModuleType):
    """Keeps a submodule from hiding the function that is named like it.

    Importing ``placement_lab.verify`` would otherwise turn ``placement_lab.verify``
    from the function into the module, for everybody, depending on who imported first.
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
