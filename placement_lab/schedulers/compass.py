"""`Compass`: plan each job where it arrives, adjust the plan as tasks end.

The scheduler of arXiv 2402.17652 (also called Navigator). Each job is planned by the
worker that receives it, from what it knows of every worker's queue and cached models.
When a task ends and the planned worker of its successor has become busy, the successor
moves. The released code of the authors differs from the method in places; each such
quirk is an option here, corrected unless ``faithful`` is asked for.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from placement_lab.errors import UnsupportedError
from placement_lab.policy import Telemetry
from placement_lab.schedulers._job_plan import fetch_s, plan_job, planning_order
from placement_lab.schedulers._online import OnlineScheduler

if TYPE_CHECKING:
    from collections.abc import Mapping

    from placement_lab.policy import Profile, View

__all__ = ["Compass", "CompassOptions"]


@dataclass(frozen=True)
class CompassOptions:
    """Everything about Compass that can be chosen; the default is the corrected method.

    Of the quirks of the authors' code, Q4 to Q8 concern its C++ side alone, Q1 needs
    stale views, Q11 is about a figure, and Q15 (simultaneous events in any order) is
    not offered: the world's rules hold for every policy.

    Attributes
    ----------
    adjust : bool
        Dynamic adjustment: move a successor when its planned worker has become busy.
    load_term, cache_term : bool
        Whether plans regard queue waits, and model fetches (ablations of the paper).
    threshold : float
        A task moves only if the planned wait exceeds this many times its runtime.
    evict : str
        Eviction policy: look-ahead over the queue (``lookahead``), or ``fifo``.
    order : {'rank', 'topological'}
        Order of planning within a job; the C++ code has the second (A1).
    updates_cache : bool
        Whether a plan knows the models that it fetches itself (Q3: it does not).
    subtracts_used : bool
        Q2: a planned fetch lowers the used memory. Matters with a penalty only.
    eviction_penalty : {'zero', 'flat2x', 'victims'}
        What a fetch costs beside itself where the model does not fit (Q9: ``flat2x``).
        ``victims`` charges the time to evict the missing bytes.
    telemetry : Telemetry
        Whether queue waits count running tasks (A5) and pending loads (Q10: no; if they
        do, a model that is coming counts as being there), and how evictions show (Q13).
    adjust_at : {'end', 'start'}
        When the adjustment is decided (Q12: when the predecessor starts).
    adjust_transfer : {'edge', 'input'}
        The transfer that the adjustment expects (Q14: of the task's own input, where
        that is declared and shorter).
    entry_transfer : bool
        Whether plans regard the way of an entry task's input. The golden timelines show
        that those of the authors' simulator do not.
    pick : {'finish', 'start'}
        Earliest finish, or earliest start (Q16: the same on equal workers).
    """

    adjust: bool = True
    load_term: bool = True
    cache_term: bool = True
    threshold: float = 1.5
    evict: str = "lookahead"
    order: Literal["rank", "topological"] = "rank"
    updates_cache: bool = True
    subtracts_used: bool = False
    eviction_penalty: Literal["zero", "flat2x", "victims"] = "zero"
    telemetry: Telemetry = field(default_factory=Telemetry)
    adjust_at: Literal["end", "start"] = "end"
    adjust_transfer: Literal["edge", "input"] = "edge"
    entry_transfer: bool = True
    pick: Literal["finish", "start"] = "finish"

    @classmethod
    def faithful(cls) -> CompassOptions:
        """Return the options that reproduce the authors' simulator."""
        return cls(
            evict="fifo",
            updates_cache=False,
            subtracts_used=True,
            eviction_penalty="flat2x",
            telemetry=Telemetry(
                running="excluded", pending_loads=False, cache="load_first"
            ),
            adjust_at="start",
            adjust_transfer="input",
            entry_transfer=False,
            pick="start",
        )


