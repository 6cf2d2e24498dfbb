"""The Compass profiles and delays against the values stated for them."""

from __future__ import annotations

import pytest

from placement_lab.datasets.compass import (
    COMPASS_WORKFLOWS,
    H2G_BANDWIDTH_BYTES_PER_S,
    c2c_s,
    compass_models,
    compass_workers,
    compass_workflow,
    g2g_s,
    h2g_s,
)
from placement_lab.problem import Instance, Job

KB, MS = 1000, 1e-3


@pytest.mark.parametrize(
    ("delay_s", "size_kb", "expected_ms"),
    [
        (c2c_s, 0.5, 0.002),
        (c2c_s, 1, 0.002191),
        (c2c_s, 2, 0.002272),
        (c2c_s, 20, 0.003589),
        (c2c_s, 3000, 0.240418),
        (h2g_s, 3000, 0.294950),
        (g2g_s, 2, 0.002666),
        (g2g_s, 20, 0.007522),
        (g2g_s, 3000, 0.830317),
    ],
)
def test_a_delay_has_its_check_value(delay_s, size_kb, expected_ms):
    assert delay_s(size_kb * KB) / MS == pytest.approx(expected_ms, abs=5e-7)


def test_loads_take_what_the_bandwidth_of_the_host_link_gives():
    for model in compass_models():
        assert model.load_s == pytest.approx(
            model.size_bytes / H2G_BANDWIDTH_BYTES_PER_S, rel=1e-14
        )


@pytest.mark.parametrize(
    ("index", "work_ms", "critical_path_ms"),
    [(0, 2584, 1365), (1, 587, 587), (2, 385.2, 359.2), (3, 429.6, 282.6)],
)
def test_a_profile_has_the_stated_work_and_critical_path(
    index, work_ms, critical_path_ms
):
    profile = COMPASS_WORKFLOWS[index]
    finish_s: list[float] = []
    for i, stage in enumerate(profile.stages):
        ready_s = max(
            (finish_s[src] for src, dst in profile.arcs if dst == i), default=0
        )
        finish_s.append(ready_s + stage.runtime_s)
    assert sum(stage.runtime_s for stage in profile.stages) / MS == pytest.approx(
        work_ms
    )
    assert max(finish_s) / MS == pytest.approx(critical_path_ms)


@pytest.mark.parametrize(
    ("shared", "total_kb"), [(True, 20_760_000), (False, 28_620_000)]
)
def test_the_working_set_depends_on_whether_workflows_share_models(shared, total_kb):
    models = compass_models(shared=shared)
    assert sum(model.size_bytes for model in models) == total_kb * KB


@pytest.mark.parametrize(
    ("name", "fetch_ms"),
    [("opt", 562.37), ("marian", 78.65), ("txt2speech", 265.45), ("depth", 383.43)],
)
def test_a_model_loads_in_the_stated_time(name, fetch_ms):
    [model] = [one for one in compass_models() if one.id == name]
    assert model.load_s / MS == pytest.approx(fetch_ms, abs=0.006)


def test_the_entry_is_ready_one_hop_after_creation_and_another_one_elsewhere():
    flow = compass_workflow(COMPASS_WORKFLOWS[2])
    hop_s = c2c_s(3000 * KB)
    assert flow.tasks[0].release_s == hop_s
    assert flow.tasks[0].input_transfer_s == hop_s
    central = compass_workflow(COMPASS_WORKFLOWS[2], central=True)
    assert central.tasks[0].release_s == 2 * hop_s
    assert central.tasks[0].input_transfer_s is None


def test_an_edge_takes_what_its_producer_sends():
    flow = compass_workflow(COMPASS_WORKFLOWS[2])
    assert {(edge.src, edge.dst): edge.transfer_s for edge in flow.edges} == {
        ("vit", "nli"): g2g_s(20 * KB),
        ("vit", "txt2speech"): g2g_s(20 * KB),
        ("nli", "aggregate"): g2g_s(10 * KB),
        ("txt2speech", "aggregate"): g2g_s(3000 * KB),
    }


def test_a_part_of_a_workflow_keeps_the_edges_inside_it():
    flow = compass_workflow(COMPASS_WORKFLOWS[0], stages=[0, 2, 1])
    assert flow.id == "translation-012"
    assert [task.id for task in flow.tasks] == ["opt", "marian", "mt5_a"]
    assert [(edge.src, edge.dst) for edge in flow.edges] == [
        ("opt", "marian"),
        ("opt", "mt5_a"),
    ]


def test_all_four_workflows_make_a_valid_instance_without_warnings():
    flows = tuple(compass_workflow(profile) for profile in COMPASS_WORKFLOWS)
    instance = Instance(
        workers=compass_workers(2, {"w1": ("opt", "nli")}),
        models=compass_models(),
        workflows=flows,
        jobs=tuple(Job(flow.id, flow.id, ingress="w0") for flow in flows),
    )
    assert instance.n_tasks == 15
    assert instance.warnings == ()
    assert instance.workers[1].resident == ("opt", "nli")
