"""Gaps over several instances: means with paired bootstrap intervals."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Distribution", "gap_distributions"]

RESAMPLES = 2000
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Distribution:
    """The gaps of one scheduler over several instances.

    Attributes
    ----------
    scheduler : str
    n : int
        Instances on which it has a gap; the others are in ``n_failed``.
    n_failed : int
        Instances without a valid schedule of it, or without a bound.
    mean_gap, median_gap, max_gap : float or None
        Fractions; None where n is 0.
    mean_gap_interval : pair of float or None
        Bootstrap interval of the mean, at 95 %.
    baseline : str
        The scheduler with the smallest mean gap.
    mean_difference : float or None
        Mean of (gap - gap of the baseline) over the instances where both have one.
    mean_difference_interval : pair of float or None
        Its paired bootstrap interval, at 95 %; the difference is real where it leaves
        out 0.
    """

    scheduler: str
    n: int
    n_failed: int
    mean_gap: float | None
    median_gap: float | None
    max_gap: float | None
    mean_gap_interval: tuple[float, float] | None
    baseline: str
    mean_difference: float | None
    mean_difference_interval: tuple[float, float] | None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)


def gap_distributions(
    gaps: Mapping[str, Sequence[float | None]], *, seed: int = 0
) -> tuple[Distribution, ...]:
    """Summarise the gaps of every scheduler over the same instances.

    All schedulers meet the same resampled instances (Efron and Tibshirani 1993, the
    percentile interval), so an interval of a difference is not widened by what makes an
    instance hard for everybody.

    Parameters
    ----------
    gaps : mapping of str to sequence of float or None
        By scheduler, one gap for each instance, in the same order; None where there
        is none.
    seed : int
        Of the resampling.

    Returns
    -------
    tuple of Distribution
        In the order of ``gaps``.
    """
    if not gaps:
        return ()
    table = {
        name: np.array([np.nan if gap is None else gap for gap in values], dtype=float)
        for name, values in gaps.items()
    }
    n = len(next(iter(table.values())))
    draws = np.random.default_rng(seed).integers(0, n, size=(RESAMPLES, n))
    baseline = _baseline(table)
    return tuple(
        _distribution(name, values, baseline, table[baseline], draws)
        for name, values in table.items()
    )


def _baseline(table: Mapping[str, np.ndarray]) -> str:
    """Return the smallest mean gap among those with the most instances."""
    order = list(table)

    def key(name: str) -> tuple[int, float, int]:
        known = table[name][~np.isnan(table[name])]
        return (
            -known.size,
            float(known.mean()) if known.size else 0.0,
            order.index(name),
        )

    return min(order, key=key)


def _distribution(
    name: str,
    values: np.ndarray,
    baseline: str,
    baseline_values: np.ndarray,
    draws: np.ndarray,
) -> Distribution:
    known = values[~np.isnan(values)]
    difference = values - baseline_values
    shared = difference[~np.isnan(difference)]
    return Distribution(
        scheduler=name,
        n=int(known.size),
        n_failed=int(values.size - known.size),
        mean_gap=float(known.mean()) if known.size else None,
        median_gap=float(np.median(known)) if known.size else None,
        max_gap=float(known.max()) if known.size else None,
        mean_gap_interval=_interval(values, draws),
        baseline=baseline,
        mean_difference=float(shared.mean()) if shared.size else None,
        mean_difference_interval=_interval(difference, draws),
    )


def _interval(values: np.ndarray, draws: np.ndarray) -> tuple[float, float] | None:
    """Return the percentile interval of the mean; resamples skip missing values."""
    present = ~np.isnan(values)
    if not present.any():
        return None
    counts = present[draws].sum(axis=1)
    sums = np.where(present, values, 0.0)[draws].sum(axis=1)
    means = sums[counts > 0] / counts[counts > 0]
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return float(low), float(high)
