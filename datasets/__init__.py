"""Data sets: readers, importers, generators and the bundled data."""

from placement_lab.datasets.catalog import (
    DatasetInfo,
    available_datasets,
    load_dataset,
    parse_spec,
)
from placement_lab.datasets.generators import (
    Planted,
    compass_like,
    layered,
    overload,
    planted,
    tiny_random,
)
from placement_lab.datasets.golden import (
    GOLDEN_NAMES,
    GoldenRow,
    GoldenTimeline,
    golden_arrivals,
    golden_summary,
    golden_timeline,
)
from placement_lab.datasets.heft10 import heft10

__all__ = [
    "GOLDEN_NAMES",
    "DatasetInfo",
    "GoldenRow",
    "GoldenTimeline",
    "Planted",
    "available_datasets",
    "compass_like",
    "golden_arrivals",
    "golden_summary",
    "golden_timeline",
    "heft10",
    "layered",
    "load_dataset",
    "overload",
    "parse_spec",
    "planted",
    "tiny_random",
]
