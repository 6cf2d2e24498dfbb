"""Every fault an instance can have: its place, its message, and nothing besides it."""

from __future__ import annotations

import pytest

from placement_lab.errors import ProblemError
from placement_lab.problem import Instance, Job, Model, Task, Worker, Workflow
from tests.problem.documents import del_, document, put

BAD_VALUES = [
    # The place, its value, and what is said about it.
    (
        "format",
        "placement",
        "must be 'placement-lab/instance', got 'placement' (string)",
    ),
    ("version", 2, "must be 1, got 2; this release reads no other"),
    ("version", True, "must be 1, got true (bool); this release reads no other"),
    ("name", 7, "must be a string, got 7"),
    ("rules", None, "must be an object, got null"),
    ("rules.loading", "eager", "must be 'overlap' or 'blocking', got 'eager' (string)"),
    (
        "rules.prefetch",
        None,
        "must be 'clairvoyant' or 'after_release' or 'on_demand', got null",
    ),
    (
        "rules.evict_bandwidth_bytes_per_s",
        0,
        "must be positive, got 0.0; leave it out if there is none",
    ),
    ("workers", {"id": "w"}, "must be a list, got {'id': 'w'} (object)"),
    ("workers[0]", "w0", "must be an object, got 'w0' (string)"),
    ("workers[0].id", 5, "must be a string, got 5"),
    ("workers[1].id", "", "must not be empty; give it a name"),
    (
        "workers[1].id",
        "w0",
        "duplicate worker id 'w0'; ids must be unique",
    ),
    (
        "models[1].id",
        "a/b",
        "must not contain '/', got 'a/b'; '/' separates job and task",
    ),
    ("models[1].id", "opt", "duplicate model id 'opt'; ids must be unique"),
    ("jobs[1].id", "j0", "duplicate job id 'j0'; ids must be unique"),
    (
        "workflows[0].tasks[1].id",
        "ask",
        "duplicate task id 'ask'; ids must be unique",
    ),
    ("jobs[1].id", "\ud800", "must be valid Unicode, got '\\ud800' (string)"),
    ("workers[0].kind", 3, "must be a string, got 3"),
    ("workers[0].memory_bytes", -1, "must be at least 0, got -1"),
    ("workers[0].memory_bytes", 0.5, "must be a whole number of bytes, got 0.5"),
    ("workers[0].memory_bytes", "14e9", "must be a number, got '14e9' (string)"),
    ("workers[0].memory_bytes", 2**54, f"must be at most 2**53 bytes, got {2**54}"),
    ("workers[0].slots", 0, "must be a whole number, 1 to 1000000, got 0"),
    ("workers[0].slots", 1.5, "must be a whole number, 1 to 1000000, got 1.5"),
    ("workers[0].slots", True, "must be a whole number, 1 to 1000000, got true (bool)"),
    ("workers[0].slots", 10**30, f"must be a whole number, 1 to 1000000, got {10**30}"),
    ("workers[0].resident", "opt", "must be a list, got 'opt' (string)"),
    (
        "workers[0].resident[0]",
        "gpt",
        "unknown model 'gpt' (string); there is 'opt', 'nli'",
    ),
    ("workers[0].resident[0]", [], "unknown model [] (list); there is 'opt', 'nli'"),
    ("workers[0].resident[1]", "opt", "duplicate resident model 'opt'"),
    (
        "workers[0].load_bandwidth_bytes_per_s",
        0,
        "must be positive, got 0.0; leave it out if there is none",
    ),
    ("workers[0].load_latency_s", None, "must be a number, got null"),
    ("default_link", 5, "must be an object, got 5"),
    (
        "default_link.bandwidth_bytes_per_s",
        0,
        "must be positive, got 0.0; leave it out if there is none",
    ),
    ("default_link.latency_s", float("nan"), "must be finite, got nan"),
    ("links", None, "must be a list, got null"),
    ("links[0].a", "w9", "unknown worker 'w9' (string); there is 'w0', 'w1'"),
    ("links[0].latency_s", -1, "must be at least 0, got -1.0"),
    ("models[0].size_bytes", 1e17, f"must be at most 2**53 bytes, got {10**17}"),
    ("models[0].load_s", "fast", "must be a number or null, got 'fast' (string)"),
    ("models[0].load_s.w1", float("inf"), "must be finite, got inf"),
    ("models[0].load_s.w1", None, "must be a number, got null"),
    ("workflows[0].tasks[0].runtime_s", None, "must be a number, got null"),
    ("workflows[0].tasks[0].runtime_s.T4", -2, "must be at least 0, got -2.0"),
    ("workflows[0].tasks[1].runtime_s", True, "must be a number, got true (bool)"),
    ("workflows[0].tasks[1].runtime_s", [1], "must be a number, got [1] (list)"),
    (
        "workflows[0].tasks[0].model",
        "gpt",
        "unknown model 'gpt' (string); there is 'opt', 'nli'",
    ),
    (
        "workflows[0].tasks[0].model",
        ["opt"],
        "unknown model ['opt'] (list); there is 'opt', 'nli'",
    ),
    ("workflows[0].tasks[0].input_bytes", "1", "must be a number, got '1' (string)"),
    ("workflows[0].tasks[0].input_transfer_s", -1, "must be at least 0, got -1.0"),
    ("workflows[0].tasks[0].release_s", 1e20, "must be at most 1e+16, got 1e+20"),
    (
        "workflows[0].tasks[0].memory_bytes",
        0.1,
        "must be a whole number of bytes, got 0.1",
    ),
    (
        "workflows[0].edges[0].src",
        "asc",
        "unknown task 'asc' (string); there is 'ask', 'check', 'merge'",
    ),
    (
        "workflows[0].edges[0].dst",
        {},
        "unknown task {} (object); there is 'ask', 'check', 'merge'",
    ),
    ("workflows[0].edges[0].bytes", -5, "must be at least 0, got -5.0"),
    (
        "workflows[0].edges[0].transfer_s",
        "1",
        "must be a number or null, got '1' (string)",
    ),
    ("jobs[0].workflow", "chat", "unknown workflow 'chat' (string); there is 'qa'"),
    ("jobs[0].ingress", "w7", "unknown worker 'w7' (string); there is 'w0', 'w1'"),
    ("jobs[0].ingress", {}, "unknown worker {} (object); there is 'w0', 'w1'"),
    (
        "jobs[0].release_s",
        10**400,
        "must be at most 1e+16, got " + "1" + 36 * "0" + "...",
    ),
    ("jobs[0].release_s", 10**5000, "must be at most 1e+16, got a int"),
    ("jobs[0].deadline_s", -1, "must be at least 0, got -1.0"),
    ("jobs[0].weight", -1, "must be at least 0, got -1.0"),
]


