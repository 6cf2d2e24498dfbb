"""`Plan`: what each worker does, in which order, without times.

A plan is a decision; `placement_lab.replay` gives it times, under the rules of DESIGN
section 3. Whether the names in it exist is checked against an instance there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from placement_lab.errors import PlanError
from placement_lab.jsonfile import DuplicateKeys, load_json, show_value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

__all__ = ["Action", "Plan"]

FORMAT = "placement-lab/plan"
VERSION = 1

Kind = Literal["load", "run", "evict"]


class Action(NamedTuple):
    """One step of a worker: load a model, run a task ``job/task``, evict a model."""

    kind: Kind
    target: str

    def __str__(self) -> str:
        return f"{self.kind} {self.target}"


@dataclass(frozen=True)
class Plan:
    """The sequence of actions of every worker.

    Attributes
    ----------
    workers : mapping of str to tuple of Action
        By worker id; idle workers may be left out.
    instance_sha256 : str or None
        The instance it was made for; checked by whoever uses it, where present.
    """

    workers: Mapping[str, tuple[Action, ...]]
    instance_sha256: str | None = None

    @classmethod
    def from_json(cls, path: str | PathLike[str]) -> Plan:
        """Read a plan from a JSON file.

        Raises
        ------
        PlanError
            Naming the file, the place in it and what is wrong there.
        """
        try:
            return cls.from_dict(load_json(path))
        except ValueError as error:
            raise PlanError(f"{path}: {error}") from None

    @classmethod
    def from_dict(cls, document: Any) -> Plan:
        """Build a plan from a decoded JSON document.

        Raises
        ------
        PlanError
            Naming the place and what is wrong there.
        """
        if not isinstance(document, dict):
            raise PlanError(f"a plan must be an object, got {show_value(document)}")
        _check_keys(document)
        workers = document.get("workers")
        if not isinstance(workers, dict):
            raise PlanError(f"workers: must be an object, got {show_value(workers)}")
        if isinstance(workers, DuplicateKeys):
            raise PlanError(f"workers.{workers.repeated[0]}: stands twice; remove one")
        sha256 = document.get("instance")
        if sha256 is not None and not isinstance(sha256, str):
            raise PlanError(
                f"instance: must be a sha256 string, got {show_value(sha256)}"
            )
        return cls(
            {name: _actions(name, actions) for name, actions in workers.items()},
            sha256,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of this plan."""
        document: dict[str, Any] = {"format": FORMAT, "version": VERSION}
        if self.instance_sha256 is not None:
            document["instance"] = self.instance_sha256
        document["workers"] = {
            name: [{action.kind: action.target} for action in actions]
            for name, actions in self.workers.items()
        }
        return document

    def to_json(self, path: str | PathLike[str]) -> None:
        """Write this plan to a JSON file, whole or not at all."""
        from placement_lab.files import write_json

        write_json(path, self.to_dict())


def _check_keys(document: dict[str, Any]) -> None:
    if document.get("format") != FORMAT:
        found = document.get("format")
        raise PlanError(f"format: must be {FORMAT!r}, got {show_value(found)}")
    if document.get("version") != VERSION or document["version"] is True:
        found = document.get("version")
        raise PlanError(f"version: must be {VERSION}, got {show_value(found)}")
    for key in document:
        if key not in ("format", "version", "instance", "workers"):
            raise PlanError(f"{key}: unknown key; allowed are instance and workers")


def _actions(worker: str, raw: Any) -> tuple[Action, ...]:
    if not isinstance(raw, list):
        raise PlanError(f"workers.{worker}: must be a list, got {show_value(raw)}")
    actions = []
    for i, item in enumerate(raw):
        path = f"workers.{worker}[{i}]"
        if not isinstance(item, dict) or len(item) != 1:
            raise PlanError(f"{path}: must be one of {{load|run|evict: name}}")
        [(kind, target)] = item.items()
        if kind not in get_args(Kind):
            raise PlanError(f"{path}: unknown action {kind!r}; use load, run or evict")
        if not isinstance(target, str):
            raise PlanError(f"{path}.{kind}: must be a name, got {show_value(target)}")
        actions.append(Action(kind, target))
    return tuple(actions)
