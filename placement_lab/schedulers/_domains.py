"""`Choices`: which workers a task may still take, where some links are missing.

Without a link, the two ends of an edge cannot be separated (rule R5), so a choice that
looks good now can leave a later task without any worker. Therefore every choice is
propagated along the edges (arc consistency), and one that empties a task's domain is
refused. That is exact where the tasks form a tree or the linked workers form separate
groups. Elsewhere a dead end remains possible: then a search with backtracking finds
some assignment, or proves that there is none.

Domains are bit masks over workers (Python integers).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from placement_lab.errors import InfeasiblePlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    from placement_lab.problem import InstanceArrays

    Answer = TypeVar("Answer")

__all__ = ["Choices", "DeadEndError", "with_choices"]

SEARCH_LIMIT = 100_000
"""Choices that the search for any assignment may try before it gives up."""


class DeadEndError(Exception):
    """No worker is left for a task, because of earlier choices."""


def with_choices(
    arrays: InstanceArrays, planner: Callable[[Choices], Answer]
) -> Answer:
    """Run a planner; should it end in a dead end, again with a fixed assignment.

    Raises
    ------
    InfeasiblePlanError
        If links are missing so that no assignment exists (or none was found).
    """
    try:
        return planner(Choices(arrays))
    except DeadEndError:
        choices = Choices(arrays)
        choices.fix_all()
        return planner(choices)


class Choices:
    """Workers that every task may take, shrinking as tasks are placed.

    Parameters
    ----------
    arrays : InstanceArrays

    Raises
    ------
    InfeasiblePlanError
        If a task has no worker from the start.
    """

    def __init__(self, arrays: InstanceArrays) -> None:
        self._arrays = arrays
        able = np.isfinite(arrays.row_runtime_s)
        self._row_workers = [np.flatnonzero(one).tolist() for one in able]
        self._row = arrays.row.tolist()
        self.is_linked = bool(np.isfinite(arrays.link_latency_s).all())
        if self.is_linked:
            return
        linked = np.isfinite(arrays.link_latency_s)
        self._reach = [_mask(np.flatnonzero(one).tolist()) for one in linked]
        self._support: dict[int, int] = {}
        self._domain = self._first_domains()
        self._neighbours = _linked_neighbours(arrays)
        empty = self._propagate(range(arrays.n_tasks), [])
        if empty >= 0:
            raise self._infeasible(empty)

    def workers(self, task: int) -> list[int]:
        """Return the workers that a task may take, in order."""
        if self.is_linked:
            return self._row_workers[self._row[task]]
        return _bits(self._domain[task])

    def take(self, task: int, worker: int) -> bool:
        """Place a task, if that leaves every other task a worker."""
        return self.is_linked or self._assign(task, worker, [])

    def first_that_goes(self, task: int, workers: Iterable[int]) -> int:
        """Place a task on the first worker that can be taken, and return it.

        Raises
        ------
        DeadEndError
            If there is none.
        """
        for worker in workers:
            if self.take(task, worker):
                return worker
        raise DeadEndError(task)

    def fix_all(self) -> None:
        """Reduce every domain to one worker, by depth-first search.

        Raises
        ------
        InfeasiblePlanError
            If there is no assignment, or none was found within `SEARCH_LIMIT` tries.
        """
        if self.is_linked:
            return
        order = self._arrays.topological.tolist()
        # One level per task of the order: what was changed for it, what is left to try.
        trails: list[list[tuple[int, int]]] = []
        untried = [self.workers(order[0])] if order else []
        tries = 0
        while untried and len(trails) < len(order):
            task = order[len(trails)]
            if not untried[-1]:
                untried.pop()
                if trails:
                    self._undo(trails.pop())
                continue
            tries += 1
            if tries > SEARCH_LIMIT:
                raise InfeasiblePlanError(
                    f"links are missing and no assignment was found in {SEARCH_LIMIT} "
                    "tries; use an exact solver, or add a default_link"
                )
            trail: list[tuple[int, int]] = []
            if self._assign(task, untried[-1].pop(0), trail):
                trails.append(trail)
                if len(trails) < len(order):
                    untried.append(self.workers(order[len(trails)]))
        if len(trails) < len(order):
            raise InfeasiblePlanError(
                "no assignment of tasks to workers exists, because links are missing "
                "between the workers that could run them; add links or a default_link"
            )

    def _first_domains(self) -> list[int]:
        """Return who can run each task and be reached by its job's input."""
        arrays = self._arrays
        row_mask = [_mask(workers) for workers in self._row_workers]
        domain = [row_mask[row] for row in self._row]
        is_entry = np.diff(arrays.pred_ptr) == 0
        by_link = np.isnan(arrays.row_input_transfer_s)[arrays.row]
        ingress = arrays.job_ingress[arrays.job]
        for task in np.flatnonzero(is_entry & by_link & (ingress >= 0)).tolist():
            domain[task] &= self._reach[ingress[task]]
        return domain

    def _assign(self, task: int, worker: int, trail: list[tuple[int, int]]) -> bool:
        trail.append((task, self._domain[task]))
        self._domain[task] = 1 << worker
        if self._propagate([task], trail) < 0:
            return True
        self._undo(trail)
        return False

    def _undo(self, trail: list[tuple[int, int]]) -> None:
        for task, domain in reversed(trail):
            self._domain[task] = domain
        trail.clear()

    def _propagate(self, changed: Iterable[int], trail: list[tuple[int, int]]) -> int:
        """Remove workers without a partner; return a task left with none, or -1."""
        queue = list(changed)
        for task in queue:
            if not self._domain[task]:
                return task
        while queue:
            task = queue.pop()
            support = self._support_of(self._domain[task])
            for other in self._neighbours[task]:
                domain = self._domain[other]
                kept = domain & support
                if kept == domain:
                    continue
                trail.append((other, domain))
                self._domain[other] = kept
                if not kept:
                    return other
                queue.append(other)
        return -1

    def _support_of(self, domain: int) -> int:
        """Return all workers linked with (or equal to) one of a domain."""
        support = self._support.get(domain)
        if support is None:
            support = 0
            for worker in _bits(domain):
                support |= self._reach[worker]
            self._support[domain] = support
        return support

    def _infeasible(self, task: int) -> InfeasiblePlanError:
        name = self._arrays.task_names[task]
        return InfeasiblePlanError(
            f"task {name!r}: no worker that can run it has links to workers for the "
            "tasks it exchanges data with; add links or a default_link"
        )


def _linked_neighbours(arrays: InstanceArrays) -> list[list[int]]:
    """Return, for every task, the tasks at the other end of edges that need a link."""
    neighbours: list[list[int]] = [[] for _ in range(arrays.n_tasks)]
    needs_link = np.isnan(arrays.edge_transfer_s)[arrays.pred_edge]
    dst = np.repeat(np.arange(arrays.n_tasks), np.diff(arrays.pred_ptr))[needs_link]
    src = arrays.pred_task[needs_link]
    for a, b in zip(src.tolist(), dst.tolist(), strict=True):
        neighbours[a].append(b)
        neighbours[b].append(a)
    return neighbours


def _mask(workers: list[int]) -> int:
    return sum(1 << worker for worker in workers)


def _bits(mask: int) -> list[int]:
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found
