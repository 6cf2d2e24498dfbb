"""The referee: does a schedule obey the rules R0-R6? It knows nothing of who made it.

Written from the rules alone; it shares no code with replay, solvers or simulator. One
module per subject: `_records` (R0), `_occupancy` (R1, and what loads and evictions
occupy and how long they take, R3 and R4), `_residency` (R2, R4), `_memory` (R2),
`_inputs` (R5, and releases, R6), `_prefetch` (R6).

How the rules are read where they leave room:

* Two times are equal if they differ by at most the slack: 1e-9 s, or four units in the
  last place of a time too large for that, or the caller's tolerance. Times are compared
  in pairs, never rounded to a grid: an overlap counts only if it exceeds the slack.
* A copy of a model is usable from the end of its load to the start of its eviction,
  both included, and a run lies inside one copy's usable time. A run of no length may
  touch either end, and may use either of two copies that meet there.
* An action of no length takes a slot, the copy engine or memory from what surrounds it
  on both sides, but not from what starts or ends at its instant.
* One fault is reported once. A run whose model is evicted under it is R4, not R2 too;
  loads that overlap are R3, not also one slot too many; a load whose run starts before
  its end is not called unused as well.
* A load of a model that is already there makes no second copy; an eviction of a model
  that is not there does nothing; an eviction during the load ends the copy.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from placement_lab.errors import ScheduleError
from placement_lab.verify._inputs import check_inputs
from placement_lab.verify._memory import check_memory
from placement_lab.verify._occupancy import check_durations, check_occupancy
from placement_lab.verify._prefetch import check_prefetch
from placement_lab.verify._records import Slack, read_schedule
from placement_lab.verify._residency import check_residency, follow_copies
from placement_lab.verify._violations import Violation

if TYPE_CHECKING:
    from placement_lab.problem import Instance
    from placement_lab.schedule import Schedule

__all__ = ["Violation", "verify"]


def verify(
    instance: Instance, schedule: Schedule, *, tolerance_s: float | None = None
) -> list[Violation]:
    """Check a schedule against the rules of its instance.

    Parameters
    ----------
    instance : Instance
    schedule : Schedule
        From anywhere; names that do not exist and times that are no times are
        violations of R0, and what can be checked beside them is checked.
    tolerance_s : float, optional
        Times that differ by no more than this are equal. It only ever widens the
        default (`placement_lab.units.time_slack_s`); memory is always exact.

    Returns
    -------
    list of Violation
        Empty for a valid schedule; else in the order of time, rule and place.

    Raises
    ------
    ScheduleError
        If the schedule belongs to another instance, or the tolerance is no tolerance.
    """
    _check_belongs(instance, schedule)
    _check_tolerance(tolerance_s)
    # Absurd but finite numbers may overflow on the way; infinities compare correctly.
    with np.errstate(over="ignore", invalid="ignore"):
        case = read_schedule(instance, schedule, Slack(tolerance_s))
        check_durations(case)
        check_occupancy(case)
        copies = follow_copies(case)
        usage = check_residency(case, copies)
        check_memory(case, copies, usage)
        ready_s = check_inputs(case)
        check_prefetch(case, copies, usage, ready_s)
    return case.report.violations()


def _check_belongs(instance: Instance, schedule: Schedule) -> None:
    expected = schedule.instance_sha256
    if expected is not None and expected != instance.sha256:
        raise ScheduleError(
            f"the schedule is for instance {expected[:12]}, this is instance "
            f"{instance.sha256[:12]}; verify it against its own instance"
        )


def _check_tolerance(tolerance_s: float | None) -> None:
    if tolerance_s is None or (math.isfinite(tolerance_s) and tolerance_s >= 0):
        return
    raise ScheduleError(
        f"tolerance_s must be a finite number of at least 0, got {tolerance_s!r}"
    )