def faults_of(broken):
    with pytest.raises(ProblemError) as caught:
        Instance.from_dict(broken)
    return [(fault.path, fault.message) for fault in caught.value.faults]


def label(value):
    """Name a test; some values have no printable form."""
    return value if isinstance(value, str) and value.isprintable() else "value"


@pytest.mark.parametrize(("path", "value", "message"), BAD_VALUES, ids=label)
def test_a_bad_value_is_reported_at_its_place(path, value, message):
    broken = document()
    put(broken, path, value)
    assert (path, message) in faults_of(broken)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [case for case in BAD_VALUES if case[0].count(".") and not case[0].endswith("id")],
    ids=label,
)
def test_a_bad_value_is_reported_once_and_alone(path, value, message):
    broken = document()
    put(broken, path, value)
    assert faults_of(broken) == [(path, message)]


@pytest.mark.parametrize(
    "path",
    [
        "format",
        "version",
        "workers",
        "workers[1].memory_bytes",
        "default_link.bandwidth_bytes_per_s",
        "links[0].a",
        "models[0].size_bytes",
        "workflows[0].tasks",
        "workflows[0].tasks[1].runtime_s",
        "workflows[0].edges[0].dst",
        "jobs[0].workflow",
    ],
)
def test_a_missing_key_is_reported_by_its_name(path):
    broken = document()
    put(broken, path, del_)
    assert (path, "is missing; it has no default") in faults_of(broken)


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("job", "did you mean 'jobs'? "),
        ("rules.loadin", "did you mean 'loading'? "),
        ("workers[1].memory", "did you mean 'memory_bytes'? "),
        ("default_link.zzz", ""),
        ("workflows[0].name", ""),
        ("workflows[0].tasks[2].runtime", "did you mean 'runtime_s'? "),
        ("jobs[0].priority", ""),
    ],
)
def test_an_unknown_key_is_refused_with_a_hint(path, hint):
    broken = document()
    put(broken, path, 1)
    [(place, message)] = faults_of(broken)
    assert place == path
    assert message.startswith(f"unknown key; {hint}allowed are ")


def test_two_workflows_need_two_names():
    broken = document()
    put(broken, "workflows[1]", {"id": "qa", "tasks": [{"id": "t", "runtime_s": 1}]})
    message = "duplicate workflow id 'qa'; ids must be unique"
    assert faults_of(broken) == [("workflows[1].id", message)]


