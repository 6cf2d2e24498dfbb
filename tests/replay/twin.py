"""A slow, readable replay, written from the rules alone, to compare the real one with.

At each moment it asks of every worker whether the next action of a lane may start. The
moments are all times at which anything could change. No arrays, no lanes as pointers.
"""

from dataclasses import dataclass, field

EPS = 1e-12


@dataclass
class Doing:
    """An action of a worker's sequence, with its times once it has started."""

    worker: object
    position: int
    kind: str
    target: str
    start_s: float | None = None
    end_s: float | None = None
    users: list = field(default_factory=list)
    stay: object = None


def replay_slowly(instance, plan):
    """Return {(worker, position): (start, end)}, or None if the plan gets stuck."""
    twin = Twin(instance, plan)
    return twin.run()


class Twin:
    def __init__(self, instance, plan):
        self.instance, self.rules = instance, instance.rules
        self.sequences = {
            worker.id: [
                Doing(worker, i, kind, target)
                for i, (kind, target) in enumerate(plan.workers.get(worker.id, ()))
            ]
            for worker in instance.workers
        }
        self.jobs = {job.id: job for job in instance.jobs}
        self.run_of = {
            doing.target: doing
            for sequence in self.sequences.values()
            for doing in sequence
            if doing.kind == "run"
        }
        for worker in instance.workers:
            self.follow(worker, self.sequences[worker.id])

    def task(self, name):
        job_id, task_id = name.split("/")
        job = self.jobs[job_id]
        flow = self.instance.workflow(job.workflow)
        return job, flow, next(task for task in flow.tasks if task.id == task_id)

    def follow(self, worker, sequence):
        here = {
            name: Doing(worker, -1, "load", name, 0.0, 0.0) for name in worker.resident
        }
        for doing in sequence:
            if doing.kind == "load":
                here[doing.target] = doing
            elif doing.kind == "evict":
                doing.stay = here.pop(doing.target)
            else:
                model = self.task(doing.target)[2].model
                if model is not None:
                    doing.stay = here[model]
                    here[model].users.append(doing)

    def arrival_s(self, name):
        """Return when all inputs of a task are there; None if not known yet."""
        job, flow, task = self.task(name)
        worker = self.run_of[name].worker
        times = [job.release_s + task.release_s]
        edges = [edge for edge in flow.edges if edge.dst == task.id]
        if not edges:
            times[0] += self.instance.input_transfer_s(task, job, worker)
        for edge in edges:
            before = self.run_of[f"{job.id}/{edge.src}"]
            if before.end_s is None:
                return None
            delay_s = self.instance.transfer_s(edge, before.worker, worker)
            times.append(before.end_s + delay_s)
        return max(times)

    def length_s(self, doing):
        if doing.kind == "run":
            return self.instance.runtime_s(self.task(doing.target)[2], doing.worker)
        model = self.instance.model(doing.target)
        if doing.kind == "load":
            return self.instance.load_s(model, doing.worker)
        return self.instance.evict_s(model)

    def gate_s(self, doing):
        """Return the earliest start by rule R6; None if not known yet."""
        if doing.kind == "evict":
            if self.rules.prefetch != "on_demand":
                return 0.0
            later = self.sequences[doing.worker.id][doing.position + 1 :]
            taker = next((one for one in later if self.takes_memory(one)), None)
            if taker is None:
                return 0.0
            is_load = taker.kind == "load"
            return self.gate_s(taker) if is_load else self.arrival_s(taker.target)
        if self.rules.prefetch == "clairvoyant":
            return 0.0
        if self.rules.prefetch == "on_demand":
            return self.arrival_s(doing.users[0].target)
        return min(self.task(user.target)[0].release_s for user in doing.users)

    def takes_memory(self, doing):
        return doing.kind == "load" or (
            doing.kind == "run" and self.own_bytes(doing) > 0
        )

    def run(self):
        everything = [one for sequence in self.sequences.values() for one in sequence]
        now_s = 0.0
        while any(one.start_s is None for one in everything):
            while self.start_something(now_s):
                pass
            coming = [t for t in self.moments(everything) if t > now_s]
            if not coming:
                break
            now_s = min(coming)
        if any(one.start_s is None for one in everything):
            return None
        return {
            (one.worker.id, one.position): (one.start_s, one.end_s)
            for one in everything
        }

    def moments(self, everything):
        for one in everything:
            if one.end_s is not None:
                yield one.end_s
            elif one.kind == "run":
                arrival_s = self.arrival_s(one.target)
                if arrival_s is not None:
                    yield arrival_s
            else:
                gate_s = self.gate_s(one)
                if gate_s is not None:
                    yield gate_s

    def start_something(self, now_s):
        for sequence in self.sequences.values():
            for doing in sequence:
                if doing.start_s is None and self.may_start(doing, sequence, now_s):
                    doing.start_s = now_s
                    doing.end_s = now_s + self.length_s(doing)
                    return True
        return False

    def may_start(self, doing, sequence, now_s):
        before = sequence[: doing.position]
        blocking = self.rules.loading == "blocking"
        is_run = doing.kind == "run"
        lane = [one for one in before if blocking or (one.kind == "run") == is_run]
        if any(one.start_s is None for one in lane):
            return False
        going = [one for one in sequence if one.end_s is not None and one.end_s > now_s]
        moves = [one for one in going if one.kind != "run"]
        holders = going if blocking else [one for one in going if one.kind == "run"]
        if (is_run or blocking) and len(holders) >= doing.worker.slots:
            return False
        if is_run:
            return self.run_may_start(doing, sequence, now_s)
        return self.move_may_start(doing, sequence, moves, now_s)

    def move_may_start(self, doing, sequence, moves, now_s):
        gate_s = self.gate_s(doing)
        if gate_s is None or gate_s > now_s:
            return False
        takes_engine = doing.kind == "load" or self.length_s(doing) > 0
        if moves and takes_engine:
            return False
        if doing.kind == "load":
            return self.has_room(doing, sequence, now_s)
        return self.evict_may_start(doing, now_s)

    def evict_may_start(self, doing, now_s):
        stay = doing.stay
        loaded = stay.end_s is not None and stay.end_s <= now_s
        return loaded and all(
            user.end_s is not None and user.end_s <= now_s for user in stay.users
        )

    def run_may_start(self, doing, sequence, now_s):
        arrival_s = self.arrival_s(doing.target)
        if arrival_s is None or arrival_s > now_s:
            return False
        stay = doing.stay
        if stay is not None and (stay.end_s is None or stay.end_s > now_s):
            return False
        own = self.task(doing.target)[2].memory_bytes
        used = self.used_bytes(doing.worker, sequence, now_s)
        return own == 0 or used + own <= doing.worker.memory_bytes

    def own_bytes(self, doing):
        return self.task(doing.target)[2].memory_bytes

    def used_bytes(self, worker, sequence, now_s):
        size = {model.id: model.size_bytes for model in self.instance.models}
        total = sum(size[name] for name in worker.resident)
        for one in sequence:
            started = one.start_s is not None
            ended = one.end_s is not None and one.end_s <= now_s
            if one.kind == "load" and started:
                total += size[one.target]
            elif one.kind == "evict" and ended:
                total -= size[one.target]
            elif one.kind == "run" and started and not ended:
                total += self.own_bytes(one)
        return total

    def has_room(self, doing, sequence, now_s):
        """Leave room for the earlier runs that are going or have still to start."""
        size = {model.id: model.size_bytes for model in self.instance.models}
        static = sum(size[name] for name in doing.worker.resident) + size[doing.target]
        earlier = []
        for one in sequence[: doing.position]:
            if one.kind == "load":
                static += size[one.target]
            elif one.kind == "evict":
                static -= size[one.target]
            elif one.end_s is None or one.end_s > now_s:
                earlier.append(self.own_bytes(one))
        for one in sequence[doing.position :]:
            going = one.end_s is not None and one.end_s > now_s
            if one.kind == "run" and going:
                earlier.append(self.own_bytes(one))
        reserve = sum(sorted(earlier)[-doing.worker.slots :])
        used = self.used_bytes(doing.worker, sequence, now_s)
        memory = doing.worker.memory_bytes
        return static + reserve <= memory and used + size[doing.target] <= memory
