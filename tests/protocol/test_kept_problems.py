"""A file that is opened again shows at once what was found out about it, if that still holds."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.protocol.raw_client import PATIENCE_SECONDS, RawClient
from tests.server.kept.suites import EVAL, make, shown_in_steps
from waza_engine.steps import finished
from waza_language_server.kept import code, noting, store
from waza_language_server.kept.conditions import Conditions
from waza_language_server.kept.digests import digest
from waza_language_server.project.uris import uri_of
from waza_language_server.protocol.services import kept_problems
from waza_language_server.protocol.services.session import Session

pytestmark = pytest.mark.check

PUSHED = "textDocument/publishDiagnostics"
PULLS = {
    "textDocument": {"diagnostic": {}, "publishDiagnostics": {"versionSupport": True}},
    "workspace": {"diagnostics": {"refreshSupport": True}},
}
PUSHES = {"textDocument": {"publishDiagnostics": {"versionSupport": True}}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "work")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@contextmanager
def server(root: Path, cache: Path | str, capabilities: Any = PUSHES, **more: Any) -> Generator[RawClient]:
    """A server with a folder open, which has to end in peace and without a complaint."""
    environment = {**os.environ, "WAZA_PROBLEMS_CACHE": str(cache), **more.pop("environment", {})}
    with RawClient(environment=environment, loaded=True) as client:
        client.initialize(root, capabilities=capabilities, **more)
        yield client
        client.ask("shutdown")
        client.send("exit")
        assert client.process.wait(PATIENCE_SECONDS) == 0
    assert client.log == ""


def opened(client: RawClient, path: Path) -> Any:
    """Open a file and return the first that is said of it."""
    client.open(path)
    return pushed(client, path)["diagnostics"]


def pushed(client: RawClient, path: Path) -> Any:
    while True:
        message = client.next()
        if message.get("method") == PUSHED and message["params"]["uri"] == uri_of(path):
            return message["params"]


def kept_files(cache: Path) -> list[Path]:
    return sorted(cache.glob("*.problems"))


def wait_for(what: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def keep(root: Path, cache: Path, path: Path, capabilities: Any = PUSHES, **more: Any) -> Any:
    """Open a file until its problems are kept; return them."""
    before = len(kept_files(cache))
    with server(root, cache, capabilities, **more) as client:
        if capabilities is PUSHES:
            shown = opened(client, path)
        else:
            client.open(path)
            shown = pulled(client, path)["items"]
        wait_for(lambda: len(kept_files(cache)) > before)
    return shown


def pulled(client: RawClient, path: Path) -> Any:
    return client.ask("textDocument/diagnostic", {"textDocument": {"uri": uri_of(path)}})["result"]


def rewrite(file: Path, change: Callable[[Any], None]) -> None:
    """Change what was kept as if the server had written it so."""
    content = json.loads(file.read_bytes().partition(b"\n")[2])
    change(content)
    data = json.dumps(content).encode()
    file.write_bytes(digest(data).encode() + b"\n" + data)


def say_otherwise(content: Any) -> None:
    content["diagnostics"][0]["message"] = "as it was kept"


def test_what_is_known_is_shown_before_the_file_is_judged_and_put_right_after_it(
    root: Path, cache: Path
) -> None:
    path = root / "evals/one/eval.yaml"
    found = keep(root, cache, path)
    assert {problem["code"] for problem in found} >= {"missing-program", "no-matching-tasks"}
    [file] = kept_files(cache)
    rewrite(file, say_otherwise)
    with server(root, cache) as client:
        assert opened(client, path)[0]["message"] == "as it was kept"
        assert pushed(client, path)["diagnostics"] == found


def test_what_is_right_is_not_told_twice(root: Path, cache: Path) -> None:
    path = root / "evals/one/eval.yaml"
    found = keep(root, cache, path)
    with server(root, cache) as client:
        assert opened(client, path) == found
        line = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
        # Judged when this is answered, and all that is said of it was said before.
        params = {**document(path), "range": line, "context": {"diagnostics": []}}
        client.ask("textDocument/codeAction", params)
        changed = {"range": line, "text": "# A comment.\n"}
        versioned = {"uri": uri_of(path), "version": 2}
        client.send("textDocument/didChange", {"textDocument": versioned, "contentChanges": [changed]})
        assert pushed(client, path)["version"] == 2


def test_a_client_that_asks_is_answered_with_what_is_known_and_told_when_it_was_wrong(
    root: Path, cache: Path
) -> None:
    path = root / "evals/one/eval.yaml"
    found = keep(root, cache, path, PULLS)
    rewrite(kept_files(cache)[0], say_otherwise)
    with server(root, cache, PULLS) as client:
        client.open(path)
        assert pulled(client, path)["items"][0]["message"] == "as it was kept"
        while (message := client.next()).get("method") != "workspace/diagnostic/refresh":
            pass
        client.write(answer_to(message))
        assert pulled(client, path)["items"] == found


def test_a_client_that_asks_again_hears_that_what_was_known_still_holds(root: Path, cache: Path) -> None:
    path = root / "evals/one/eval.yaml"
    keep(root, cache, path, PULLS)
    with server(root, cache, PULLS) as client:
        client.open(path)
        known = pulled(client, path)
        client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri_of(path)}})
        again = {"textDocument": {"uri": uri_of(path)}, "previousResultId": known["resultId"]}
        expected = {"kind": "unchanged", "resultId": known["resultId"]}
        assert client.ask("textDocument/diagnostic", again)["result"] == expected


def test_a_file_that_is_closed_right_away_leaves_nothing_behind(root: Path, cache: Path) -> None:
    path = root / "evals/one/eval.yaml"
    keep(root, cache, path)
    with server(root, cache) as client:
        client.open(path)
        client.send("textDocument/didClose", document(path))
        assert pushed(client, path)["diagnostics"]
        assert pushed(client, path)["diagnostics"] == []


def change_fixture(root: Path) -> None:
    (root / "evals/one/fixtures/missing.txt").write_text("there now")


def change_skill(root: Path) -> None:
    (root / "skills/explainer/SKILL.md").write_text("---\nname: another\ndescription: Other.\n---\n")


def change_suite(root: Path) -> None:
    (root / "evals/one/eval.yaml").write_text(EVAL.replace("greets", "welcomes"))


@pytest.mark.parametrize("change", [change_fixture, change_skill, change_suite])
@pytest.mark.parametrize("name", ["evals/one/eval.yaml", "evals/one/tasks/second.yaml"])
def test_what_has_changed_meanwhile_is_judged_first(
    root: Path, cache: Path, change: Callable[[Path], None], name: str
) -> None:
    keep(root, cache, root / name)
    change(root)
    with server(root, "off") as client:
        expected = opened(client, root / name)
    with server(root, cache) as client:
        assert opened(client, root / name) == expected


def test_other_settings_and_other_programs_count(root: Path, cache: Path) -> None:
    path = root / "evals/one/eval.yaml"
    found = keep(root, cache, path)
    milder = {"severity": {"missing-program": "hint"}}
    with server(root, cache, initializationOptions=milder) as client:
        assert opened(client, path) != found
    programs = root.parent / "bin"
    programs.mkdir()
    (programs / "judge-of-this-test").write_text("#!/bin/sh\n")
    (programs / "judge-of-this-test").chmod(0o755)
    more = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    with server(root, cache, environment=more) as client:
        assert "missing-program" not in {problem["code"] for problem in opened(client, path)}


def test_what_another_open_file_says_unsaved_counts(root: Path, cache: Path) -> None:
    suite, task = root / "evals/one/eval.yaml", root / "evals/one/tasks/first.yaml"
    found = keep(root, cache, task)
    with server(root, cache) as client:
        unsaved = {"uri": uri_of(suite), "languageId": "yaml", "version": 1}
        text = EVAL.replace("greets", "welcomes")
        client.send("textDocument/didOpen", {"textDocument": {**unsaved, "text": text}})
        said = opened(client, task)
    assert "unknown-grader-name" in {problem["code"] for problem in said}
    assert said != found


def test_nothing_is_kept_of_a_text_that_is_not_saved(root: Path, cache: Path) -> None:
    suite, task = root / "evals/one/eval.yaml", root / "evals/one/tasks/first.yaml"
    with server(root, cache) as client:
        unsaved = {"uri": uri_of(suite), "languageId": "yaml", "version": 1, "text": EVAL + "# more\n"}
        client.send("textDocument/didOpen", {"textDocument": unsaved})
        pushed(client, suite)
        # What is saved is kept, and that comes after the other.
        opened(client, task)
        wait_for(lambda: kept_files(cache))
    assert [json.loads(file.read_bytes().partition(b"\n")[2])["known"][1] for file in kept_files(cache)] == [
        uri_of(task)
    ]


def test_it_is_nobody_else_s_to_read(root: Path, cache: Path) -> None:
    keep(root, cache, root / "evals/one/eval.yaml")
    [file] = kept_files(cache)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-20])


def garble(file: Path) -> None:
    file.write_bytes(b"\x00\xff" * 100)


def make_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def open_to_all(file: Path) -> None:
    rewrite(file, say_otherwise)
    file.chmod(0o666)


def leave_out(file: Path) -> None:
    rewrite(file, lambda content: content.pop("conditions"))


@pytest.mark.parametrize("damage", [cut, garble, make_pipe, open_to_all, leave_out])
def test_what_cannot_be_trusted_is_as_good_as_nothing(
    root: Path, cache: Path, damage: Callable[[Path], None]
) -> None:
    path = root / "evals/one/eval.yaml"
    found = keep(root, cache, path)
    damage(kept_files(cache)[0])
    with server(root, cache) as client:
        assert opened(client, path) == found


@pytest.mark.parametrize("place", ["/dev/null/problems", "relative/problems"])
def test_where_nothing_can_be_kept_nothing_else_suffers(root: Path, place: str) -> None:
    path = root / "evals/one/eval.yaml"
    with server(root, place) as client:
        found = opened(client, path)
        client.ask("textDocument/codeLens", document(path))
    assert found
    assert not (root / "relative").exists()


def test_a_user_without_a_home_has_no_cache(root: Path) -> None:
    environment = {"HOME": "nowhere", "XDG_CACHE_HOME": "", "LOCALAPPDATA": ""}
    with server(root, "", environment=environment) as client:
        assert opened(client, root / "evals/one/eval.yaml")


def document(path: Path) -> dict[str, Any]:
    return {"textDocument": {"uri": uri_of(path)}}


def answer_to(message: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": None}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def always(answer: bool) -> Callable[[object], bool]:
    def answered(_question: object) -> bool:
        return answer

    return answered


class Keeping:
    """What keeps problems needs of a server with one document open; ``asked_again`` are the tries."""

    def __init__(self, root: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(kept_problems, "AGAIN_AFTER_SECONDS", 0)
        self.session = Session([root], "utf-16")
        self.text = path.read_text("utf-8")
        self.uri = uri_of(path)
        self.session.open(self.uri, "yaml", 1, self.text)
        self.asked_again: list[int] = []
        ls: Any = SimpleNamespace(
            abilities=SimpleNamespace(pulls_diagnostics=False),
            loaded_session=self.session,
            session=self.session,
            workspace=SimpleNamespace(folders={}),
            server_capabilities=SimpleNamespace(position_encoding="utf-16"),
            options=SimpleNamespace(severity=None),
            started_ns=time.time_ns() + 3_600 * 10**9,
            wire_diagnostics=shown_in_steps,
            keep_problems=self._asked,
        )
        self.new = partial(kept_problems.KeptProblems, ls)
        self.problems = self.new()

    def _asked(self, _uri: str, tries: int) -> None:
        self.asked_again.append(tries)

    async def keep(self, tries: int) -> list[int]:
        """Try to keep the problems and return which try is to follow."""
        finished(self.problems.keep_in_steps(self.uri, tries))
        await asyncio.sleep(0.01)
        return self.asked_again


@pytest.fixture
def keeping(root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Keeping:
    monkeypatch.setenv(store.VARIABLE, str(cache))
    monkeypatch.setattr(noting, "is_settled", always(True))
    return Keeping(root, root / "evals/one/eval.yaml", monkeypatch)


async def test_what_changes_while_it_is_kept_is_kept_later(
    keeping: Keeping, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Conditions, "hold", always(False))
    assert await keeping.keep(0) == [1]
    monkeypatch.undo()
    assert not kept_files(cache)


async def test_each_time_a_document_is_opened_or_saved_it_is_tried_as_often(
    keeping: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(noting, "is_settled", always(False))
    for _ in range(kept_problems.MOST_TRIES + 1):
        await keeping.keep(0)
    assert await keeping.keep(kept_problems.MOST_TRIES) == [1] * (kept_problems.MOST_TRIES + 1)


async def test_a_document_is_opened_while_the_server_is_being_replaced(
    keeping: Keeping, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await keeping.keep(0) == []
    wait_for(lambda: kept_files(cache))
    assert keeping.new().take(keeping.uri, 1, keeping.text) is not None
    monkeypatch.setattr(code, "_PACKAGES", (SimpleNamespace(__file__="/gone/__init__.py"),))
    assert keeping.new().take(keeping.uri, 1, keeping.text) is None
    assert await keeping.keep(0) == []
