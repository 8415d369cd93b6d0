"""The files that workers without a checkout get: those of the suite, and no others."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("distributed")

from tests.engine.suites import task, write_suite
from waza_engine.cluster.bundle import Bundle, make_bundle, settings_on_worker
from waza_engine.masking import read_environment
from waza_engine.runs.agent.agent_skills import suite_skills
from waza_engine.runs.agent.setup import AgentSetup
from waza_engine.runs.loading.suite_on_disk import SuiteError, load_suite
from waza_engine.runs.settings.options import explicit_settings, with_options
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.selection import select
from waza_engine.spec.project_config import ProjectConfig

CHECK = "- {type: program, name: checks, config: {command: python3, args: [../tools/check.py]}}\n"


class FakeContext:
    """As much of the context of a run as a bundle needs."""

    def __init__(self, settings: RunSettings) -> None:
        self.settings = settings
        self.suite = with_options(
            load_suite(settings.path, explicit_settings(settings)), settings, ProjectConfig()
        )
        self.agent = AgentSetup(self.suite, "", suite_skills(self.suite))
        self.tasks, _ = select(self.suite, (), ())


def bundle_of(path: Path, most: int = 2**20, **settings: Path) -> Bundle:
    context = FakeContext(RunSettings(path, **settings))  # type: ignore[arg-type]
    return make_bundle(context.tasks, context, most)  # type: ignore[arg-type]


def names(bundle: Bundle) -> list[str]:
    return [*json.loads(bundle.manifest)["files"]]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite in a repository, which names files next to it; with ignored files and credentials."""
    root = tmp_path / "repository"
    files = {
        ".gitignore": "/evals/build/\n*.log\n",
        "tools/check.py": "print('{}')\n",
        "tools/helper.py": "",
        "tools/unrelated.txt": "x",
        "skills/mine/SKILL.md": "---\nname: writer\ndescription: d\n---\nDo it.\n",
        ".waza.yaml": "defaults: {workers: 2}\n",
        "README.md": "not of the suite",
        "evals/fixtures/a.txt": "fixture",
        "evals/build/large.bin": "ignored",
        "evals/run.log": "ignored",
        "evals/.env": "API_KEY=abcdefghijkl\n",
        "evals/.env.example": "API_KEY=\n",
        "evals/deploy.pem": "-----BEGIN",
        "evals/.waza/results/x.json": "{}",
        "evals/node_modules/x/index.js": "",
    }
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    config = "config: {trials_per_task: 1, executor: mock, skill_directories: [../skills]}\n"
    return write_suite(root / "evals", {"a": task("a"), "b": task("b")}, graders=CHECK, config=config)


def test_a_bundle_has_the_files_of_the_suite_and_those_that_it_names(suite: Path) -> None:
    assert names(bundle_of(suite)) == [
        ".waza.yaml",
        "evals/.env.example",
        "evals/eval.yaml",
        "evals/fixtures/a.txt",
        "evals/tasks/a.yaml",
        "evals/tasks/b.yaml",
        "skills/mine/SKILL.md",
        "tools/check.py",
        "tools/helper.py",
    ]


def test_files_with_credentials_stay_and_are_named(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "tok-0123456789abcdef")
    read_environment()
    (suite.parent / "notes.txt").write_text("use tok-0123456789abcdef")
    bundle = bundle_of(suite)
    assert bundle.warning == (
        "`evals/.env`, `evals/deploy.pem`, `evals/notes.txt` may hold credentials, "
        "so workers without a checkout do not get them."
    )
    assert b"abcdefghijkl" not in bundle.content
    suite.write_text(suite.read_text() + "# tok-0123456789abcdef\n")
    with pytest.raises(SuiteError, match=r"eval.yaml may hold a credential"):
        bundle_of(suite)
    monkeypatch.delenv("SERVICE_TOKEN")
    read_environment()


def test_the_name_of_a_bundle_depends_on_its_content_alone(suite: Path, tmp_path: Path) -> None:
    first = bundle_of(suite)
    os.utime(suite, (1, 1))
    assert bundle_of(suite) == first
    (suite.parent / "fixtures" / "a.txt").write_text("another")
    assert bundle_of(suite).digest != first.digest


def test_a_suite_that_is_too_large_is_refused_with_its_largest_file(suite: Path) -> None:
    (suite.parent / "fixtures" / "film.mp4").write_bytes(bytes(3 * 2**20))
    (suite.parent / "fixtures" / "film2.mp4").write_bytes(bytes(2 * 2**20))
    with pytest.raises(SuiteError, match=r"more than 4 MiB, too much .*film.mp4 \(3 MiB\)"):
        bundle_of(suite, most=4 * 2**20)
    with pytest.raises(SuiteError, match=r"more than 1 MiB, too much .*film.mp4 \(3 MiB\)"):
        bundle_of(suite)


