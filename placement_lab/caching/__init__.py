"""Model caches: which models leave a worker's memory when room is needed."""

from placement_lab.caching.cache import ModelCache
from placement_lab.caching.policies import (
    EvictionPolicy,
    available_policies,
    get_policy,
)

__all__ = ["EvictionPolicy", "ModelCache", "available_policies", "get_policy"]
