"""What an online policy sees and may decide.

A policy places tasks while jobs arrive. It never sees the world itself, only a `View`:
the time, what each worker has to do and holds, and a `Profile` of estimated costs.
Whether the view is fresh and the profile right is the simulator's business.
"""

from placement_lab.policy.decisions import OnlinePolicy, Policy
from placement_lab.policy.profile import Profile
from placement_lab.policy.view import FixedView, Telemetry, View

__all__ = ["FixedView", "OnlinePolicy", "Policy", "Profile", "Telemetry", "View"]
