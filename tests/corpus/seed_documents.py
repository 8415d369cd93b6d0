"""Every block, option and command of the reference documents, tried out: a row each with its verdict.

`python -m tests.corpus.seed_documents` prints the table as tab-separated values. A block of YAML is read as
graders, an eval file or a task; a program grades an answer; a command runs on small files with an agent that
costs nothing; an option is looked up in the model of the grader type whose section it is in.
"""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import BaseModel, ValidationError

from tests.command_line import harness
from tests.engine.harness.scenarios import ADAPTER, AGENT, lines, prompt
from tests.shared_corpus import SHARED
from waza_engine.graders.base import GraderError, GradingContext
from waza_engine.graders.inline import InlineConfig, InlineGrader
from waza_engine.graders.programs.input import assertion_context
from waza_engine.graders.registry import create, known_type
from waza_engine.spec.eval_file import EvalFile
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.loading import canonical_grader
from waza_engine.spec.task_file import TaskFile
from waza_engine.spec.trigger_tests import TriggerTests

SEEDS = SHARED / "seeds"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
TYPE = re.compile(r"\btype: (\w+)|`type: (\w+)`")
ROW = re.compile(r"^\|? ?`?([a-z_]+)`? \|", re.MULTILINE)
HEAD = re.compile(r"^\| ?(Variable|Option|Field|Parameter|Key|Property) ?\|", re.MULTILINE)
ANSWER: dict[str, Any] = {
    "input": "Find it",
    "output": "hello world\n```py\nprint(1)\n```\nsource: https://example.org",
    "hint": "world",
    "metadata": {"category": "code", "difficulty": "easy"},
}
HARNESS = {
    "capture": "-s -o -c -t -j --stdin --workspace-dir --progress --append -g --debug",
    "trials": "-s -o -c -t -j --stdin --workspace-dir --progress --append -g --debug -k",
    "run": "-s --simple --shell -o -c -t --progress",
    "extract": "-s -o --progress",
    "grade": "-g -o --progress",
    "format": "-f -o --progress",
    "compare": "--run -s -g -o -f --input-format --progress",
    "summarize": "-o -m",
    "calibrate": "-s -g -o",
    "validate-refs": "-g -o",
    "balance": "-k -t -o",
    "schemas": "-j -s -l -o",
    "headless": "-s -v",
}


_ESBUILD = Path(__file__).parents[2] / "vscode-extension" / "node_modules" / ".bin" / "esbuild"


def _suffix() -> str:
    """Return the suffix under which modules run: bun and newer Node.js take types, for others they go."""
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    newer = tuple(map(int, version.strip().removeprefix("v").split(".")[:2])) >= (22, 6)
    return ".ts" if shutil.which("bun") or newer or not _ESBUILD.exists() else ".mjs"


_SUFFIX = _suffix() if shutil.which("node") else ".ts"


@dataclass(frozen=True)
class Row:
    """A promise of a document at a line, its output, and the verdict.

    A verdict is ``works``, ``partly``, ``fails``, ``absent``, or ``fragment`` for what cannot be tried alone.
    """

    document: str
    line: int
    kind: str
    promise: str
    output: str
    verdict: str

    def __str__(self) -> str:
        cells = (self.document, str(self.line), self.kind, self.promise, self.output, self.verdict)
        return "\t".join(" ".join(cell.split()) for cell in cells)


