"""Write an instance as the JSON document of DESIGN section 4; defaults are left out."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from placement_lab.problem.instance import Instance

__all__ = ["FORMAT", "VERSION", "instance_to_dict"]

FORMAT = "placement-lab/instance"
VERSION = 1


def instance_to_dict(instance: Instance) -> dict[str, Any]:
    """Return an instance as a JSON document that `instance_from_dict` reads back."""
    link = instance.default_link
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "name": instance.name,
        "rules": {
            "loading": instance.rules.loading,
            "prefetch": instance.rules.prefetch,
            "evict_bandwidth_bytes_per_s": instance.rules.evict_bandwidth_bytes_per_s,
        },
        "workers": [_record(worker) for worker in instance.workers],
        "default_link": None if link is None else _record(link),
        "links": [_record(one) for one in instance.links],
        "models": [_record(model) for model in instance.models],
        "workflows": [
            {
                "id": workflow.id,
                "tasks": [_record(task) for task in workflow.tasks],
                "edges": [_record(edge) for edge in workflow.edges],
            }
            for workflow in instance.workflows
        ],
        "jobs": [_record(job) for job in instance.jobs],
    }
    return document


def _record(entity: Any) -> dict[str, Any]:
    record = {}
    for one in fields(entity):
        value = getattr(entity, one.name)
        is_default_kind = one.name == "kind" and value == entity.id
        if one.default is not MISSING and (value == one.default or is_default_kind):
            continue
        record[one.name] = list(value) if isinstance(value, tuple) else value
    return record
