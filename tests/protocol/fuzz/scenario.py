"""What happens in a session: a seed makes the client, the files and everything that is done with them."""

import random
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from tests.protocol.fuzz import disk, edits, messages
from tests.protocol.fuzz.findings import Settings, Step
from tests.protocol.fuzz.session import Session
from tests.shared_corpus import suite_files

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
LONGEST_SEED_CHARACTERS = 8_000
MOST_DOCUMENTS = 6
RUNNABLE = "runnable/eval.yaml"
_RUNNABLE = {
    RUNNABLE: "name: r\nskill: r\nconfig: {executor: mock, model: m}\ntasks: [tasks/*.yaml]\n"
    "graders:\n  - type: text\n    name: speaks\n    config: {contains: [hello]}\n",
    "runnable/tasks/one.yaml": "id: one\nname: One\ninputs: {prompt: Say hello}\n",
}
SMALL = (
    """\
name: s
skill: x
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks: ['tasks/*.yaml']
graders:
  - type: text
    name: greets
    config:
      containz: [hello]
""",
    "id: one\nname: One\ninputs:\n  prompt: Say hello\nexpected:\n  graders: [greets, none]\n",
    "skill: x\nshould_trigger_prompts:\n  - prompt: a\nshould_not_trigger_prompts: []\n",
    "name: u\r\nskill: x\r\ntasks: ['tasks/*.yaml']\r\ngraders:\r\n  - type: txt\r\n    name: \U0001f600\r\n",
    "name: s\nskill: x\ntasks: []\ngraders:\n"
    '  - {type: text, name: "\U0001f600 \u00e9", containz: 1, config: {contains: ["\U0001f468"], typo: 2}}\n'
    "  - {type: code, name: n, config: {assertions: ['\"\U0001f600\" in output', 'len(outputt) > 3']}}\n",
    "name: c\rskill: x\rtasks: []\rgraders:\r  - type: code\r",
    "a: &a [x, *a]\nb: {<<: *a}\n",
    "",
)
SKILLS = (
    "---\nname: greets\ndescripton: \U0001f600 greets\nallowed-tools: [Read]\n---\n\n# How\nname: [text\n",
    "---\nname: Greets\nlicense: MIT\n\n# How\n",
)
"""Texts of ``SKILL.md`` files."""


@cache
def seed_texts() -> tuple[str, ...]:
    """Return texts to begin with: the examples, the sample suites when they are there, and small ones."""
    paths = [*sorted(EXAMPLES.rglob("*.yaml")), *suite_files()]
    texts = [path.read_text("utf-8", "replace") for path in paths]
    return (*SMALL, *(text for text in texts if len(text) <= LONGEST_SEED_CHARACTERS))


def settings_of(seed: int) -> Settings:
    """Return the client of a seed."""
    return replace(messages.capabilities(random.Random(f"client {seed}")), seed=seed)


def scenario(session: Session, count: int) -> Generator[Step]:
    """Yield steps with about ``count`` messages. They depend on the seed and on what the server answers."""
    return _Scenario(session).steps(count)


