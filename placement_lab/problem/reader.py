"""Read an instance from JSON: its structure here, its values in `validation`.

The reader knows keys, lists and objects. It reports every unknown or missing key with
its path, keeps going, and lets validation judge the values, so that a file's faults
come out in one go.
"""

from __future__ import annotations

import difflib
import gc
from contextlib import contextmanager
from dataclasses import MISSING, fields
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from placement_lab.errors import Fault, ProblemError
from placement_lab.jsonfile import DuplicateKeys, load_json, show_key, show_value
from placement_lab.problem.entities import (
    Edge,
    Job,
    Link,
    LinkSpeed,
    Model,
    Rules,
    Task,
    Worker,
    Workflow,
)
from placement_lab.problem.instance import Instance
from placement_lab.problem.validation import in_document_order
from placement_lab.problem.writer import FORMAT, VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from os import PathLike

__all__ = ["instance_from_dict", "read_instance"]

_TOP = (
    "format",
    "version",
    "name",
    "rules",
    "workers",
    "default_link",
    "links",
    "models",
    "workflows",
    "jobs",
)


def read_instance(path: str | PathLike[str]) -> Instance:
    """Read an instance from a JSON file; see `Instance.from_json`."""
    with _garbage_collection_paused():
        try:
            document = load_json(path)
        except ValueError as error:
            raise ProblemError([Fault("", str(error))], source=str(path)) from error
        try:
            return instance_from_dict(document)
        except ProblemError as error:
            raise ProblemError(error.faults, source=str(path)) from None


@contextmanager
def _garbage_collection_paused() -> Iterator[None]:
    """Spare a large file the search for garbage among new objects that all stay."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def instance_from_dict(document: Mapping[str, Any]) -> Instance:
    """Build an instance from a decoded JSON document; see `Instance.from_dict`."""
    reader = _Reader()
    parts = reader.read(document)
    try:
        instance = Instance(**parts)
    except ProblemError as error:
        raise ProblemError(reader.merge(error.faults)) from None
    if reader.faults:
        raise ProblemError(in_document_order(reader.faults))
    return instance


class _Reader:
    """Walks a document once, building entities and collecting faults of structure."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def read(self, document: Any) -> dict[str, Any]:
        if not isinstance(document, dict):
            shown = show_value(document)
            raise ProblemError([Fault("", f"must be an object, got {shown}")])
        self._header(document)
        self._keys("", document, _TOP, required=("format", "version", "workers"))
        link = document.get("default_link")
        rules = document.get("rules", {})
        return {
            "name": document.get("name", ""),
            "rules": self._record(_form(Rules), "rules", rules),
            "workers": self._many("workers", document, self._plain(Worker)),
            "default_link": None
            if link is None
            else self._record(_form(LinkSpeed), "default_link", link),
            "links": self._many("links", document, self._plain(Link)),
            "models": self._many("models", document, self._plain(Model)),
            "workflows": self._many("workflows", document, self._workflow),
            "jobs": self._many("jobs", document, self._plain(Job)),
        }

    def merge(self, found: tuple[Fault, ...]) -> list[Fault]:
        """Add faults of values, except at places whose structure is already wrong."""
        wrong = {fault.path for fault in self.faults}
        new = [fault for fault in found if not _inside(fault.path, wrong)]
        return in_document_order([*self.faults, *new])

    def _header(self, document: dict[str, Any]) -> None:
        name, version = document.get("format"), document.get("version")
        if "format" in document and name != FORMAT:
            self._fault("format", f"must be {FORMAT!r}, got {show_value(name)}")
        if "version" in document and (version != VERSION or version is True):
            self._fault(
                "version",
                f"must be {VERSION}, got {show_value(version)}; this release reads no "
                "other",
            )

    def _fault(self, path: str, message: str) -> None:
        self.faults.append(Fault(path, message))

    def _object(self, path: str, raw: Any) -> dict[str, Any] | None:
        if isinstance(raw, dict):
            return raw
        self._fault(path, f"must be an object, got {show_value(raw)}")
        return None

    def _keys(
        self, path: str, raw: dict[str, Any], allowed: Any, *, required: Any
    ) -> None:
        prefix = f"{path}." if path else ""
        if isinstance(raw, DuplicateKeys):
            for key in raw.repeated:
                place = f"{prefix}{show_key(key)}"
                self._fault(place, "the key is given twice; remove one")
        if not (raw.keys() <= set(allowed)):
            for key in raw:
                if key not in allowed:
                    self._unknown(f"{prefix}{show_key(key)}", str(key), allowed)
        for key in required:
            if key not in raw:
                self._fault(f"{prefix}{key}", "is missing; it has no default")

    def _unknown(self, path: str, key: str, allowed: Any) -> None:
        close = difflib.get_close_matches(key[:80], allowed, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        self._fault(path, f"unknown key; {hint}allowed are {', '.join(allowed)}")

    def _many(
        self, key: str, raw: dict[str, Any], build: Callable[[str, Any], Any]
    ) -> tuple[Any, ...]:
        return self._list(key, raw.get(key, []), build)

    def _list(
        self, path: str, raw: Any, build: Callable[[str, Any], Any]
    ) -> tuple[Any, ...]:
        if not isinstance(raw, list):
            self._fault(path, f"must be a list, got {show_value(raw)}")
            return ()
        return tuple([build(f"{path}[{i}]", item) for i, item in enumerate(raw)])

    def _plain(self, entity: Any) -> Callable[[str, Any], Any]:
        form = _form(entity)
        return lambda path, raw: self._record(form, path, raw)

    def _record(self, form: _Form, path: str, raw: Any) -> Any:
        """Build one entity; what is missing becomes None, for validation to skip."""
        known = self._object(path, raw)
        if known is None:
            return form.entity(**dict.fromkeys(form.required))
        keys = known.keys()
        if type(known) is not dict or not form.must <= keys <= form.may:
            self._keys(path, known, form.names, required=form.required)
            known = {key: value for key, value in known.items() if key in form.may}
            known = dict.fromkeys(form.required) | known
        for key, value in known.items():
            if type(value) is DuplicateKeys:
                self._keys(f"{path}.{key}", value, tuple(value), required=())
        return form.entity(**known)

    def _workflow(self, path: str, raw: Any) -> Workflow:
        known = self._object(path, raw)
        if known is None:
            return Workflow(None)  # type: ignore[arg-type]
        self._keys(path, known, ("id", "tasks", "edges"), required=("id", "tasks"))
        return Workflow(
            known.get("id"),  # type: ignore[arg-type]
            self._list(f"{path}.tasks", known.get("tasks", []), self._plain(Task)),
            self._list(f"{path}.edges", known.get("edges", []), self._plain(Edge)),
        )


class _Form(NamedTuple):
    """The keys that an entity may have, and must have, in order and as sets."""

    entity: Any
    names: tuple[str, ...]
    required: tuple[str, ...]
    may: frozenset[str]
    must: frozenset[str]


@cache
def _form(entity: Any) -> _Form:
    names = tuple([one.name for one in fields(entity)])
    required = tuple([one.name for one in fields(entity) if _has_no_default(one)])
    return _Form(entity, names, required, frozenset(names), frozenset(required))


def _has_no_default(one: Any) -> bool:
    return one.default is MISSING and one.default_factory is MISSING


def _inside(path: str, places: set[str]) -> bool:
    """Say whether a path, or any place that it is in, is among the places."""
    ends = [i for i, mark in enumerate(path) if mark in ".["]
    return path in places or any(path[:end] in places for end in ends)
