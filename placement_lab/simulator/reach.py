"""`Reach`: which workers a task may be placed on, where some links are missing.

Without a link, the two ends of an edge cannot be separated (rule R5), and a policy that
decides task by task could end where the next task has no worker. Therefore the tasks
that are joined by such edges are confined, when their job arrives, to one group of
workers that are all linked with one another; within it every choice is safe. Of several
groups the one with the least mean queue wait is taken, ties by declared order. Where no
group can run all the tasks, one assignment is searched for and fixed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from placement_lab.errors import InfeasiblePlanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from placement_lab.policy import Profile
    from placement_lab.problem import InstanceArrays

__all__ = ["Reach"]

Domain = tuple[int, ...]
SEARCH_LIMIT = 100_000
"""Placements that the search for one assignment may try before it gives up."""


class Reach:
    """Workers that every task may take.

    Parameters
    ----------
    arrays : InstanceArrays
    truth : Profile
        Of the same instance.

    Attributes
    ----------
    is_free : bool
        Every task may take every worker that can run it.
    """

    def __init__(self, arrays: InstanceArrays, truth: Profile) -> None:
        self._truth = truth
        self.is_free = truth.is_linked or not _needs_links(arrays)
        if self.is_free:
            return
        self._names = arrays.row_ids
        self._needs_link = np.isnan(arrays.edge_transfer_s).tolist()
        self._input_needs_link = np.isnan(arrays.row_input_transfer_s).tolist()
        linked = np.isfinite(arrays.link_latency_s)
        self._linked = [frozenset(np.flatnonzero(one).tolist()) for one in linked]
        self._groups = _groups(self._linked)
        self._cache: dict[tuple[int, int], list[tuple[list[int], list[list[Domain]]]]]
        self._cache = {}
        self._domain: dict[int, Domain] = {}

    def workers_for(self, task: int) -> Sequence[int]:
        """Return the workers that a task of a job that has arrived may take."""
        if self.is_free:
            truth = self._truth
            return truth.eligible[truth.task_row[task]]
        return self._domain[task]

    def admit(self, job: int, wait_s: Sequence[float]) -> None:
        """Confine the tasks of an arriving job.

        Parameters
        ----------
        job : int
        wait_s : sequence of float
            Queue wait of each worker.

        Raises
        ------
        InfeasiblePlanError
            If its tasks cannot be placed, because links are missing.
        """
        first, last = self._truth.job_ptr[job : job + 2]
        row, ingress = self._truth.task_row[first], self._truth.job_ingress[job]
        if (row, ingress) not in self._cache:
            self._cache[row, ingress] = self._options(row, last - first, ingress)
        for tasks, options in self._cache[row, ingress]:
            best = min(options, key=lambda option: _mean_wait_s(option, wait_s))
            for local, domain in zip(tasks, best, strict=True):
                self._domain[first + local] = domain

    def leave(self, task: int) -> None:
        """Forget a task that has ended."""
        if not self.is_free:
            del self._domain[task]

    def _options(
        self, first_row: int, n: int, ingress: int
    ) -> list[tuple[list[int], list[list[Domain]]]]:
        """Return the parts of a workflow that hang together, and their safe domains."""
        wide = [self._widest(first_row + local, ingress) for local in range(n)]
        parts = []
        for tasks in self._parts(first_row, n):
            options: list[list[Domain]] = []
            if len(tasks) == 1:
                options = [[wide[tasks[0]]]] if wide[tasks[0]] else []
            else:
                for group in self._groups:
                    option = [
                        tuple([w for w in wide[local] if w in group]) for local in tasks
                    ]
                    if all(option) and option not in options:
                        options.append(option)
                options = options or self._search(first_row, tasks, wide)
            if not options:
                raise InfeasiblePlanError(
                    f"task {self._names[first_row + tasks[0]]!r}: no workers that can "
                    "run it and the tasks it exchanges data with are linked; add links "
                    "or a default_link"
                )
            parts.append((tasks, options))
        return parts

    def _widest(self, row: int, ingress: int) -> Domain:
        eligible = self._truth.eligible[row]
        is_entry = not self._truth.row_preds[row]
        if ingress < 0 or not is_entry or not self._input_needs_link[row]:
            return eligible
        return tuple([w for w in eligible if w in self._linked[ingress]])

    def _parts(self, first_row: int, n: int) -> list[list[int]]:
        """Return the tasks that edges without own transfer time hold together."""
        root = list(range(n))

        def find(local: int) -> int:
            while root[local] != local:
                root[local] = root[root[local]]
                local = root[local]
            return local

        for local in range(n):
            for distance, edge in self._truth.row_succs[first_row + local]:
                if self._needs_link[edge]:
                    a, b = find(local), find(local + distance)
                    root[max(a, b)] = min(a, b)
        parts: dict[int, list[int]] = {}
        for local in range(n):
            parts.setdefault(find(local), []).append(local)
        return list(parts.values())

    def _search(
        self, first_row: int, tasks: list[int], wide: list[Domain]
    ) -> list[list[Domain]]:
        """Search depth first for one assignment, predecessors first."""
        position = self._truth.row_position
        order = sorted(tasks, key=lambda local: position[first_row + local])
        placed: dict[int, int] = {}
        untried = [list(wide[order[0]])]
        tries = 0
        while untried and len(placed) < len(order):
            local = order[len(untried) - 1]
            placed.pop(local, None)
            if not untried[-1]:
                untried.pop()
                continue
            tries += 1
            if tries > SEARCH_LIMIT:
                raise InfeasiblePlanError(
                    f"task {self._names[first_row + local]!r}: links are missing and "
                    f"no assignment was found in {SEARCH_LIMIT} tries; add a "
                    "default_link"
                )
            worker = untried[-1].pop(0)
            if self._can_join(first_row, local, worker, placed):
                placed[local] = worker
                if len(placed) < len(order):
                    untried.append(list(wide[order[len(placed)]]))
        if len(placed) < len(order):
            return []
        return [[(placed[local],) for local in tasks]]

    def _can_join(
        self, first_row: int, local: int, worker: int, placed: dict[int, int]
    ) -> bool:
        return all(
            placed[local + distance] in self._linked[worker]
            for distance, edge in self._truth.row_preds[first_row + local]
            if self._needs_link[edge]
        )


def _needs_links(arrays: InstanceArrays) -> bool:
    """Return whether anything at all is sent over a link."""
    is_entry = np.diff(arrays.pred_ptr) == 0
    by_link = np.isnan(arrays.row_input_transfer_s)[arrays.row]
    has_ingress = arrays.job_ingress[arrays.job] >= 0
    return bool(
        np.isnan(arrays.edge_transfer_s).any()
        or (is_entry & by_link & has_ingress).any()
    )


def _groups(linked: list[frozenset[int]]) -> list[frozenset[int]]:
    """Return groups of workers that are all linked: grown from each worker in turn."""
    groups: list[frozenset[int]] = []
    for seed in range(len(linked)):
        group = {seed}
        for worker in range(len(linked)):
            if group <= linked[worker]:
                group.add(worker)
        if frozenset(group) not in groups:
            groups.append(frozenset(group))
    return groups


def _mean_wait_s(option: list[Domain], wait_s: Sequence[float]) -> float:
    workers = sorted({worker for domain in option for worker in domain})
    return sum([wait_s[worker] for worker in workers]) / len(workers)
