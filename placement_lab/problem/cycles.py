"""Find a cycle in a directed graph, and name only the nodes that lie on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["find_cycle"]


def find_cycle(
    nodes: Sequence[str], edges: Sequence[tuple[str, str]]
) -> tuple[str, ...]:
    """Return the nodes of one cycle in order, or an empty tuple.

    Parameters
    ----------
    nodes : sequence of str
    edges : sequence of (str, str)
        Both ends must be among the nodes.

    Returns
    -------
    tuple of str
        A cycle ``a, b, c`` means edges a -> b, b -> c and c -> a. Nodes that only lead
        into a cycle, or out of one, are never part of it.
    """
    left = _without_sources(nodes, edges)
    if not left:
        return ()
    predecessors: dict[str, list[str]] = {node: [] for node in left}
    for src, dst in edges:
        if src in left and dst in left:
            predecessors[dst].append(src)
    # Every node left has a predecessor that is left: walking back must close a cycle.
    walk: list[str] = []
    seen: dict[str, int] = {}
    node = next(name for name in nodes if name in left)
    while node not in seen:
        seen[node] = len(walk)
        walk.append(node)
        node = predecessors[node][0]
    cycle = walk[seen[node] :][::-1]
    number = {name: i for i, name in enumerate(nodes)}
    first = min(range(len(cycle)), key=lambda i: number[cycle[i]])
    return tuple(cycle[first:] + cycle[:first])


def _without_sources(
    nodes: Sequence[str], edges: Sequence[tuple[str, str]]
) -> set[str]:
    """Return what stays after sources are removed again and again."""
    waiting = dict.fromkeys(nodes, 0)
    successors: dict[str, list[str]] = {node: [] for node in nodes}
    for src, dst in edges:
        waiting[dst] += 1
        successors[src].append(dst)
    ready = [node for node in nodes if waiting[node] == 0]
    left = set(nodes)
    while ready:
        node = ready.pop()
        left.discard(node)
        for successor in successors[node]:
            waiting[successor] -= 1
            if waiting[successor] == 0:
                ready.append(successor)
    return left
