"""A key that everything says stands nowhere: in no file, in nothing that is printed or sent."""

import base64
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.command_line import Finished, engine, engine_process
from tests.conftest import StartModel
from tests.engine.executors.agents import write_agent
from tests.engine.graders.judging import fails
from tests.engine.serve.client import Engine
from tests.engine.suites import task, write_suite
from tests.scripted_model import Answer, ModelRequest, Reply, Status, call

pytestmark = pytest.mark.check

KEY = 'sk-Planted"4f8Qz7/LmN2xR9+vT6wY3b'
PROVIDER_KEY = "provider-Key-0123456789"
SPELLED = """
import base64, json, os
from urllib.parse import quote
def spelled(where):
    key = os.environ["PLANTED_API_KEY"]
    encoded = [base64.b64encode((before + key + "zz").encode()).decode() for before in ("", "x", "xy")]
    return " ".join([where, key, json.dumps({"key": key}), quote(key), *encoded])
"""
GRADERS = """
- {type: text, name: sees, config: {contains: ['Planted"4f8']}}
- {type: program, name: prints, config: {command: PYTHON, args: [DIR/prints.py], timeout: 60}}
- type: program
  name: answers
  config: {command: PYTHON, args: [DIR/answers.py], protocol: waza-json, timeout: 60}
- {type: code, name: raises, config: {assertions: ['int(output) > 0', 'output == ""']}}
- {type: file, name: file, config: {content_patterns: [{path: kept.txt, must_match: [nothing]}]}}
- {type: diff, name: diff, config: {expected_files: [{path: kept.txt, contains: ['+nothing']}]}}
- {type: keyword, name: keyword, config: {keywords: [nothing]}}
"""
JUDGE = "- {type: prompt, name: judge, config: {prompt: 'Call set_waza_grade_pass if it is good.'}}\n"
MOCK = """
mcp_mocks:
- name: github
  tools: {search: {responses: [{return: {token: 'KEY'}}]}}
"""


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    monkeypatch.setenv("OF_THE_PROVIDER", PROVIDER_KEY)


def spellings(secret: str) -> Iterator[bytes]:
    """Yield how a secret may be written; of base64 what is the same whatever stands around it."""
    once = json.dumps(secret)[1:-1]
    yield from (
        text.encode() for text in (secret, once, json.dumps(once)[1:-1], quote(secret), quote(secret, ""))
    )
    yield secret.replace('"', "&quot;").encode()
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + secret.encode()).rstrip(b"=")
        middle = encoded[4:-4]
        yield from (middle, middle.replace(b"+", b"-").replace(b"/", b"_"), quote(middle, "").encode())
    # Pieces, too.
    yield from (secret[:16].encode(), secret[-16:].encode())


def assert_nowhere(directory: Path, *said: Finished | str) -> None:
    """Search every artefact below a directory, and what was said."""
    texts = {place: place.read_bytes() for place in directory.rglob("*") if place.is_file()}
    written = {
        str(place.relative_to(directory)): text
        for place, text in texts.items()
        if ".waza" in place.parts or "out" in place.parts
    }
    assert any(name.endswith(".json") for name in written)
    for number, words in enumerate(said):
        both = words if isinstance(words, str) else words.stdout + words.stderr
        written[f"output {number}"] = both.encode()
    found = [
        (name, spelling)
        for secret in (KEY, PROVIDER_KEY)
        for spelling in spellings(secret)
        for name, text in written.items()
        if spelling in text
    ]
    assert found == []
    assert all(b"***" in text for name, text in written.items() if name.startswith(".waza/results/2"))


def suite(directory: Path, config: str, graders: str = GRADERS, more: str = "") -> Path:
    for name, source in {
        "prints": "import sys\nprint(spelled('out'))\nsys.stderr.write(spelled('err'))\nsys.exit(1)\n",
        "answers": "print(json.dumps({'passed': False, 'score': 0, 'message': spelled('m'), 'details': {"
        "os.environ['PLANTED_API_KEY']: spelled('d')}}))\n",
        "hook": "import sys\nprint(dict(os.environ))\nsys.stderr.write(spelled('hook'))\nsys.exit(1)\n",
    }.items():
        (directory / f"{name}.py").write_text(SPELLED + source)
    hook = f"hooks: {{before_run: [{{command: {sys.executable} {directory}/hook.py}}]}}\n"
    graders = graders.replace("PYTHON", sys.executable).replace("DIR", str(directory))
    return write_suite(directory, {"a": task("a")}, config=config, graders=graders, more=hook + more)


def run_and_show(path: Path) -> list[Finished]:
    """Run a suite so that it leaves everything it can leave, and show the results in every way."""
    out = path.parent / "out"
    ran = engine(
        *("run", path, "-v", "-o", out / "copy.json", "--reporter", f"junit:{out / 'junit.xml'}"),
        *("--transcript-dir", out / "transcripts", "--session-log", "--session-dir", out / "sessions"),
    )
    assert "a" in ran.stdout, ran.stderr
    shown = [
        engine("report", path, "--format", kind) for kind in ("text", "markdown", "junit", "json", "github")
    ]
    live = [engine("run", path, "--format", kind) for kind in ("json", "jsonl", "github")]
    before = [engine("preflight", path, "--format", kind) for kind in ("human", "json")]
    graded = [
        engine("grade", path, *more) for more in ([], ["--format", "json"], ["-o", out / "graded.json"])
    ]
    results = sorted((path.parent / ".waza" / "results").glob("2*.json"))[-1]
    gates = [
        engine("gate", "--baseline", results, "--current", results, "--format", kind)
        for kind in ("human", "json", "markdown", "github-actions")
    ]
    return [ran, *shown, *live, *before, *graded, *gates, engine("compare", results, results)]


