"""A valid document with every key of the format, to be broken in tests."""

from __future__ import annotations

from typing import Any

__all__ = ["document", "put"]


def document() -> dict[str, Any]:
    """Return a fresh valid document that gives every key of the format a value."""
    return {
        "format": "placement-lab/instance",
        "version": 1,
        "name": "everything",
        "rules": {
            "loading": "blocking",
            "prefetch": "clairvoyant",
            "evict_bandwidth_bytes_per_s": 2e10,
        },
        "workers": [
            {
                "id": "w0",
                "kind": "T4",
                "memory_bytes": 16e9,
                "slots": 2,
                "resident": ["opt"],
                "load_bandwidth_bytes_per_s": 1e10,
                "load_latency_s": 0.25,
            },
            {"id": "w1", "memory_bytes": 8_000_000_000},
        ],
        "default_link": {"bandwidth_bytes_per_s": 1e9, "latency_s": 0.5},
        "links": [
            {"a": "w1", "b": "w0", "bandwidth_bytes_per_s": 2e9, "latency_s": 0.125}
        ],
        "models": [
            {"id": "opt", "size_bytes": 5.72e9, "load_s": {"w1": 0.56}},
            {"id": "nli", "size_bytes": 2.14e9, "load_s": 0.21},
        ],
        "workflows": [
            {
                "id": "qa",
                "tasks": [
                    {
                        "id": "ask",
                        "model": "opt",
                        "runtime_s": {"T4": 0.5, "w1": 1},
                        "input_bytes": 1000,
                        "input_transfer_s": 0.001,
                        "release_s": 0.125,
                        "memory_bytes": 1e9,
                    },
                    {"id": "check", "model": "nli", "runtime_s": 0},
                    {"id": "merge", "model": None, "runtime_s": 0.001},
                ],
                "edges": [
                    {"src": "ask", "dst": "check", "bytes": 2000},
                    {"src": "ask", "dst": "merge", "transfer_s": 0.01},
                    {"src": "check", "dst": "merge"},
                ],
            }
        ],
        "jobs": [
            {
                "id": "j0",
                "workflow": "qa",
                "release_s": 1.5,
                "ingress": "w0",
                "deadline_s": 9,
                "weight": 2,
            },
            {"id": "j1", "workflow": "qa"},
        ],
    }


def put(where: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at a path such as ``workers[0].id``; ``del`` removes it."""
    *steps, last = path.replace("[", ".").replace("]", "").split(".")
    here: Any = where
    for step in steps:
        here = here[int(step)] if isinstance(here, list) else here[step]
    if isinstance(here, list) and int(last) == len(here):
        here.append(value)
    elif isinstance(here, list):
        here[int(last)] = value
    elif value is del_:
        del here[last]
    else:
        here[last] = value


class _Deleted:
    """Stands for "leave this key out"; its name is the same in every process."""

    def __repr__(self):
        return "deleted"


del_ = _Deleted()
