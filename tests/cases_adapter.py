"""The reports from users of similar tools (`data/cases.json`), as instances of ours.

A case's tasks and edges are one workflow with one job; a task's arrival is its release;
runtimes are per worker, which are their own kinds; a worker without a size is large.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from placement_lab import Instance

CASES = Path(__file__).parent / "data" / "cases.json"
LARGE_BYTES = 2**50
JOB = "j"


@cache
def cases() -> dict[str, dict[str, Any]]:
    """Return every case by its id."""
    document = json.loads(CASES.read_text(encoding="utf-8"))
    return {case["id"]: case for case in document["cases"]}


def case_instance(case_id: str, **rules: Any) -> Instance:
    """Return the instance of a case that has one."""
    return to_instance(cases()[case_id]["input"]["instance"], **rules)


def to_instance(raw: dict[str, Any], **rules: Any) -> Instance:
    """Return our form of a case's instance; ``rules`` as in the instance format."""
    tasks = [
        {
            "id": task["id"],
            "model": task["model"],
            "runtime_s": task["runtime_s"],
            "release_s": task.get("arrival_s", 0.0),
        }
        for task in raw["tasks"]
    ]
    document = {
        "format": "placement-lab/instance",
        "version": 1,
        "rules": rules,
        "workers": [{"memory_bytes": LARGE_BYTES, **one} for one in raw["workers"]],
        "links": raw.get("links", []),
        "default_link": raw.get("default_link"),
        "models": raw.get("models", []),
        "workflows": [{"id": "case", "tasks": tasks, "edges": raw["edges"]}],
        "jobs": [{"id": JOB, "workflow": "case"}],
    }
    return Instance.from_dict(document)


def graph_instance(tasks: list[str], edges: list[list[str]]) -> Instance:
    """Return an instance of one-second tasks with these edges, on one worker."""
    return to_instance(
        {
            "workers": [{"id": "w1"}],
            "tasks": [{"id": t, "model": None, "runtime_s": {"w1": 1}} for t in tasks],
            "edges": [{"src": src, "dst": dst} for src, dst in edges],
        }
    )
