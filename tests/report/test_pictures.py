"""Gantt charts and gap curves draw what is there, on the axes they are given."""

from __future__ import annotations

import subprocess
import sys

import pytest
from matplotlib.figure import Figure

import placement_lab as pl
from placement_lab.report import plot_gantt, plot_gap
from placement_lab.report.pictures import gantt_png, gap_png, write_gantt
from placement_lab.solvers import Result, TracePoint

PNG = b"\x89PNG\r\n\x1a\n"


def chain(n_jobs: int, n_workers: int = 2) -> tuple[pl.Instance, pl.Schedule]:
    build = pl.InstanceBuilder("chain")
    for i in range(n_workers):
        build.worker(f"w{i}", memory_bytes=10, load_bandwidth_bytes_per_s=10)
    build.model("m", size_bytes=5)
    build.default_link(1e9)
    flow = build.workflow("f")
    flow.task("a", runtime_s=1.0, model="m")
    flow.task("b", runtime_s=0.5)
    flow.edge("a", "b")
    for j in range(n_jobs):
        build.job(f"j{j}", "f", release_s=float(j))
    instance = build.build()
    order = {
        f"w{i}": [f"j{j}/{t}" for j in range(i, n_jobs, n_workers) for t in "ab"]
        for i in range(n_workers)
    }
    return instance, pl.replay(instance, pl.complete(instance, order))


def result(**changes) -> Result:
    fields = {
        "status": "feasible",
        "objective": 3.0,
        "objective_name": "latency",
        "bound": 2.0,
        "gap": 1 / 3,
        "bound_source": "test",
        "rounding_slack_s": 0.0,
        "tick_s": 0.0,
        "seconds": 4.0,
        "deterministic": False,
        "seed": 0,
        "schedule": None,
        "trace": (TracePoint(1.0, 5.0, None), TracePoint(2.0, 3.0, 2.0)),
    }
    return Result(**(fields | changes))


def legend_of(axes) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_a_gantt_chart_has_a_lane_per_worker_and_time_in_seconds():
    instance, schedule = chain(4)
    axes = plot_gantt(schedule, instance=instance, ax=Figure().add_subplot())
    assert [label.get_text() for label in axes.get_yticklabels()] == ["w0", "w1"]
    assert axes.get_xlabel() == "time (s)"
    assert axes.get_xlim()[1] >= schedule.makespan_s
    assert "makespan" in axes.get_title(loc="left")


def test_every_run_is_a_bar():
    instance, schedule = chain(4)
    axes = plot_gantt(schedule, instance=instance, ax=Figure().add_subplot())
    assert len(axes.collections[0].get_paths()) == len(schedule.runs)


def test_the_legend_names_models_tasks_without_one_and_releases():
    instance, schedule = chain(2)
    axes = plot_gantt(schedule, instance=instance, ax=Figure().add_subplot())
    assert legend_of(axes) == ["m", "no model", "loading", "job release"]


def test_without_an_instance_the_legend_names_tasks():
    _, schedule = chain(2)
    axes = plot_gantt(schedule, ax=Figure().add_subplot())
    assert legend_of(axes) == ["a", "b", "m", "loading"]


def test_bars_with_room_name_their_job_and_crowded_charts_have_no_labels():
    instance, schedule = chain(3)
    axes = plot_gantt(schedule, instance=instance, ax=Figure((11, 3)).add_subplot())
    assert {text.get_text() for text in axes.texts} == {"j0", "j1", "j2"}
    instance, schedule = chain(300)
    axes = plot_gantt(schedule, instance=instance, ax=Figure((11, 3)).add_subplot())
    assert not axes.texts


@pytest.mark.parametrize("n_workers", [1, 40])
def test_an_empty_schedule_is_an_empty_chart(n_workers):
    instance, schedule = chain(0, n_workers)
    assert gantt_png(schedule, instance).startswith(PNG)
    assert gantt_png(pl.Schedule()).startswith(PNG)


def test_a_picture_file_is_whole(tmp_path):
    instance, schedule = chain(2)
    write_gantt(tmp_path / "chart.png", schedule, instance)
    assert (tmp_path / "chart.png").read_bytes() == gantt_png(schedule, instance)


def test_the_gap_curve_holds_the_last_values_until_the_end():
    axes = plot_gap(result(), ax=Figure().add_subplot())
    incumbent, bound = axes.get_lines()
    assert incumbent.get_xydata().tolist() == [[1.0, 5.0], [2.0, 3.0], [4.0, 3.0]]
    assert bound.get_xydata().tolist() == [[2.0, 2.0], [4.0, 2.0]]
    assert axes.get_ylabel() == "latency (s)"


def test_the_gap_curve_of_plain_numbers_has_no_unit():
    axes = plot_gap(result(objective_name="late"), ax=Figure().add_subplot())
    assert axes.get_ylabel() == "late"


def test_the_gap_curve_without_trace_shows_what_is_known():
    assert gap_png(result(trace=())).startswith(PNG)
    nothing = result(trace=(), objective=None, bound=None, gap=None, seconds=0.0)
    assert gap_png(nothing).startswith(PNG)


def test_files_are_drawn_without_pyplot_so_the_backend_stays(tmp_path):
    probe = (
        "import sys, placement_lab as pl\n"
        "from placement_lab.report.pictures import gantt_png\n"
        "gantt_png(pl.Schedule())\n"
        "print('matplotlib.pyplot' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.strip() == "False"


def test_without_axes_a_pyplot_figure_is_made():
    from matplotlib import pyplot as plt

    plt.switch_backend("agg")
    _, schedule = chain(2)
    axes = plot_gantt(schedule)
    assert axes.get_figure() in map(plt.figure, plt.get_fignums())
    plt.close("all")