def test_an_agent_that_says_a_key_in_everything_it_does(tmp_path: Path) -> None:
    write_agent(
        tmp_path,
        SPELLED
        + """
open('kept.txt', 'w').write(spelled('file'))
say(type='think', text=spelled('thought'))
say(type='tool', id='1', name='bash', status='running', input={'command': spelled('in'), spelled('k'): [1]})
say(type='tool', id='1', name='bash', status='completed', output=spelled('tool'))
say(type='text', text=spelled('answer'))
sys.stderr.write(spelled('stderr'))
if 'fail' in sys.argv[-1]: sys.exit(3)
say(type='result', content=spelled('result'))
""",
    )
    config = "config: {trials_per_task: 2, timeout_seconds: 60, executor: command, adapter: adapter.json}\n"
    path = suite(tmp_path, config)
    (tmp_path / "tasks" / "b.yaml").write_text(task("b", prompt="fail"))

    shown = run_and_show(path)

    assert_nowhere(tmp_path, *shown)
    document = json.loads((tmp_path / "out" / "copy.json").read_text())
    validations = document["tasks"][0]["runs"][0]["validations"]
    assert validations["sees"]["passed"], "graders see what was really said"
    assert "a" in [found["test_id"] for found in document["tasks"]]


def test_a_model_its_tools_and_its_judge_that_say_a_key(
    scripted_model: StartModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def reply(request: ModelRequest) -> Reply:
        if "set_waza_grade_fail" in request.tool_names:
            return (
                "Judged." if request.tool_results else Answer(f"{KEY}", calls=[fails(KEY, f"it says {KEY}")])
            )
        done = len(request.tool_results)
        calls = [
            call("create", path="kept.txt", file_text=f"{KEY} {PROVIDER_KEY}"),
            call("bash", command=f"echo {KEY}; env"),
            call("github-search", query=KEY),
        ]
        return calls[done] if done < len(calls) else f"The keys are {KEY} and {PROVIDER_KEY}."

    model = scripted_model(reply)
    config = (
        "config: {trials_per_task: 1, timeout_seconds: 60, executor: openai, model: small, "
        f"provider: {{base_url: '{model.base_url}', api_key_env: OF_THE_PROVIDER}}, "
        "workspace_tools: [read, write, run]}\n"
    )
    path = suite(tmp_path, config, GRADERS + JUDGE, MOCK.replace("KEY", KEY))

    shown = run_and_show(path)

    assert_nowhere(tmp_path, *shown)
    document = json.loads((tmp_path / "out" / "copy.json").read_text())
    validations = document["tasks"][0]["runs"][0]["validations"]
    assert validations["sees"]["passed"]
    assert "***" in json.dumps(validations["judge"])
    judged = next(each for each in model.requests if "set_waza_grade_fail" in each.tool_names)
    assert "***" in json.dumps(judged.body), "a judge may be anywhere"
    assert KEY not in json.dumps(judged.body)


def test_what_an_editor_is_sent_has_no_key(tmp_path: Path) -> None:
    write_agent(tmp_path, SPELLED + "say(type='result', content=spelled('result'))")
    config = "config: {trials_per_task: 1, timeout_seconds: 60, executor: command, adapter: adapter.json}\n"
    path = suite(tmp_path, config)
    with Engine() as client:
        client.request("eval.run", path=str(path))
        while (message := client.messages.get(timeout=60)).get("params", {}).get("kind") != "ended":
            client.lines.append(json.dumps(message).encode())
        record = sorted((tmp_path / ".waza" / "results").glob("2*.json"))[-1]
        client.request("grader.grade", record=str(record))
    sent = b"".join(client.lines).decode()
    assert "***" in sent
    assert_nowhere(tmp_path, sent)


def test_a_suite_that_cannot_run_says_no_key(tmp_path: Path) -> None:
    path = suite(tmp_path, f"config: {{trials_per_task: 1, timeout_seconds: 60, executor: '{KEY}'}}\n")
    ran = engine_process("run", path)
    assert ran.returncode == 2
    assert "***" in ran.stderr
    assert KEY not in ran.stderr


def test_a_key_that_a_suite_writes_where_none_belongs_is_not_repeated(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    model = scripted_model(Status(401, "Incorrect API key provided: sk-written-0123456789"))
    provider = f"provider: {{base_url: '{model.base_url}', api_key: sk-written-0123456789}}"
    config = f"config: {{trials_per_task: 1, timeout_seconds: 60, executor: openai, model: m, {provider}}}\n"
    ran = engine_process("run", write_suite(tmp_path, {"a": task("a")}, config=config))
    report = engine_process("report", tmp_path, "--format", "json")
    assert "Incorrect API key provided: ***" in ran.stdout
    kept = [file.read_text("utf-8") for file in (tmp_path / ".waza").rglob("*.json*")]
    assert all("sk-written" not in text for text in (ran.stdout, ran.stderr, report.stdout, *kept))
