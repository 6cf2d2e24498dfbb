"""The tables that `placement-lab compare` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from placement_lab.report.formatting import (
    NOTHING,
    format_count_bytes,
    format_fraction,
    format_number,
    format_objective,
    format_wall,
    instance_label,
)

if TYPE_CHECKING:
    from rich.table import Table

    from placement_lab.compare.distributions import Distribution
    from placement_lab.compare.results import Comparison, InstanceComparison, Row
    from placement_lab.metrics import Metrics

__all__ = [
    "COLUMNS",
    "comparison_caption",
    "comparison_cells",
    "comparison_notes",
    "comparison_table",
    "distribution_caption",
    "distribution_cells",
    "distribution_table",
]

SHIFTED = "left-shifted"
COLUMNS = (
    "gap",
    "excess",
    SHIFTED,
    "slow-down",
    "p95",
    "hit rate",
    "loaded",
    "seconds",
)
WIDE = 112
"""A terminal with fewer columns gets the tight table."""
DISTRIBUTION_COLUMNS = (
    "scheduler",
    "n",
    "mean gap",
    "95 % interval",
    "median",
    "worst",
    "behind the best",
    "95 % interval",
)


def comparison_cells(one: InstanceComparison) -> list[list[str]]:
    """Return the table of one instance as text: header, schedulers, reference."""
    ranked = sorted(
        one.rows, key=lambda row: (row.objective is None, row.objective or 0.0)
    )
    return [
        ["scheduler", one.objective, *COLUMNS],
        *(_row_cells(row, one.objective) for row in ranked),
        _reference_cells(one),
    ]


def _row_cells(row: Row, objective: str) -> list[str]:
    if row.objective is None:
        why = f"{len(row.violations)} violations" if row.violations else "error"
        return [row.scheduler, why, *[NOTHING] * 7, format_wall(row.seconds)]
    return [
        row.scheduler,
        format_objective(row.objective, objective),
        format_fraction(row.gap),
        format_fraction(row.excess),
        format_objective(row.replayed_objective, objective),
        *_metric_cells(row.metrics),
        format_wall(row.seconds),
    ]


def _reference_cells(one: InstanceComparison) -> list[str]:
    from placement_lab.compare.results import excess_of

    found = one.reference
    excess = excess_of(found.objective, one.best_known)
    return [
        "reference",
        format_objective(found.objective, one.objective),
        format_fraction(found.gap),
        format_fraction(excess),
        format_objective(found.objective, one.objective),
        *_metric_cells(one.reference_metrics),
        format_wall(found.seconds),
    ]


def _metric_cells(metrics: Metrics | None) -> list[str]:
    if metrics is None:
        return [NOTHING] * 4
    return [
        format_number(metrics.mean_slow_down),
        format_number(metrics.p95_slow_down),
        format_fraction(metrics.hit_rate),
        format_count_bytes(metrics.bytes_loaded),
    ]


def comparison_table(one: InstanceComparison, width: int = 120) -> Table:
    """Return the rich table of one instance: the best first, the reference last.

    Parameters
    ----------
    one : InstanceComparison
    width : int
        Of the terminal, in characters; a narrow one loses the left-shifted column.
    """
    cells = comparison_cells(one)
    if width < WIDE:
        dropped = cells[0].index(SHIFTED)
        cells = [row[:dropped] + row[dropped + 1 :] for row in cells]
    header, *rows, reference = cells
    table = _table(header, is_tight=width < WIDE)
    table.title = f"{instance_label(one.instance)}: {_meaning(one.objective)}"
    for row in rows:
        table.add_row(*row, style="red" if row[2] == NOTHING else None)
    table.add_section()
    table.add_row(*reference, style="bold")
    return table


def _table(header: list[str], *, is_tight: bool = False) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(
        box=None if is_tight else box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0) if is_tight else (0, 1),
        title_justify="left",
        title_style="bold",
    )
    for i, name in enumerate(header):
        table.add_column(name, justify="left" if i == 0 else "right", no_wrap=True)
    return table


def _meaning(objective: str) -> str:
    return {
        "latency": "mean latency of the jobs",
        "makespan": "makespan",
        "slowdown": "mean slow-down of the jobs",
        "late": "weight of the late jobs",
    }[objective]


def comparison_notes(one: InstanceComparison) -> list[str]:
    """Return the lines below the table: which bound, how sure, and what failed."""
    found = one.reference
    name = one.objective
    lines = [
        f"bound {format_objective(found.bound, name)} ({found.bound_source}); "
        + _certainty(one)
    ]
    other = one.clairvoyant
    if other is not None:
        lines.append(
            f"clairvoyant bound {format_objective(other.bound, name)} "
            f"({other.bound_source}): no schedule is better even if models may be "
            "loaded before any job is there"
        )
    lines += [
        f"{row.scheduler}: {line}"
        for row in one.rows
        if row.error is not None
        for line in row.error.splitlines()
    ]
    return lines


def comparison_caption(comparison: Comparison, one: InstanceComparison) -> str:
    """Return what is needed to repeat the table."""
    repeatable = "yes" if comparison.deterministic else "no (bounded by wall clock)"
    return (
        f"instance {one.instance.sha256[:12]}, {len(one.instance.jobs)} jobs, "
        f"{one.instance.n_tasks} tasks, seed {one.seed}, time limit "
        f"{comparison.time_limit_s:g} s, deterministic: {repeatable}"
    )


def distribution_caption(comparison: Comparison) -> str:
    """Return what is needed to repeat the table over several instances."""
    proven = [one.reference.status == "optimal" for one in comparison.instances]
    repeatable = "yes" if comparison.deterministic else "no (bounded by wall clock)"
    return (
        f"reference proven optimal on {sum(proven)} of {len(proven)}; intervals by "
        f"paired bootstrap; seed {comparison.seed}, time limit "
        f"{comparison.time_limit_s:g} s each, deterministic: {repeatable}"
    )


def _certainty(one: InstanceComparison) -> str:
    found = one.reference
    if found.status == "optimal":
        return "the reference is proven optimal"
    if found.status == "infeasible":
        return "no schedule exists: proven"
    if found.bound is None:
        return "nothing is proven"
    return (
        "the reference is not proven optimal: the optimum lies between the bound and "
        f"{format_objective(one.best_known, one.objective)}"
    )


def distribution_cells(distributions: tuple[Distribution, ...]) -> list[list[str]]:
    """Return the table of the gaps over several instances as text, header first."""
    ranked = sorted(
        distributions, key=lambda one: (one.mean_gap is None, one.mean_gap or 0.0)
    )
    return [list(DISTRIBUTION_COLUMNS), *(_distribution_row(one) for one in ranked)]


def _distribution_row(one: Distribution) -> list[str]:
    is_baseline = one.scheduler == one.baseline
    return [
        one.scheduler,
        str(one.n) if not one.n_failed else f"{one.n} of {one.n + one.n_failed}",
        format_fraction(one.mean_gap),
        _interval(one.mean_gap_interval),
        format_fraction(one.median_gap),
        format_fraction(one.max_gap),
        NOTHING if is_baseline else _points(one.mean_difference),
        NOTHING if is_baseline else _interval(one.mean_difference_interval),
    ]


def _interval(interval: tuple[float, float] | None) -> str:
    if interval is None:
        return NOTHING
    low, high = interval
    return f"{100 * low:.1f} to {100 * high:.1f}"


def _points(value: float | None) -> str:
    return NOTHING if value is None else f"{100 * value:+.1f}"


def distribution_table(comparison: Comparison, width: int = 120) -> Table:
    """Return the rich table of the gaps over several instances."""
    header, *rows = distribution_cells(comparison.distributions)
    table = _table(header, is_tight=width < WIDE)
    table.title = (
        f"{_meaning(comparison.objective)}: gap to the bound over "
        f"{len(comparison.instances)} instances"
    )
    for cells in rows:
        table.add_row(*cells)
    return table