def rows() -> Iterator[Row]:
    """Yield the rows of all documents."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        _write_files(folder)
        for path in sorted(SEEDS.glob("*.txt")):
            text = path.read_text("utf-8")
            for found in FENCE.finditer(text):
                line = text.count("\n", 0, found.start()) + 1
                for kind, promise, output, verdict in _tried(found[1], found[2], folder):
                    yield Row(path.name[:3], line, kind, promise, output, verdict)
            yield from _options(path.name[:3], text)
            yield from _types(path.name[:3], text)
        for command, flags in HARNESS.items():
            shown = harness(command, "-h").stdout
            for flag in flags.split():
                there = re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", shown) is not None
                verdict = "works" if there else "absent"
                yield Row("004", 0, "flag", f"{command} {flag}", "in the help", verdict)


def _write_files(folder: Path) -> None:
    (folder / "agent.py").write_text(AGENT, "utf-8")
    (folder / "claude.json").write_text(json.dumps(ADAPTER), "utf-8")
    (folder / "prompts.jsonl").write_text(lines(prompt("p1", "2+2", hint="4")), "utf-8")
    row = {"id": "p1", "input": "2+2", "output": "4", "hint": "4", "trajectory": [], "toolErrors": False}
    (folder / "extracted.jsonl").write_text(lines(row), "utf-8")


def _tried(language: str, block: str, folder: Path) -> Iterator[tuple[str, str, str, str]]:
    if language == "yaml":
        yield from _of_yaml(block)
    elif language == "bash":
        for command in re.findall(r"^(?!#)(\S.*)$", block, re.MULTILINE):
            yield ("command", command, *_ran(command, folder))
    elif language == "json":
        elided = block.replace("[...]", "[]")
        yield "json", block, "one JSON value", "works" if isinstance(json.loads(elided), dict) else "fails"
    elif language == "prompty":
        yield "file", block, "a rubric of other tools: `prompt` takes its text", "fragment"
    elif "from waza." in block:
        yield ("plug-in", block, *_plugged_in(block, folder))
    elif language == "typescript" or (language == "python" and "stdin" in block):
        yield ("grader", block, *_graded(language, block, folder))
    else:
        yield "text", block, "no program", "fragment"


def _of_yaml(block: str) -> Iterator[tuple[str, str, str, str]]:
    try:
        data: Any = yaml.safe_load(block)
    except yaml.YAMLError as error:
        yield "yaml", block, f"the block is not YAML: {error}", "fragment"
        return
    entries = list(entries_of(data))
    for entry in entries:
        try:
            grader = create(canonical_grader(GraderEntry.model_validate(entry), default_type="code"))
        except (GraderError, ValidationError) as error:
            yield "grader entry", yaml.safe_dump(entry), str(error), "fails"
        else:
            notes = "; ".join(grader.warnings)
            yield "grader entry", yaml.safe_dump(entry), notes or "built", "partly" if notes else "works"
    if isinstance(data, Mapping) and ("tasks" in data or "metrics" in data or "inputs" in data):
        keys = cast("dict[str, Any]", data)
        is_task = "inputs" in keys and "tasks" not in keys
        model: type[BaseModel] = TaskFile if is_task else EvalFile
        filler = (
            {} if is_task else {"config": {"executor": "mock", "trials_per_task": 1, "timeout_seconds": 9}}
        )
        try:
            model.model_validate({**filler, "tasks": ["x"], **keys} if not is_task else keys)
            yield "file", block, model.__name__, "works"
        except ValidationError as error:
            yield "file", block, str(error), "fails"
    elif not entries:
        yield "yaml", block, "options without a type", "fragment"


def entries_of(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the entries of graders in a block of YAML, at any depth."""
    if isinstance(value, dict):
        entry = cast("dict[str, Any]", value)
        if isinstance(entry.get("type"), str) and known_type(entry["type"]) is not None:
            yield entry
            return
        for each in entry.values():
            yield from entries_of(each)
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from entries_of(each)


def _ran(command: str, folder: Path) -> tuple[str, str]:
    """Run a command of agent-eval-harness with ours; `echo … | grader` is a grader on its own."""
    words = command.split()
    if words[0] != "agent-eval-harness":
        return "runs the grader alone, without any harness", "fragment"
    words = [word.replace(".ts", _SUFFIX) if "grader" in word else word for word in words]
    ended = harness(*words[1:], cwd=folder)
    made = words[words.index("-o") + 1] if "-o" in words else ""
    output = (folder / made).read_text("utf-8") if made and (folder / made).exists() else ended.stdout
    return ended.stderr or output[:300], "works" if ended.returncode == 0 and output else "fails"