def on_worker(settings: RunSettings, bundle: Bundle, cache: Path, fetched: list[int]) -> RunSettings:
    def fetch() -> bytes:
        fetched.append(1)
        return bundle.content

    return settings_on_worker(settings, bundle.manifest, fetch, cache)


def digests(settings: RunSettings) -> Sequence[str]:
    suite = load_suite(settings.path, explicit_settings(settings))
    return [suite.digest_of(each) for each in suite.tasks]


def test_a_worker_that_sees_the_suite_uses_it(suite: Path, tmp_path: Path) -> None:
    fetched: list[int] = []
    settings = RunSettings(suite)
    assert on_worker(settings, bundle_of(suite), tmp_path / "cache", fetched) == settings
    assert not fetched


def test_another_worker_gets_it_once_and_loads_the_same(suite: Path, tmp_path: Path) -> None:
    bundle, settings = bundle_of(suite), RunSettings(suite, context_directory=suite.parent / "fixtures")
    before, fetched = digests(settings), list[int]()
    shutil.move(tmp_path / "repository", tmp_path / "elsewhere")
    there = on_worker(settings, bundle, tmp_path / "cache", fetched)
    assert there.path != settings.path
    assert digests(there) == before
    context = FakeContext(there)
    assert [skill.name for skill in context.agent.skills.skills] == ["writer"]
    assert there.context_directory == there.path.parent / "fixtures"
    assert on_worker(settings, bundle, tmp_path / "cache", fetched) == there
    # Another checkout of the same files has the same store.
    shutil.copytree(tmp_path / "elsewhere", tmp_path / "third")
    third = bundle_of(tmp_path / "third" / "evals" / "eval.yaml")
    shutil.rmtree(tmp_path / "third")
    other = RunSettings(tmp_path / "third" / "evals" / "eval.yaml")
    assert on_worker(other, third, tmp_path / "cache", fetched).path == there.path
    assert len(fetched) == 1
    # A grader may have written next to itself.
    (there.path.parent.parent / "tools" / "check.py").write_text("changed")
    assert on_worker(settings, bundle, tmp_path / "cache", fetched) == there
    assert (there.path.parent.parent / "tools" / "check.py").read_text() == "print('{}')\n"


def test_a_checkout_with_other_content_is_not_used(suite: Path, tmp_path: Path) -> None:
    bundle, settings = bundle_of(suite), RunSettings(suite)
    (suite.parent / "tasks" / "a.yaml").write_text(task("a", prompt="another"))
    there = on_worker(settings, bundle, tmp_path / "cache", [])
    assert "another" not in (there.path.parent / "tasks" / "a.yaml").read_text()


def test_a_bundle_that_is_damaged_is_not_used(suite: Path, tmp_path: Path) -> None:
    bundle, settings = bundle_of(suite), RunSettings(suite)
    (suite.parent / "fixtures" / "a.txt").write_text("another")
    damaged = bundle_of(suite)
    (suite.parent / "fixtures" / "a.txt").unlink()
    with pytest.raises(SuiteError, match=r"are damaged: `evals/fixtures/a.txt` differs"):
        settings_on_worker(settings, bundle.manifest, lambda: damaged.content, tmp_path / "cache")


WITHOUT_HOME = """
import sys
from pathlib import Path
from waza_engine.cluster.bundle import _folder_of
folder = _folder_of("digest", Path(sys.argv[1]))
assert folder.is_dir()
print(folder)
"""


def test_a_worker_without_a_home_removes_its_bundle_at_its_end(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    command = [sys.executable, "-c", WITHOUT_HOME, tmp_path / "file" / "bundles"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert Path(found).name.startswith("waza-")
    assert not Path(found).exists()


def test_programs_stay_programs(suite: Path, tmp_path: Path) -> None:
    (suite.parent / "fixtures" / "a.txt").chmod(0o755)
    bundle = bundle_of(suite)
    suite.unlink()
    there = on_worker(RunSettings(suite), bundle, tmp_path / "cache", [])
    assert os.access(there.path.parent / "fixtures" / "a.txt", os.X_OK)
    assert not os.access(there.path, os.X_OK)


def test_a_folder_of_fixtures_elsewhere_is_refused(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(SuiteError, match="is not below"):
        bundle_of(suite, context_directory=tmp_path / "elsewhere")