def test_a_key_with_line_breaks_stays_on_one_line():
    broken = document()
    broken["jobs"][0]["a\nb"] = 1
    [(place, _)] = faults_of(broken)
    assert place == "jobs[0].'a\\nb'"


def test_several_faults_come_out_together_and_in_document_order():
    broken = document()
    put(broken, "jobs[1].workflow", "chat")
    put(broken, "jobs[0].prio", 1)
    put(broken, "workflows[0].edges[1].bytes", -1)
    put(broken, "workflows[0].tasks[2].runtime_s", "1")
    put(broken, "workflows[0].tasks[0].colour", 1)
    put(broken, "models[1].size_bytes", del_)
    put(broken, "models[0].id", "a/b")
    put(broken, "workers[1].slots", 0)
    put(broken, "rules.prefetch", "never")
    put(broken, "version", 3)
    assert [path for path, _ in faults_of(broken)] == [
        "version",
        "rules.prefetch",
        "workers[0].resident[0]",  # for want of a model with that name
        "workers[1].slots",
        "models[0].id",
        "models[1].size_bytes",
        "workflows[0].tasks[0].colour",
        "workflows[0].tasks[0].model",
        "workflows[0].tasks[2].runtime_s",
        "workflows[0].edges[1].bytes",
        "jobs[0].prio",
        "jobs[1].workflow",
    ]


def test_what_is_inside_a_broken_object_is_not_reported_again():
    broken = document()
    put(broken, "workers[1]", None)
    put(broken, "links", [])
    assert faults_of(broken) == [("workers[1]", "must be an object, got null")]


# Graphs.


def chain(*arcs):
    names = dict.fromkeys(name for arc in arcs for name in arc)
    broken = document()
    broken["workflows"] = [
        {
            "id": "qa",
            "tasks": [{"id": name, "runtime_s": 1} for name in names],
            "edges": [{"src": src, "dst": dst} for src, dst in arcs],
        }
    ]
    return broken


@pytest.mark.parametrize(
    ("arcs", "cycle"),
    [
        (["aa"], "a -> a"),
        (["ab", "ba"], "a -> b -> a"),
        (["xa", "ab", "bc", "ca", "cy", "yz"], "a -> b -> c -> a"),
        (["ab", "bc", "cd", "db", "ae"], "b -> c -> d -> b"),
    ],
)
def test_a_cycle_is_reported_by_its_members_alone(arcs, cycle):
    message = f"workflow 'qa' has a cycle: {cycle}; remove one of these edges"
    assert faults_of(chain(*arcs)) == [("workflows[0].edges", message)]


def test_a_duplicate_edge_is_refused():
    [(path, message)] = faults_of(chain("ab", "bc", "ab"))
    assert path == "workflows[0].edges[2]"
    assert message.startswith("duplicate edge 'a' -> 'b'; give one edge")


def test_a_workflow_needs_a_task():
    broken = document()
    put(broken, "workflows[1]", {"id": "none", "tasks": []})
    message = "workflow 'none' has no tasks; add one or remove it"
    assert faults_of(broken) == [("workflows[1].tasks", message)]


def test_a_link_needs_two_ends_and_stands_once():
    broken = document()
    speed = {"bandwidth_bytes_per_s": 1}
    put(broken, "links[1]", {"a": "w0", "b": "w1", **speed})
    put(broken, "links[2]", {"a": "w0", "b": "w0", **speed})
    assert faults_of(broken) == [
        (
            "links[1]",
            "duplicate link of 'w0' and 'w1' (links are symmetric); remove one",
        ),
        ("links[2]", "links worker 'w0' to itself; remove it"),
    ]


# What fits where.


def small(**changes):
    parts = {
        "workers": (
            Worker("big", 10, "a", load_bandwidth_bytes_per_s=1),
            Worker("small", 4, "b", load_bandwidth_bytes_per_s=1),
        ),
        "models": (Model("m", 8),),
        "workflows": (Workflow("f", (Task("t", 1, "m"),)),),
        "jobs": (Job("j", "f"),),
    }
    return parts | changes


def faults_of_parts(**changes):
    with pytest.raises(ProblemError) as caught:
        Instance(**small(**changes))
    return [(fault.path, fault.message) for fault in caught.value.faults]


def test_the_small_instance_is_valid():
    assert Instance(**small()).n_tasks == 1


def test_a_model_that_fits_no_worker_is_refused():
    assert faults_of_parts(models=(Model("m", 11),)) == [
        (
            "models[0].size_bytes",
            (
                "model 'm' needs 11 bytes (11 B), the largest worker 'big' has 10 "
                "bytes (10 B); add a larger worker or use a smaller model"
            ),
        )
    ]