PLUGGED_IN = """\
from waza_engine.graders.base import GradingContext
from waza_engine.graders.registry import create, plugin_problems

plugin_problems()
import plugin
found = create({"type": "my_custom", "name": "special_check"}).grade(GradingContext(output="a"))
print(found.passed, found.score, found.feedback)
"""


def _plugged_in(block: str, folder: Path) -> tuple[str, str]:
    """Register a type of the first version as a package does, in a process of its own, and grade with it."""
    (folder / "plugin.py").write_text(block, "utf-8")
    program = [sys.executable, "-c", PLUGGED_IN]
    ended = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)
    works = ended.stdout.startswith("True 1.0")
    return ended.stdout or ended.stderr[-200:], "works" if works else "fails"


def _graded(language: str, block: str, folder: Path) -> tuple[str, str]:
    name = "my-grader.ts" if language == "typescript" else "grader.py"
    if "anthropic" in block.lower() and "import" in block:
        return "needs a package and a key of its provider", "fragment"
    if "type GraderInput" in block:
        return "the types of the interface", "fragment"
    file = folder / name
    file.write_text(block, "utf-8")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    if file.suffix == ".ts" and _SUFFIX != ".ts":
        name = f"my-grader{_SUFFIX}"
        subprocess.run(
            [str(_ESBUILD), str(file), "--format=esm", f"--outfile={folder / name}", "--log-level=error"],
            check=True,
        )
    steps = [
        {"type": "tool.execution_start", "tool_call_id": name, "tool_name": name, "arguments": {}}
        for name in ("Read", "Write")
    ]
    context = GradingContext(
        prompt=ANSWER["input"],
        output=ANSWER["output"],
        hint=ANSWER["hint"],
        metadata=ANSWER["metadata"],
        transcript=tuple(steps),
        suite_directory=folder,
    )
    verdict = InlineGrader("own", InlineConfig(grader=name)).grade(context)
    return verdict.feedback, "works" if verdict.status == "graded" else "fails"


def _options(document: str, text: str) -> Iterator[Row]:
    """Yield the rows of tables of options, below the nearest grader type, and of variables."""
    for head in HEAD.finditer(text):
        types = [found[1] or found[2] for found in TYPE.finditer(text, 0, head.start())]
        grader = next((each for each in reversed(types) if known_type(each) is not None), "")
        table = re.match(r"(?:\|?.*\|.*\n)+", text[head.start() :])
        for found in ROW.finditer(table[0] if table else ""):
            line = text.count("\n", 0, head.start() + found.start()) + 1
            key = found[1]
            if head[1] == "Variable":
                there, kind = key in assertion_context(GradingContext()), "variable"
            else:
                there, kind = key in _known_keys(grader), f"option of {grader}"
            yield Row(
                document, line, kind, key, "known" if there else "unknown", "works" if there else "fails"
            )


def _types(document: str, text: str) -> Iterator[Row]:
    """Yield the rows of the table of grader types."""
    table = re.search(r"^\| Type \| YAML key \|.*\n(?:\|.*\n)+", text, re.MULTILINE)
    for found in re.finditer(r"^\| [^|]+ \| (\w+) \|", table[0] if table else "", re.MULTILINE):
        verdict = "works" if known_type(found[1]) is not None else "absent"
        yield Row(document, 0, "grader type", found[1], verdict, verdict)


def _known_keys(grader: str) -> set[str]:
    found = {"name", "type", "weight", "config", "score", "passed", "feedback", "message", "details"}
    kind = known_type(grader)
    models = [TriggerTests, *([] if kind is None else [kind.config_model])]
    waiting: list[Any] = [model.model_json_schema() for model in models]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            block = cast("dict[str, Any]", part)
            properties = block.get("properties")
            found |= set(cast("dict[str, Any]", properties)) if isinstance(properties, dict) else set()
            waiting += block.values()
        elif isinstance(part, list):
            waiting += cast("list[Any]", part)
    return found


if __name__ == "__main__":
    os.chdir(tempfile.mkdtemp())
    for each in rows():
        sys.stdout.write(f"{each}\n")
