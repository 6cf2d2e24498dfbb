"""Random small instances that reach every rule a scheduler must heed."""

from __future__ import annotations

from hypothesis import strategies as st

from placement_lab import Instance, InstanceBuilder

TIMES = st.sampled_from([0.0, 0.1, 0.3, 1.0, 1.5, 2.0, 7.0])


@st.composite
def instances(draw: st.DrawFn, *, linked: bool | None = None) -> Instance:
    """Up to 4 workers, 3 models, 3 jobs of up to 5 tasks; some links may be missing.

    The first worker can run everything, so that there is always a schedule.
    """
    build = InstanceBuilder(
        loading=draw(st.sampled_from(["overlap", "blocking"])),
        prefetch=draw(st.sampled_from(["clairvoyant", "after_release", "on_demand"])),
        evict_bandwidth_bytes_per_s=draw(st.sampled_from([None, None, 5.0])),
    )
    models = [f"m{m}" for m in range(draw(st.integers(0, 3)))]
    for model in models:
        build.model(model, draw(st.integers(0, 6)), load_s=draw(TIMES))
    workers = [f"w{w}" for w in range(draw(st.integers(1, 4)))]
    is_linked = draw(st.booleans()) if linked is None else linked
    _add_workers(draw, build, workers, models)
    _add_links(draw, build, workers, is_linked=is_linked)
    _add_workflow(draw, build, workers, models)
    for j in range(draw(st.integers(0, 3))):
        build.job(
            f"j{j}",
            "flow",
            release_s=draw(st.sampled_from([0.0, 1.0, 4.0])),
            ingress=draw(st.sampled_from([None, "w0"])),
            weight=draw(st.sampled_from([1.0, 2.0])),
        )
    return build.build()


def _add_workers(
    draw: st.DrawFn, build: InstanceBuilder, workers: list[str], models: list[str]
) -> None:
    for worker in workers:
        resident = draw(st.permutations(models))
        build.worker(
            worker,
            draw(st.integers(12, 20)) if worker != "w0" else 20,
            slots=draw(st.sampled_from([1, 1, 1, 2, 3])),
            resident=tuple(resident[: draw(st.integers(0, min(2, len(models))))]),
        )


def _add_links(
    draw: st.DrawFn, build: InstanceBuilder, workers: list[str], *, is_linked: bool
) -> None:
    if is_linked:
        build.default_link(draw(st.sampled_from([1.0, 10.0])), draw(TIMES))
        return
    pairs = [(a, b) for b in workers for a in workers if a < b]
    if pairs:
        for a, b in draw(st.lists(st.sampled_from(pairs), unique=True)):
            build.link(a, b, draw(st.sampled_from([1.0, 10.0])))


def _add_workflow(
    draw: st.DrawFn, build: InstanceBuilder, workers: list[str], models: list[str]
) -> None:
    flow = build.workflow("flow")
    n = draw(st.integers(1, 5))
    for t in range(n):
        model = draw(st.sampled_from([None, *models]))
        hosts = draw(st.sets(st.sampled_from(workers[1:]))) if workers[1:] else set()
        flow.task(
            f"t{t}",
            {worker: draw(TIMES) for worker in ["w0", *sorted(hosts)]},
            model=model,
            memory_bytes=draw(st.sampled_from([0, 0, 1, 6])),
            release_s=draw(st.sampled_from([0.0, 0.0, 2.5])),
            input_bytes=draw(st.sampled_from([0.0, 5.0])),
        )
    # Some edges go against the declared order, so that no index order will do.
    ids = draw(st.permutations(range(n)))
    for b in range(n):
        for a in range(b):
            if draw(st.integers(0, 2)) == 0:
                own_s = draw(st.sampled_from([None, None, 0.0, 2.0]))
                size = draw(st.sampled_from([0.0, 3.0]))
                flow.edge(f"t{ids[a]}", f"t{ids[b]}", bytes=size, transfer_s=own_s)
