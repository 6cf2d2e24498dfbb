"""What leaves the repository: the wheel holds every part, and stands on its own."""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "requirements" / "constraints.txt"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]
# Import name of each top folder -> the folder, the deepest names first.
FOLDERS = {
    name: ROOT / folder
    for name, folder in sorted(SETUPTOOLS["package-dir"].items(), reverse=True)
}
LEFTOVERS = ("__pycache__", ".ipynb_checkpoints")


def run(*command: object, cwd: Path, **env: str) -> str:
    """Run a command to its end and return what it printed; fail with all of it."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=1200,
    )
    assert done.returncode == 0, f"{command[0]} failed:\n{done.stdout}"
    return done.stdout


def sources() -> dict[str, Path]:
    """Return every source file, by the path that it must have in the wheel."""
    return {
        f"{name.replace('.', '/')}/{path.relative_to(folder).as_posix()}": path
        for name, folder in FOLDERS.items()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not any(part in LEFTOVERS for part in path.parts)
        and not path.name.startswith(".")
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Build the wheel from a clean copy, so that no earlier build leaks into it."""
    work = tmp_path_factory.mktemp("wheel")
    source = work / "source"
    source.mkdir()
    ignore = shutil.ignore_patterns(*LEFTOVERS)
    for folder in FOLDERS.values():
        shutil.copytree(folder, source / folder.name, ignore=ignore)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, source)
    run(
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"),
        *("--no-build-isolation", "--wheel-dir", work, source),
        cwd=work,
    )
    (built,) = work.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def contents(wheel) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory) -> Path:
    """Return a folder that holds what the wheel installs."""
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_every_package_is_listed():
    found = {
        ".".join((name, *path.parent.relative_to(folder).parts))
        for name, folder in FOLDERS.items()
        for path in folder.rglob("__init__.py")
    }
    assert sorted(found) == sorted(SETUPTOOLS["packages"])


def test_every_source_file_is_in_the_wheel(contents):
    assert sorted(set(sources()) - contents) == []


def test_nothing_else_is_in_the_wheel(contents):
    metadata = {name for name in contents if ".dist-info/" in name}
    assert sorted(contents - metadata - set(sources())) == []


def test_the_wheel_brings_one_top_level_name(contents):
    tops = {name.partition("/")[0] for name in contents if ".dist-info/" not in name}
    assert tops == {"placement_lab"}


def test_the_wheel_says_that_it_is_typed(contents):
    assert "placement_lab/py.typed" in contents


def test_the_wheel_carries_its_licence(contents):
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in contents)


def test_the_wheel_registers_what_pyproject_names(wheel):
    parser = configparser.ConfigParser(delimiters=("=",))
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("/entry_points.txt"))
        parser.read_string(archive.read(name).decode())
    project = PROJECT["project"]
    expected = {"console_scripts": project["scripts"], **project["entry-points"]}
    assert {group: dict(parser[group]) for group in parser.sections()} == expected


def test_registered_modules_exist(contents):
    project = PROJECT["project"]
    groups = (project["scripts"], *project["entry-points"].values())
    targets = {
        target.partition(":")[0] for group in groups for target in group.values()
    }
    missing = [
        target
        for target in sorted(targets)
        if not {f"{(path := target.replace('.', '/'))}.py", f"{path}/__init__.py"}
        & contents
    ]
    assert missing == []


def test_imports_only_go_down(unpacked, tmp_path):
    config = ROOT / "pyproject.toml"
    command = "from importlinter.cli import lint_imports_command as c; c()"
    run(
        *(sys.executable, "-c", command, "--no-cache", "--no-logo", config),
        cwd=tmp_path,
        PYTHONPATH=str(unpacked),
    )


@pytest.fixture(scope="module")
def empty_environment(wheel, tmp_path_factory) -> Path:
    """Install the wheel into an environment that holds nothing else of ours."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", folder, cwd=folder)
    install = ("-m", "pip", "install", "--quiet", "--constraint", CONSTRAINTS)
    run(folder / "bin" / "python", *install, wheel, cwd=folder)
    return folder


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(empty_environment, tmp_path):
    printed = run(
        empty_environment / "bin" / "python",
        *("-c", "import placement_lab; print(placement_lab.__file__)"),
        cwd=tmp_path,
    )
    assert str(empty_environment) in printed
    run(
        *(empty_environment / "bin" / "placement-lab", "compare"),
        *("--time-limit", 5, "--out", tmp_path / "report"),
        cwd=tmp_path,
    )


@pytest.mark.slow
def test_models_import_beside_numpy_and_safetensors_alone(wheel, tmp_path):
    python = tmp_path / "environment" / "bin" / "python"
    run(sys.executable, "-m", "venv", tmp_path / "environment", cwd=tmp_path)
    install = ("-m", "pip", "install", "--quiet", "--constraint", CONSTRAINTS)
    run(python, *install, "numpy", "safetensors", cwd=tmp_path)
    run(python, *install, "--no-deps", wheel, cwd=tmp_path)
    run(python, "-c", "import placement_lab.models", cwd=tmp_path)
