"""Schedulers: each makes a `Schedule`, offline or through the simulator.

One module per scheduler, found by name through the entry-point group
``placement_lab.schedulers``; other packages add theirs in the same way.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from placement_lab import registry
from placement_lab.errors import UnknownNameError

if TYPE_CHECKING:
    from placement_lab.problem import Instance
    from placement_lab.schedule import Schedule

__all__ = ["Scheduler", "available_schedulers", "get_scheduler"]

GROUP = "placement_lab.schedulers"


@runtime_checkable
class Scheduler(Protocol):
    """Anything that makes a schedule; options are arguments of its constructor."""

    @property
    def name(self) -> str:
        """The name it is registered under."""
        ...

    def schedule(self, instance: Instance, *, seed: int = 0) -> Schedule:
        """Return a schedule that `placement_lab.verify` accepts.

        Parameters
        ----------
        instance : Instance
        seed : int
            For schedulers that draw random numbers; the others ignore it.
        """
        ...


def available_schedulers() -> tuple[str, ...]:
    """Return the names of all registered schedulers, sorted."""
    return registry.available(GROUP)


def get_scheduler(name: str, **options: Any) -> Scheduler:
    """Return the scheduler of that name.

    Parameters
    ----------
    name : str
        One of `available_schedulers`.
    **options
        Arguments of its constructor.

    Raises
    ------
    UnknownNameError
        If there is no scheduler, or no option, of that name.
    """
    factory = registry.load(GROUP, name)
    if options:
        _check_options(name, factory, options)
    scheduler: Scheduler = factory(**options)
    return scheduler


def _check_options(name: str, factory: Any, options: dict[str, Any]) -> None:
    parameters = inspect.signature(factory).parameters.values()
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters):
        return
    known = [one.name for one in parameters]
    for option in options:
        if option not in known:
            raise UnknownNameError(
                f"scheduler {name!r} has no option {option!r}; "
                f"it has: {', '.join(known) or 'none'}"
            )
