"""All seeded generators of instances under one name."""

from placement_lab.datasets.layered import layered
from placement_lab.datasets.pipelines import compass_like, overload
from placement_lab.datasets.planted import Planted, planted
from placement_lab.datasets.tiny import tiny_random

__all__ = [
    "Planted",
    "compass_like",
    "layered",
    "overload",
    "planted",
    "tiny_random",
]
