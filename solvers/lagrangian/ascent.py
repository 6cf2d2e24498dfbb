"""Find good prices: Adam on prices that are constant over blocks of ticks.

Every price is valid, so nothing here can make a bound wrong, only weak.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from placement_lab.solvers.lagrangian._kernels import Prices
from placement_lab.solvers.lagrangian.relaxation import PRICE_UNIT

if TYPE_CHECKING:
    from collections.abc import Callable

    from placement_lab.solvers.lagrangian.relaxation import Relaxation

__all__ = ["Stage", "best_prices"]

_RATE, _DECAY = 1.0, 0.45
_RESIDENT_RATE, _LOAD_RATE = 0.5, 0.5
"""Relative to a slot's price; a load's price counts per tick that the load takes."""

_BETA_1, _BETA_2 = 0.9, 0.99


@dataclass(frozen=True, slots=True)
class Stage:
    """Prices constant over ``block`` ticks, for a share of the whole budget."""

    block: int
    share: float


STAGES = (Stage(20, 0.15), Stage(10, 0.2), Stage(5, 0.25), Stage(1, 0.4))


def best_prices(
    relaxation: Relaxation,
    progress: Callable[[], float],
    on_value: Callable[[float], None],
) -> tuple[float, Prices]:
    """Climb until the budget is used up; return the best value and its prices.

    Parameters
    ----------
    relaxation : Relaxation
    progress : callable
        Returns the used share of the budget, from 0 to 1.
    on_value : callable
        Called with every better value.
    """
    best_prices_ = relaxation.zero_prices()
    best = relaxation.evaluate(best_prices_).value
    on_value(best)
    begin = 0.0
    for number, stage in enumerate(STAGES):
        end = begin + stage.share
        prices = [np.array(part) for part in best_prices_]
        rates = _rates(relaxation, _RATE * _DECAY**number)
        first = [np.zeros_like(part) for part in prices]
        second = [np.zeros_like(part) for part in prices]
        step = 0
        while (used := progress()) < end:
            step += 1
            left = (end - used) / (end - begin)
            snapped = Prices(*[np.round(p / PRICE_UNIT) * PRICE_UNIT for p in prices])
            found = relaxation.evaluate(snapped)
            if found.value > best:
                best, best_prices_ = found.value, snapped
                on_value(best)
            for part, slope in enumerate(found.slope):
                mean = _block_mean(slope, stage.block)
                first[part] = _BETA_1 * first[part] + (1 - _BETA_1) * mean
                second[part] = _BETA_2 * second[part] + (1 - _BETA_2) * mean**2
                upward = first[part] / (1 - _BETA_1**step)
                scale = np.sqrt(second[part] / (1 - _BETA_2**step)) + 1e-8
                prices[part] += left * rates[part] * upward / scale
                np.maximum(prices[part], 0.0, out=prices[part])
        begin = end
    return best, best_prices_


def _rates(relaxation: Relaxation, rate: float) -> list[np.ndarray | float]:
    """Return the step sizes of the three kinds of prices."""
    length = np.array([world.load for world in relaxation.histories], np.float64)
    after_release = relaxation.arrays.prefetch == "after_release"
    per_load = _LOAD_RATE * rate * length[:, :, None] if after_release else 0.0
    return [rate, _RESIDENT_RATE * rate, per_load]


def _block_mean(values: np.ndarray, block: int) -> np.ndarray:
    if block == 1:
        return values
    width = values.shape[-1]
    starts = np.arange(0, width, block)
    sums = np.add.reduceat(values, starts, axis=-1)
    sizes = np.diff(np.append(starts, width))
    return np.repeat(sums / sizes, sizes, axis=-1)
