"""The files for CI systems, carried out step by step in a repository with a failing and a passing suite."""

import http.server
import json
import os
import re
import shlex
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.command_line import engine
from waza_engine import __version__
from waza_engine.scaffold.workflow import WORKFLOWS

pytestmark = pytest.mark.check

ROOT = Path(__file__).resolve().parents[1]
SUITE = """\
name: {name}
skill: demo
version: "1.0"
config:
  executor: mock
  model: mock
graders:
  - type: text
    name: says
    config:
      contains: ["{word}"]
tasks:
  - id: one
    inputs:
      prompt: Say hello
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose subfolder has two suites: the mock agent's answer fails one of them."""
    root = tmp_path / "my project"
    for name, word in (("failing", "no such word"), ("passing", "hello")):
        folder = root / "quality" / name
        folder.mkdir(parents=True)
        (folder / "eval.yaml").write_text(SUITE.format(name=name, word=word), "utf-8")
    subprocess.run(["git", "init", "-q", root], check=True)
    return root


@pytest.fixture
def comments() -> Generator[tuple[str, list[dict[str, Any]]]]:
    """The comments of a pull request, behind the address of an API."""
    kept: list[dict[str, Any]] = [{"id": 1, "body": "Looks good"}]

    class Api(http.server.BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or "{}")
            assert self.headers["Authorization"] == "Bearer secret"
            if self.command == "POST" and self.path == "/repos/o/r/issues/7/comments":
                kept.append({"id": len(kept) + 1, **body})
            elif self.command == "PATCH":
                (comment,) = (
                    each for each in kept if self.path == f"/repos/o/r/issues/comments/{each['id']}"
                )
                comment.update(body)
            else:
                assert self.path.startswith("/repos/o/r/issues/7/comments?")
            content = json.dumps(kept if self.command == "GET" else {}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = answer  # noqa: N815

        def log_message(self, *_: object) -> None:  # type: ignore[override]
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", kept
    server.shutdown()
    server.server_close()


def programs(folder: Path, *stubs: str) -> str:
    """Return a PATH with the programs of this environment; a stub only notes how it was called."""
    folder.mkdir(exist_ok=True)
    for name in stubs:
        (folder / name).write_text(f'#!/bin/sh\necho "{name} $*" >> "{folder}/calls"\n', "utf-8")
        (folder / name).chmod(0o755)
    return os.pathsep.join((str(folder), str(Path(sys.executable).parent), "/usr/bin", "/bin"))


def bash(script: str, cwd: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Carry out a script as GitHub does, with nothing of this environment."""
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, encoding="utf-8", check=False
    )


class Action:
    """Carries out the steps of `action.yml` that are commands; those of other actions are listed."""

    def __init__(self, repository: Path, temporary: Path, **environment: str) -> None:
        self.repository, self.temporary = repository, temporary
        self.definition = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
        self.environment = {
            "PATH": programs(temporary / "bin"),
            "HOME": str(temporary),
            "RUNNER_TEMP": str(temporary),
            "GITHUB_WORKSPACE": str(repository),
            "GITHUB_STEP_SUMMARY": str(temporary / "job-summary.md"),
            **environment,
        }
        self.outputs: dict[str, str] = {}

    def run(self, **inputs: str) -> tuple[int, str]:
        """Return the exit code of the job and its log."""
        defaults = {name: str(each["default"]) for name, each in self.definition["inputs"].items()}
        self.values = {f"inputs.{name}": value for name, value in {**defaults, **inputs}.items()}
        self.values |= {"github.action_path": str(ROOT), "github.token": "secret"}
        self.values["runner.temp"] = str(self.temporary)
        log, code, self.used = "", 0, dict[str, dict[str, str]]()
        for step in self.definition["runs"]["steps"]:
            condition = re.fullmatch(r"(inputs\.\w+) == '(\w+)'", step.get("if", ""))
            assert condition or "if" not in step
            if condition and self.values[condition[1]] != condition[2]:
                continue
            if "uses" in step:
                self.used[step["uses"]] = {key: self.filled(text) for key, text in step["with"].items()}
            elif step["name"] != "Install":
                finished = self.carried_out(step)
                log += finished.stdout + finished.stderr
                code = code or finished.returncode
        return code, log

    def carried_out(self, step: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        output = self.temporary / "output"
        output.write_text("", "utf-8")
        own = {name: self.filled(text) for name, text in step.get("env", {}).items()}
        folder = self.repository / self.filled(step.get("working-directory", "."))
        finished = bash(step["run"], folder, {**self.environment, **own, "GITHUB_OUTPUT": str(output)})
        for line in output.read_text("utf-8").splitlines():
            name, _, value = line.partition("=")
            self.values[f"steps.{step['id']}.outputs.{name}"] = value
        return finished

    def filled(self, text: str) -> str:
        """Return a string with its expressions replaced, those in their values too."""
        while found := re.search(r"\$\{\{ ([\w.-]+) \}\}", text):
            text = text.replace(found[0], self.values[found[1]])
        return text


def test_the_action_reports_and_then_fails(
    repository: Path, tmp_path: Path, comments: tuple[str, list[dict[str, Any]]]
) -> None:
    api, kept = comments
    event = tmp_path / "event.json"
    event.write_text('{"pull_request": {"number": 7}}', "utf-8")
    settings = {"GITHUB_API_URL": api, "GITHUB_REPOSITORY": "o/r", "GITHUB_EVENT_PATH": str(event)}
    action = Action(repository, tmp_path, **settings)

    code, log = action.run(**{"working-directory": "quality"})
    assert code == 1, log
    assert "file=quality/failing/eval.yaml" in log
    sarif = json.loads(Path(action.used["github/codeql-action/upload-sarif@v4"]["sarif_file"]).read_text())
    assert sarif["version"] == "2.1.0"
    suites = ET.parse(Path(action.used["actions/upload-artifact@v5"]["path"]) / "junit.xml").getroot()
    assert {suite.get("name") for suite in suites.iter("testsuite")} == {"failing", "passing"}
    summary = (tmp_path / "job-summary.md").read_text("utf-8")
    assert "failing" in summary
    assert len(kept) == 2
    assert kept[1]["body"].startswith("<!-- waza report: quality . -->\n")
    assert summary.strip() in kept[1]["body"]

    code, log = action.run(**{"working-directory": "quality", "path": "passing"})
    assert code == 0, log
    code, log = action.run(**{"working-directory": "quality"})
    assert [each["body"].splitlines()[0] for each in kept[1:]] == [
        "<!-- waza report: quality . -->",
        "<!-- waza report: quality passing -->",
    ]


def test_a_push_and_a_token_without_permission_fail_nothing(tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("x", "utf-8")
    (tmp_path / "event.json").write_text("{}", "utf-8")
    environment = {"PATH": programs(tmp_path / "bin"), "GITHUB_EVENT_PATH": str(tmp_path / "event.json")}
    command = f"python {shlex.quote(str(ROOT / 'ci' / 'comment.py'))} . report.md"
    finished = bash(command, tmp_path, environment)
    assert (finished.returncode, finished.stdout + finished.stderr) == (0, "")


@pytest.mark.parametrize("system", WORKFLOWS)
def test_a_new_workflow_checks_runs_and_reports(system: str, repository: Path, tmp_path: Path) -> None:
    made = engine("new", "workflow", system, "--json", cwd=repository / "quality")
    assert made.returncode == 0, made.stderr
    (path,) = json.loads(made.stdout)["files"]
    assert Path(path) == repository / WORKFLOWS[system][0]
    assert engine("new", "workflow", system, cwd=repository).returncode == 2  # never overwritten
    workflow = yaml.safe_load(Path(path).read_text("utf-8"))
    if system == "github":
        (job,) = workflow["jobs"].values()
        assert job["steps"][0]["with"] == {"fetch-depth": 0}
        assert job["steps"][1]["uses"] == f"waza-evals/waza-language-server@v{__version__}"
        return
    steps = workflow["waza"]["script"] if system == "gitlab" else workflow["steps"]
    scripts = [step if isinstance(step, str) else step.get("script", "") for step in steps]
    environment = {"PATH": programs(tmp_path / "bin"), "HOME": str(tmp_path)}
    install, check, run = filter(None, scripts)
    assert install.endswith(f"pip install waza-language-server=={__version__}")
    assert bash(check, repository, environment).returncode == 0
    assert bash(run, repository, environment).returncode == 1
    assert ET.parse(repository / "waza-junit.xml").getroot().findall(".//failure")
    if system == "gitlab":
        for report in workflow["waza"]["artifacts"]["reports"].values():
            assert (repository / report).stat().st_size > 0


def test_the_hooks_check_everything_whatever_is_committed(repository: Path, tmp_path: Path) -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    broken = repository / "quality" / "failing" / "eval.yaml"
    broken.write_text(broken.read_text("utf-8").replace("contains:", "contain:"), "utf-8")
    environment = {"PATH": programs(tmp_path / "bin"), "HOME": str(tmp_path)}
    for hook, code in zip(hooks, (1, 0), strict=True):
        assert hook["pass_filenames"] is False
        assert hook["language"] == "python"
        assert re.search(hook["files"], "quality/failing/eval.yaml")
        finished = bash(hook["entry"], repository, environment)
        assert finished.returncode == code, finished.stdout


def test_the_image_is_built_by_its_steps(tmp_path: Path) -> None:
    """In a bare root: system programs are stubs, and pip takes the dependencies of this environment."""
    stubs = programs(tmp_path / "bin", "apt-get", "rm", "useradd")
    site = Path(tmp_path / "site")
    environment = {"PATH": stubs, "HOME": str(tmp_path), "PIP_TARGET": str(site), "PIP_NO_INDEX": "1"}
    environment |= {"PIP_NO_DEPS": "1", "PIP_CONFIG_FILE": os.devnull}
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    instructions = [line.split(" ", 1) for line in lines if line and not line.startswith("#")]
    folder, user, entry = tmp_path, "root", list[str]()
    for name, value in instructions:
        if name == "WORKDIR":
            folder = tmp_path / value.removeprefix("/")
            folder.mkdir(exist_ok=True)
        elif name == "COPY" and not value.startswith("--from"):
            *sources, _ = value.split()
            subprocess.run(["cp", "-r", *(ROOT / each for each in sources), folder], check=True)
        elif name == "RUN":
            script = re.sub(r"(?<=\s)/(wheels|var)\b", lambda found: f"{tmp_path}/{found[1]}", value)
            if " wheel " in script:
                script = script.replace(" wheel ", " wheel --no-build-isolation ", 1)
                finished = bash(script, folder, {**environment, "PIP_TARGET": ""})
            else:
                finished = bash(script, folder, environment)
            assert finished.returncode == 0, (value, finished.stderr)
        elif name == "USER":
            user = value
        elif name == "ENTRYPOINT":
            entry = json.loads(value)
    assert user == "1000"
    assert "useradd" in (tmp_path / "bin" / "calls").read_text("utf-8")
    module = {"waza-engine": "waza_engine"}[entry[0]]
    started = bash(f"python -m {module} --version", folder, {**environment, "PYTHONPATH": str(site)})
    assert __version__ in started.stdout
    assert (site / "waza_language_server" / "docs" / "graders.md").exists()
