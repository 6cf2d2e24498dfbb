"""The online world: jobs arrive, a policy places their tasks, workers do them."""

from placement_lab.simulator.online import simulate

__all__ = ["simulate"]