class Compass(OnlineScheduler):
    """Plan each job at its arrival; adjust single tasks as their inputs become ready.

    Parameters
    ----------
    faithful : bool
        With the quirks of the authors' simulator.
    adjust, load_term, cache_term : bool
        False: leave that part out (the paper's ablations).
    evict : str, optional
        Eviction policy of the workers.
    options : CompassOptions, optional
        Everything else; instead of ``faithful``.

    References
    ----------
    .. [1] Y. Yang et al., "Compass: A Decentralized Scheduler for Latency-Sensitive ML
       Workflows", arXiv 2402.17652: planning phase, dynamic adjustment, GPU memory
       manager.

    Examples
    --------
    >>> Compass(faithful=True).compass_options.evict
    'fifo'
    """

    name = "compass"

    def __init__(
        self,
        *,
        faithful: bool = False,
        adjust: bool = True,
        load_term: bool = True,
        cache_term: bool = True,
        evict: str | None = None,
        options: CompassOptions | None = None,
    ) -> None:
        if options is None:
            options = CompassOptions.faithful() if faithful else CompassOptions()
        elif faithful:
            raise UnsupportedError("give Compass either options or faithful, not both")
        self.compass_options = replace(
            options,
            adjust=options.adjust and adjust,
            load_term=options.load_term and load_term,
            cache_term=options.cache_term and cache_term,
            evict=options.evict if evict is None else evict,
        )
        self.evict = self.compass_options.evict
        self.telemetry = self.compass_options.telemetry
        self.decides_at = self.compass_options.adjust_at
        self._orders: dict[int, list[int]] = {}

    @property
    def options(self) -> Mapping[str, Any]:
        """Everything that was chosen."""
        return asdict(self.compass_options)

    def begin(self, profile: Profile, seed: int) -> None:
        """Forget the ranks of another instance."""
        del profile, seed
        self._orders = {}

    def on_job(self, job: int, view: View) -> list[int]:
        """Plan the job (planning phase)."""
        profile = view.profile
        row = profile.task_row[profile.job_ptr[job]]
        order = self._orders.get(row)
        if order is None:
            order = planning_order(profile, job, self.compass_options)
            self._orders[row] = order
        return plan_job(job, view, self.compass_options, order).worker

    def on_task_end(
        self, task: int, successor: int, planned_worker: int, view: View
    ) -> int:
        """Move the successor if its worker has become busy (dynamic adjustment)."""
        options = self.compass_options
        if not (options.adjust and options.load_term):
            return planned_worker
        profile = view.profile
        runtime_s = profile.runtime_s[profile.task_row[successor]]
        wait_s = view.queue_wait_at_s(planned_worker)
        if wait_s <= options.threshold * runtime_s[planned_worker]:
            return planned_worker
        return self._soonest(task, successor, view)

    def _soonest(self, task: int, successor: int, view: View) -> int:
        """Return the worker that would finish a ready task first (or start it)."""
        options, profile, here = self.compass_options, view.profile, view.here
        row = profile.task_row[successor]
        runtime_s, model = profile.runtime_s[row], profile.row_model[row]
        [edge] = [edge for _, edge in profile.row_preds[row]]
        waits_s, free_bytes = view.queue_wait_s(), view.free_bytes()
        bits = (
            view.expected_bits()
            if options.telemetry.pending_loads
            else view.resident_bits()
        )
        best, best_score = -1, float("inf")
        for w in view.workers_for(successor):
            score = view.now_s + waits_s[w]
            moved_s = profile.transfer_s(edge, here, w)
            if options.adjust_transfer == "input":
                moved_s = min(moved_s, profile.input_transfer_s(row, here, w))
            score += moved_s
            if options.cache_term and model >= 0 and not bits[w] >> model & 1:
                score += fetch_s(
                    profile,
                    model,
                    w,
                    free_bytes=free_bytes[w],
                    penalty=options.eviction_penalty,
                )
            if options.pick == "finish":
                score += runtime_s[w]
            if score < best_score:
                best, best_score = w, score
        return best
