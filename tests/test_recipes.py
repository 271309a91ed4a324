"""The recipes for CI in the README do what they say, with the installed command."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from servers import TOOLS, command, offering

README = (Path(__file__).parent.parent / "README.md").read_text()
(WORKFLOW,) = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
(SHELL,) = re.findall(r"```bash\n(.*?)```", README, re.DOTALL)
CHANGED = [{**TOOLS[0], "description": "New."}, TOOLS[1]]


@pytest.fixture
def run(tmp_path, thrall):
    """Run a recipe beside a catalog; installing is a program of that name that does nothing."""
    assert thrall("pin", "tools.json", "--", *command("good")).status == 0
    (tmp_path / "bin").mkdir()
    programs = {
        "pipx": '[ "$*" = "install thrall-py" ]',
        "thrall": f'exec "{sys.executable}" -m thrall_py "$@"',
    }
    for name, text in programs.items():
        path = tmp_path / "bin" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def run(script):
        path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
        package = str(Path(__file__).parent.parent)
        return subprocess.run(
            [shutil.which("bash"), "-e", "-c", script],
            env={**os.environ, "PATH": path, "PYTHONPATH": package},
            capture_output=True,
            text=True,
        )

    return run


def steps():
    return yaml.safe_load(WORKFLOW)["jobs"]["tools"]["steps"]


def test_the_workflow_is_one_that_github_could_read():
    read = yaml.safe_load(WORKFLOW)
    assert read["jobs"]["tools"]["runs-on"] == "ubuntu-latest"
    assert [list(step) for step in steps()] == [["uses"], ["uses"], ["run"], ["run"]]


def test_the_workflow_passes_without_drift_and_annotates_it(run):
    script = "\n".join(step["run"] for step in steps() if "run" in step)
    fine = run(script)
    assert (fine.returncode, fine.stdout) == (0, "")
    offering(tools=CHANGED)
    drifted = run(script)
    assert drifted.returncode == 1
    assert drifted.stdout.startswith("::error ")


def test_the_shell_recipe_tells_its_three_endings_apart(run):
    fine = run(SHELL)
    assert (fine.returncode, fine.stdout) == (0, "the servers offer what was pinned\n")
    assert "<testsuite" in Path("thrall.xml").read_text()
    offering(tools=CHANGED)
    drifted = run(SHELL)
    assert drifted.returncode == 1
    assert '+ "New."' in drifted.stdout
    offering(tools=[{}])
    broken = run(SHELL)
    assert broken.returncode == 4
    assert broken.stdout == "could not check: the servers, or the catalog, need a look\n"
    assert json.loads(Path("tools.json").read_text())["thrall"] == 1
