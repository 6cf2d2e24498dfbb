"""The worked example of the HEFT paper: ten tasks on three processors."""

from __future__ import annotations

from placement_lab.problem import Edge, Instance, Job, Task, Worker, Workflow

__all__ = ["heft10"]

_WORKERS = ("p1", "p2", "p3")
_RUNTIME_S = {
    "t1": (14, 16, 9),
    "t2": (13, 19, 18),
    "t3": (11, 13, 19),
    "t4": (13, 8, 17),
    "t5": (12, 13, 10),
    "t6": (13, 16, 9),
    "t7": (7, 15, 11),
    "t8": (5, 11, 14),
    "t9": (18, 12, 20),
    "t10": (21, 7, 16),
}
_TRANSFER_S = {
    ("t1", "t2"): 18,
    ("t1", "t3"): 12,
    ("t1", "t4"): 9,
    ("t1", "t5"): 11,
    ("t1", "t6"): 14,
    ("t2", "t8"): 19,
    ("t2", "t9"): 16,
    ("t3", "t7"): 23,
    ("t4", "t8"): 27,
    ("t4", "t9"): 23,
    ("t5", "t9"): 13,
    ("t6", "t8"): 15,
    ("t7", "t10"): 17,
    ("t8", "t10"): 11,
    ("t9", "t10"): 13,
}


def heft10() -> Instance:
    """Return the example; HEFT's makespan is 80 and the optimum 73.

    Communication takes its time only between different processors, without contention.
    The paper's unit of time is read as a second.

    References
    ----------
    Topcuoglu, Hariri, Wu: Performance-effective and low-complexity task scheduling for
    heterogeneous computing. IEEE TPDS 13(3), 2002, doi:10.1109/71.993206.
    """
    tasks = [
        Task(name, dict(zip(_WORKERS, runtimes_s, strict=True)))
        for name, runtimes_s in _RUNTIME_S.items()
    ]
    edges = [
        Edge(src, dst, transfer_s=seconds)
        for (src, dst), seconds in _TRANSFER_S.items()
    ]
    return Instance(
        name="heft10",
        workers=tuple([Worker(name, memory_bytes=0) for name in _WORKERS]),
        workflows=(Workflow("heft10", tuple(tasks), tuple(edges)),),
        jobs=(Job("j0", "heft10"),),
    )