def test_a_model_that_fits_nowhere_but_is_not_used_is_none_of_our_business():
    assert Instance(**small(models=(Model("m", 8), Model("huge", 99)))).n_tasks == 1


def test_a_task_that_needs_more_than_any_worker_has_is_refused():
    flows = (Workflow("f", (Task("t", 1, "m", memory_bytes=3),)),)
    assert faults_of_parts(workflows=flows) == [
        (
            "workflows[0].tasks[0]",
            (
                "task 't' needs 11 bytes (11 B) (model 8 bytes (8 B) + own 3 bytes "
                "(3 B)), the largest worker that can run it, 'big', has 10 bytes "
                "(10 B); add a larger worker or use a smaller model"
            ),
        )
    ]


def test_a_task_whose_kind_of_worker_is_too_small_is_refused():
    flows = (Workflow("f", (Task("t", {"b": 1}, "m"),)),)
    [(path, message)] = faults_of_parts(workflows=flows)
    assert path == "workflows[0].tasks[0]"
    assert "the largest worker that can run it, 'small', has 4 bytes" in message


@pytest.mark.parametrize("runtimes_s", [{}, {"c": 1}])
def test_a_task_without_a_runtime_for_any_kind_is_refused(runtimes_s):
    flows = (Workflow("f", (Task("t", runtimes_s),)),)
    assert faults_of_parts(workflows=flows) == [
        (
            "workflows[0].tasks[0].runtime_s",
            (
                "task 't' has a runtime for none of the workers' kinds ['a', 'b']; "
                "add one of them"
            ),
        )
    ]


def test_a_task_needs_a_worker():
    assert faults_of_parts(workers=()) == [
        ("workflows[0].tasks[0]", "task 't' has no worker; add a worker")
    ]


def test_resident_models_must_fit_together():
    models = (Model("m", 8), Model("n", 3))
    workers = (Worker("big", 10, "a", resident=("m", "n")),)
    assert faults_of_parts(workers=workers, models=models) == [
        (
            "workers[0].resident",
            (
                "the models resident on worker 'big' need 11 bytes (11 B), its memory "
                "is 10 bytes (10 B); leave one out"
            ),
        )
    ]


def test_a_model_needs_a_load_time_where_a_task_could_run():
    workers = (Worker("big", 10, "a"), Worker("small", 4, "b"))
    message = (
        "model 'm' has no load time on worker 'big'; give load_s for its kind, or the "
        "worker's load_bandwidth_bytes_per_s"
    )
    missing = [("models[0].load_s", message)]
    assert faults_of_parts(workers=workers) == missing
    models = (Model("m", 8, {"b": 1}),)
    assert faults_of_parts(workers=workers, models=models) == missing
    # It does not fit the small worker, so that one needs no load time.
    models = (Model("m", 8, {"a": 1}),)
    assert Instance(**small(workers=workers, models=models)).n_tasks == 1


def test_weights_may_not_all_be_zero():
    message = "all weights are 0, so no objective is defined; make one positive"
    assert faults_of_parts(jobs=(Job("j", "f", weight=0),)) == [("jobs", message)]


# What is legal.


def test_zero_lengths_sizes_and_bytes_are_legal():
    changed = document()
    put(changed, "workers[1].memory_bytes", 0)
    put(changed, "models[1].size_bytes", 0)
    put(changed, "models[1].load_s", 0)
    put(changed, "workflows[0].edges[0].bytes", 0)
    assert Instance.from_dict(changed).warnings == ()


def test_very_long_and_very_short_times_may_meet():
    changed = document()
    put(changed, "workflows[0].tasks[0].runtime_s", 1e9)
    put(changed, "workflows[0].tasks[1].runtime_s", 1e-6)
    assert Instance.from_dict(changed).arrays.row_runtime_s[:2, 0].tolist() == [
        1e9,
        1e-6,
    ]


def test_what_has_no_effect_is_a_warning():
    changed = document()
    put(changed, "workflows[0].tasks[1].input_bytes", 5)
    put(changed, "workflows[0].tasks[2].runtime_s", {"T4": 1, "H100": 1, "w1": 1})
    put(changed, "models[2]", {"id": "idle", "size_bytes": 1})
    warnings = Instance.from_dict(changed).warnings
    assert [warning.path for warning in warnings] == [
        "workflows[0].tasks[1]",
        "workflows[0].tasks[2].runtime_s.H100",
        "models[2]",
    ]
    assert "has predecessors" in warnings[0].message
    assert "no worker is of kind 'H100'" in warnings[1].message
    assert "no task uses model 'idle'" in warnings[2].message
