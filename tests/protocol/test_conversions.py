"""Code actions that convert an eval file: the losses are shown first, and no file is replaced."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.protocol.editor import editing
from tests.protocol.raw_client import RawClient
from waza_language_server.project.uris import uri_of

pytestmark = pytest.mark.check

STIMULI = """\
name: greetings
stimuli:
  - name: greets
    prompt: Greet me.
    graders:
      - {type: output-contains, name: hello, config: {substring: hello}}
      - {type: step-count, name: steps, config: {max: 3}}
"""
SUITE = """\
name: tea
skill: tea
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock}
tasks:
  - id: one
    inputs: {prompt: Brew.}
    graders: [{type: text, name: hot, config: {contains: [hot]}}]
"""
QUERIES = [{"query": "Brew.", "should_trigger": True}]
EVALS = {"skill_name": "tea", "evals": [{"id": 1, "prompt": "Brew.", "assertions": ["It is hot."]}]}


INDENTED = json.dumps(EVALS, indent=1)
LITERALS = {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["refactor"]}}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that is open in the client."""
    return tmp_path_factory.mktemp("workspace")


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[RawClient]:
    with RawClient() as client:
        client.initialize(folder, capabilities={"textDocument": {"codeAction": LITERALS}})
        yield client


def conversions(client: RawClient, path: Path, line: int) -> dict[str, Any]:
    """Return the commands of the conversions at a line, by their titles."""
    at = {"line": line, "character": 0}
    asked = {
        "textDocument": {"uri": uri_of(path)},
        "range": {"start": at, "end": at},
        "context": {"diagnostics": [], "only": ["refactor.rewrite"]},
    }
    actions = client.ask("textDocument/codeAction", asked)["result"]
    return {action["title"]: action["command"] for action in actions}


@pytest.mark.parametrize(
    ("name", "text", "titles"),
    [
        ("a.eval.yaml", STIMULI, ["Convert to a waza suite", "Convert to evals.json"]),
        (
            "evals.json",
            json.dumps(EVALS, indent=1),
            ["Convert to a waza suite", "Convert to a Vally eval file"],
        ),
        (
            "eval.yaml",
            SUITE,
            [
                "Convert to evals.json",
                "Convert to a Vally eval file",
                "Convert to agent-eval-harness files",
            ],
        ),
        ("eval_set.json", json.dumps(QUERIES), ["Convert to a waza suite"]),
    ],
)
def test_conversions_are_offered_at_the_head_of_an_eval_file(
    client: RawClient, folder: Path, name: str, text: str, titles: list[str]
) -> None:
    path = folder / name.partition(".")[0] / name
    path.parent.mkdir()
    path.write_text(text, "utf-8")
    client.open(path)
    offered = conversions(client, path, 0)
    assert list(offered) == titles
    (argument,) = offered[titles[0]]["arguments"]
    assert (offered[titles[0]]["command"], argument["path"]) == ("waza.convert", str(path))
    assert conversions(client, path, 2) == {} or "\n" not in text


@pytest.mark.parametrize("answer", ["Convert", None])
async def test_losses_are_shown_before_anything_is_written(tmp_path: Path, answer: str | None) -> None:
    path = tmp_path / "a.eval.yaml"
    path.write_text(STIMULI, "utf-8")
    asked: list[str] = []

    def choose(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
        asked.append(params.message)
        return None if answer is None else types.MessageActionItem(answer)

    async with editing(tmp_path) as editor:
        editor.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)(choose)
        editor.open(path)
        made = dict(await editor.command("waza.convert", {"path": str(path), "to": "waza"}))
        (question,) = asked
        assert question.startswith("1 part left out, 0 differ: left out: a.eval.yaml: line 7: `step-count`")
        files = sorted(file.name for file in (tmp_path / "converted-waza").rglob("*.*"))
        assert files == (["converted.json", "eval.yaml", "greets.yaml"] if answer else [])
        assert bool(made["files"]) == bool(answer)


async def test_no_file_is_replaced_and_unsaved_changes_are_not_left_out(tmp_path: Path) -> None:
    path = tmp_path / "evals.json"
    path.write_text(INDENTED, "utf-8")
    async with editing(tmp_path) as editor:
        uri = editor.open(path)
        await editor.command("waza.convert", {"path": str(path), "to": "waza"})
        written = (tmp_path / "converted-waza" / "eval.yaml").read_bytes()
        with pytest.raises(JsonRpcException, match=r"Nothing was written: .*eval\.yaml and 2 more are"):
            await editor.command("waza.convert", {"path": str(path), "to": "waza"})
        assert (tmp_path / "converted-waza" / "eval.yaml").read_bytes() == written
        editor.replace(uri, 2, json.dumps(EVALS))
        with pytest.raises(JsonRpcException, match=r"evals\.json has unsaved changes; save it first"):
            await editor.command("waza.convert", {"path": str(path), "to": "vally"})


async def test_a_suite_becomes_prompts_and_a_grader_after_its_losses_were_shown(tmp_path: Path) -> None:
    path = tmp_path / "eval.yaml"
    path.write_text(SUITE + "hooks: {before_task: [{command: make}]}\n", "utf-8")
    asked: list[str] = []

    def choose(params: types.ShowMessageRequestParams) -> types.MessageActionItem:
        asked.append(params.message)
        return types.MessageActionItem("Convert")

    async with editing(tmp_path) as editor:
        editor.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)(choose)
        editor.open(path)
        made = dict(await editor.command("waza.convert", {"path": str(path), "to": "harness"}))
        assert "hooks" in asked[0]
        folder = tmp_path / "converted-harness"
        assert made["files"][0] == str(folder / "prompts.jsonl")
        rows = [json.loads(line) for line in (folder / "prompts.jsonl").read_text("utf-8").splitlines()]
        assert [(row["id"], row["input"]) for row in rows] == [("one", "Brew.")]
        assert (folder / "grader.py").exists()
        with pytest.raises(JsonRpcException, match="Nothing was written"):
            await editor.command("waza.convert", {"path": str(path), "to": "harness"})