class _Scenario:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._chance = random.Random(f"steps {session.settings.seed}")
        # A few texts a session: what is pasted and opened again resembles what was there.
        self._texts = self._chance.sample(seed_texts(), 6) + list(SMALL)
        self._suites = [f"w{number}" for number in range(self._chance.randint(1, 3))]
        self._id = 0
        self._version = 0
        self._activities: list[Callable[[], Generator[Step]]] = [
            *(self._edit,) * 10,
            *(self._ask,) * 10,
            *(self._open_or_close,) * 3,
            *(self._type,) * 2,
            *(self._disk,) * 3,
            *(self._command,) * 3,
            *(self._environment,) * 2,
            self._accept,
            self._fix,
            self._compare,
        ]

    def steps(self, count: int) -> Generator[Step]:
        yield from self._files()
        yield from self._introduction()
        while self._session.messages < count:
            yield from self._chance.choice(self._activities)()
            if self._chance.random() < 0.5:
                yield {"do": "wait"}
            if self._chance.random() < 0.002:
                yield from self._run()
        yield {"do": "wait"}
        yield {"do": "settle"}
        yield {"do": "fresh", "positions": self._positions()}
        yield {"do": "leave", "hasty": self._chance.random() < 0.5}

    # The start.

    def _files(self) -> Generator[Step]:
        for suite in self._suites:
            for path in (
                "eval.yaml",
                "tasks/one.yaml",
                "tasks/two.yml",
                "trigger_tests.yaml",
                "fixtures/a.txt",
            ):
                text = self._chance.choice(self._texts)
                yield {"do": "disk", "operation": "write", "path": f"{suite}/{path}", "text": text}
        secret = f"id: {disk.SECRET}\nname: {disk.SECRET}\ninputs: {{prompt: {disk.SECRET}}}\n"
        outside = {f"{disk.OUTSIDE}/task.yaml": secret, f"{disk.OUTSIDE}/{disk.SECRET}.txt": secret}
        for path, text in (_RUNNABLE | outside).items():
            yield {"do": "disk", "operation": "write", "path": path, "text": text}

    def _introduction(self) -> Generator[Step]:
        settings = self._session.settings
        folders = self._suites[: self._chance.randint(0, len(self._suites))]
        params: dict[str, Any] = {
            "processId": None,
            "rootUri": None,
            "capabilities": settings.capabilities,
            "initializationOptions": {"trusted": settings.trusted},
            "workspaceFolders": [{"uri": f"file://$ROOT/{name}", "name": name} for name in folders],
        }
        yield messages.request("hello", "initialize", params)
        yield {"do": "wait"}
        yield messages.notification("initialized", {})
        for _ in range(2):
            yield from self._open(f"file://$ROOT/{self._chance.choice(self._suites)}/eval.yaml")

    # What is done; each of these yields a few steps.

    def _edit(self) -> Generator[Step]:
        for uri in self._some_open():
            yield self._changed(uri)

    def _ask(self) -> Generator[Step]:
        if self._chance.random() < 0.1:
            step = messages.workspace_request(self._chance, self._next_id(), self._uris())
            if self._session.settings.pulls or not step["message"]["method"].endswith("diagnostic"):
                yield step
        for _ in range(self._chance.randint(1, 6)):
            uri = self._chance.choice(self._uris())
            opened = self._session.documents.get(uri)
            text = opened.text if opened else None
            step = messages.feature_request(self._chance, self._next_id(), uri, text)
            if step["message"]["method"].endswith("diagnostic") and not self._session.settings.pulls:
                continue
            yield step
            if self._chance.random() < 0.05:
                yield messages.notification("$/cancelRequest", {"id": step["message"]["id"]})

    def _open_or_close(self) -> Generator[Step]:
        opened = list(self._session.documents)
        if opened and (len(opened) >= MOST_DOCUMENTS or self._chance.random() < 0.4):
            uri = self._chance.choice(opened)
            yield messages.notification("textDocument/didClose", {"textDocument": {"uri": uri}})
        elif self._chance.random() < 0.1:
            yield from self._open(self._chance.choice(messages.ODD_URIS))
        else:
            yield from self._open(self._file_uri())

    def _type(self) -> Generator[Step]:
        for uri in self._some_open():
            text = self._session.documents[uri].text
            start, line = self._chance.choice(text.lines)
            letters = self._chance.choice((edits.GRADER, *edits.WORDS))
            for change in edits.typed(text, start + len(line), letters):
                yield self._change(uri, [change])
                if self._chance.random() < 0.3 and (opened := self._session.documents.get(uri)):
                    place = {**change["range"]["start"]}
                    place["character"] += opened.text.width(change["text"]) if change["text"] != "\n" else 0
                    at = {"textDocument": {"uri": uri}, "position": place}
                    yield messages.request(self._next_id(), "textDocument/completion", at)

    def _disk(self) -> Generator[Step]:
        operation = disk.random_operation(self._chance, self._suites, self._texts)
        yield operation
        uri = _uri(operation["path"])
        if self._chance.random() < 0.3:
            yield messages.file_operation(self._chance, uri)
        elif self._chance.random() < 0.7:
            change = {"uri": uri, "type": self._chance.choice([1, 2, 3])}
            yield messages.notification("workspace/didChangeWatchedFiles", {"changes": [change]})

    def _command(self) -> Generator[Step]:
        yield messages.command(self._chance, self._next_id())

    def _environment(self) -> Generator[Step]:
        kind = self._chance.randrange(4)
        if kind == 0:
            settings = self._chance.choice(
                [None, {}, {"waza": None}, {"waza": {"interpreter": 5}}, {"waza": []}]
            )
            yield messages.notification("workspace/didChangeConfiguration", {"settings": settings})
        elif kind == 1:
            name = self._chance.choice(self._suites)
            folder = {"uri": f"file://$ROOT/{name}", "name": name}
            known = folder["uri"] in [each["uri"] for each in self._session.folders]
            event = {"added": [] if known else [folder], "removed": [folder] if known else []}
            yield messages.notification("workspace/didChangeWorkspaceFolders", {"event": event})
        elif kind == 2:
            token = self._chance.choice([1, "x", "waza-run-1"])
            yield messages.notification("window/workDoneProgress/cancel", {"token": token})
        else:
            yield from self._save()

    def _save(self) -> Generator[Step]:
        for uri in self._some_open():
            document = {"textDocument": {"uri": uri}}
            yield messages.notification("textDocument/willSave", {**document, "reason": 1})
            if uri.startswith("file://$ROOT/w"):
                path = unquote(uri.removeprefix("file://$ROOT/"), errors="surrogateescape")
                text = self._session.documents[uri].text.content
                yield {"do": "disk", "operation": "write", "path": path, "text": text}
            yield messages.notification("textDocument/didSave", document)

    def _accept(self) -> Generator[Step]:
        for uri in self._some_open():
            position = messages.random_position(self._chance, self._session.documents[uri].text)
            pick = self._chance.randrange(100)
            yield {
                "do": "accept",
                "uri": uri,
                "position": position,
                "pick": pick,
                "version": self._next_version(),
            }

    def _fix(self) -> Generator[Step]:
        for uri in self._some_open():
            step: Step = {"do": "fix", "uri": uri, "pick": self._chance.randrange(100)}
            if self._chance.random() < 0.2:
                step["only"] = ["source.fixAll"]
            yield {**step, "version": self._next_version()}

    def _compare(self) -> Generator[Step]:
        if self._chance.random() < (0.5 if self._session.settings.pulls else 0.1):
            for uri in self._some_open():
                yield {
                    "do": "compare",
                    "uri": uri,
                    "positions": self._positions(),
                    "version": self._next_version(),
                }

    def _run(self) -> Generator[Step]:
        if not self._session.settings.trusted:
            return
        target = {"suite": f"$ROOT/{RUNNABLE}", "task": self._chance.choice([None, "one", "two"])}
        identifier = self._next_id()
        params = {"command": "waza.run", "arguments": [target]}
        yield messages.request(identifier, "workspace/executeCommand", params, "any", patient=True)
        if self._chance.random() < 0.5:
            yield messages.notification("$/cancelRequest", {"id": identifier})

    # What these are made of.

    def _open(self, uri: str) -> Generator[Step]:
        is_skill = uri.endswith("/SKILL.md") and self._chance.random() < 0.8
        item = {
            "uri": uri,
            "languageId": self._chance.choice(["yaml", "yaml", "yaml", "plaintext", "yml"]),
            "version": self._next_version(),
            "text": self._chance.choice(SKILLS if is_skill else self._texts),
        }
        yield messages.notification("textDocument/didOpen", {"textDocument": item})

    def _changed(self, uri: str) -> Step:
        opened = self._session.documents[uri]
        return self._change(
            uri, edits.random_changes(self._chance, opened.text, self._texts, tuple(opened.past))
        )

    def _change(self, uri: str, changes: list[dict[str, Any]]) -> Step:
        identifier = {"uri": uri, "version": self._next_version()}
        return messages.notification(
            "textDocument/didChange", {"textDocument": identifier, "contentChanges": changes}
        )

    def _file_uri(self) -> str:
        uri = _uri(disk.random_path(self._chance, self._suites))
        if self._chance.random() < 0.05:
            uri = uri.replace("eval.yaml", "%65val.yaml")
        return uri

    def _uris(self) -> list[str]:
        opened = list(self._session.documents)
        return opened * 4 + [self._file_uri(), self._chance.choice(messages.ODD_URIS)]

    def _some_open(self) -> list[str]:
        opened = list(self._session.documents)
        return [self._chance.choice(opened)] if opened else []

    def _positions(self) -> list[dict[str, int]]:
        return [
            {"line": self._chance.randrange(40), "character": self._chance.choice([0, 2, 4, 8, 16, 99])}
            for _ in range(4)
        ]

    def _next_id(self) -> int | str:
        self._id += 1
        return self._id if self._id % 3 else f"id-{self._id}"

    def _next_version(self) -> int:
        self._version += 1
        return self._version


def _uri(path: str) -> str:
    return f"file://$ROOT/{quote(path.encode('utf-8', 'surrogateescape'), safe='/')}"
