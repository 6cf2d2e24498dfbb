"""`Schedule`: what happens when. The same record whoever made it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from placement_lab.errors import ScheduleError
from placement_lab.jsonfile import load_json, show_value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

__all__ = ["Eviction", "Load", "Run", "Schedule"]

FORMAT = "placement-lab/schedule"
VERSION = 1


class Run(NamedTuple):
    """A task ``job/task`` runs on a worker."""

    task: str
    worker: str
    start_s: float
    end_s: float


class Load(NamedTuple):
    """A model is copied into a worker's memory."""

    model: str
    worker: str
    start_s: float
    end_s: float


class Eviction(NamedTuple):
    """A model leaves a worker's memory."""

    model: str
    worker: str
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Schedule:
    """Runs, loads and evictions with their times.

    Attributes
    ----------
    runs : tuple of Run
    loads : tuple of Load
    evictions : tuple of Eviction
    instance_sha256 : str or None
        The instance it answers; checked where present.
    made_by : mapping
        Who made it: at least ``{"scheduler": name}`` for our own.
    """

    runs: tuple[Run, ...] = ()
    loads: tuple[Load, ...] = ()
    evictions: tuple[Eviction, ...] = ()
    instance_sha256: str | None = None
    made_by: Mapping[str, Any] = field(default_factory=dict)

    @property
    def makespan_s(self) -> float:
        """Largest end of a run, from time 0 (0 without runs)."""
        return max((run.end_s for run in self.runs), default=0.0)

    @classmethod
    def from_json(cls, path: str | PathLike[str]) -> Schedule:
        """Read a schedule from a JSON file.

        Raises
        ------
        ScheduleError
            Naming the file, the place in it and what is wrong there.
        """
        try:
            return cls.from_dict(load_json(path))
        except ValueError as error:
            raise ScheduleError(f"{path}: {error}") from None

    @classmethod
    def from_dict(cls, document: Any) -> Schedule:
        """Build a schedule from a decoded JSON document.

        Times must be numbers; whether they obey the rules is for `verify` to say.

        Raises
        ------
        ScheduleError
            Naming the place and what is wrong there.
        """
        _check_document(document)
        sha256 = document.get("instance")
        if sha256 is not None and not isinstance(sha256, str):
            raise ScheduleError(f"instance: must be a sha256, got {show_value(sha256)}")
        made_by = document.get("made_by", {})
        if not isinstance(made_by, dict):
            raise ScheduleError(
                f"made_by: must be an object, got {show_value(made_by)}"
            )
        return cls(
            runs=_records(document, "runs", Run),
            loads=_records(document, "loads", Load),
            evictions=_records(document, "evictions", Eviction),
            instance_sha256=sha256,
            made_by=made_by,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of this schedule."""
        document: dict[str, Any] = {"format": FORMAT, "version": VERSION}
        if self.instance_sha256 is not None:
            document["instance"] = self.instance_sha256
        document["made_by"] = dict(self.made_by)
        document["runs"] = [run._asdict() for run in self.runs]
        document["loads"] = [load._asdict() for load in self.loads]
        document["evictions"] = [eviction._asdict() for eviction in self.evictions]
        return document

    def to_json(self, path: str | PathLike[str]) -> None:
        """Write this schedule to a JSON file, whole or not at all."""
        from placement_lab.files import write_json

        write_json(path, self.to_dict())

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write one line per action: ``action,name,worker,start_s,end_s``."""
        import csv

        from placement_lab.files import open_atomic

        with open_atomic(path) as stream:
            rows = csv.writer(stream, lineterminator="\n")
            rows.writerow(["action", "name", "worker", "start_s", "end_s"])
            for action, records in (
                ("run", self.runs),
                ("load", self.loads),
                ("evict", self.evictions),
            ):
                rows.writerows([action, *record] for record in records)

    def to_chrome_trace(self, path: str | PathLike[str]) -> None:
        """Write the Chrome trace format, which opens in Perfetto; times in us there."""
        from placement_lab.files import write_json

        workers = sorted(
            {run.worker for run in self.runs} | {load.worker for load in self.loads}
        )
        number = {worker: i for i, worker in enumerate(workers)}
        events: list[dict[str, Any]] = [
            {"ph": "M", "name": "process_name", "pid": i, "args": {"name": worker}}
            for worker, i in number.items()
        ]
        lanes: tuple[tuple[str, tuple[Any, ...]], ...] = (
            ("run", self.runs),
            ("load", self.loads),
            ("evict", self.evictions),
        )
        for lane, records in lanes:
            for name, worker, start_s, end_s in records:
                events.append(
                    {
                        "ph": "X",
                        "name": name if lane == "run" else f"{lane} {name}",
                        "cat": lane,
                        "pid": number.setdefault(worker, len(number)),
                        "tid": "compute" if lane == "run" else "memory",
                        "ts": start_s * 1e6,
                        "dur": (end_s - start_s) * 1e6,
                    }
                )
        write_json(path, {"traceEvents": events, "displayTimeUnit": "ms"})


def _check_document(document: Any) -> None:
    if not isinstance(document, dict):
        raise ScheduleError(f"a schedule must be an object, got {show_value(document)}")
    if document.get("format") != FORMAT:
        found = document.get("format")
        raise ScheduleError(f"format: must be {FORMAT!r}, got {show_value(found)}")
    if document.get("version") != VERSION or document["version"] is True:
        found = document.get("version")
        raise ScheduleError(f"version: must be {VERSION}, got {show_value(found)}")
    allowed = (
        "format",
        "version",
        "instance",
        "made_by",
        "runs",
        "loads",
        "evictions",
        "world",
    )
    for key in document:
        if key not in allowed:
            raise ScheduleError(f"{key}: unknown key; allowed: {', '.join(allowed)}")
    if document.get("world") is not None:
        raise ScheduleError(
            "world: schedules with realised times are not supported by this release; "
            "only a schedule that follows the instance's own times can be judged"
        )


def _records(document: dict[str, Any], key: str, record: Any) -> tuple[Any, ...]:
    raw = document.get(key, [])
    if not isinstance(raw, list):
        raise ScheduleError(f"{key}: must be a list, got {show_value(raw)}")
    names = set(record._fields)
    for i, item in enumerate(raw):
        path = f"{key}[{i}]"
        if not isinstance(item, dict) or set(item) != names:
            fields = ", ".join(record._fields)
            raise ScheduleError(f"{path}: must be an object with exactly {fields}")
        for field_name, value in item.items():
            _check_value(f"{path}.{field_name}", field_name, value)
    return tuple(
        [
            record(
                *(
                    float(item[name]) if name.endswith("_s") else item[name]
                    for name in record._fields
                )
            )
            for item in raw
        ]
    )


def _check_value(path: str, name: str, value: Any) -> None:
    if name.endswith("_s"):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not abs(value) <= sys.float_info.max:
            raise ScheduleError(
                f"{path}: must be a finite number, got {show_value(value)}"
            )
    elif not isinstance(value, str):
        raise ScheduleError(f"{path}: must be a string, got {show_value(value)}")
