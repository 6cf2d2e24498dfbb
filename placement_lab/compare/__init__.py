"""Compare schedulers with each other and with a proven bound."""

from placement_lab.compare.distributions import Distribution
from placement_lab.compare.engine import ComparisonInterrupted, Progress, compare
from placement_lab.compare.results import Comparison, InstanceComparison, Row

__all__ = [
    "Comparison",
    "ComparisonInterrupted",
    "Distribution",
    "InstanceComparison",
    "Progress",
    "Row",
    "compare",
]
