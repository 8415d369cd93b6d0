"""Inputs for both programs: ours, and agent-eval-harness 0.12.2, whose output is in `theirs.json`.

A scenario is a folder of files and a command line. `without_times` removes what differs from run to run.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

AGENT = """\
import json, sys, time
prompt = sys.argv[-1]
def say(**event): print(json.dumps(event), flush=True)
if prompt == "sleep":
    say(type="message", text="wait"); time.sleep(30)
elif prompt == "break":
    say(type="message", text="half"); sys.exit(7)
elif prompt == "reads":
    for name in ("Read", "Read", "Read"):
        say(type="tool", name=name, status="pending"); say(type="tool", name=name, status="completed")
    say(type="result", text="read three files")
elif prompt == "fails":
    say(type="message", text="I try"); say(type="tool", name="Bash", status="failed")
    say(type="result", text="it failed")
elif prompt == "unterminated":
    sys.stdout.write(json.dumps({"type": "result", "text": "the last line"})); sys.stdout.flush()
elif prompt == "silent":
    say(type="result", text="4")
else:
    say(type="message", text="You said " + prompt)
    say(type="result", text="The answer to " + prompt + " is 4")
"""
ADAPTER: dict[str, Any] = {
    "version": 1,
    "name": "fake",
    "command": ["python3", "agent.py"],
    "sessionMode": "iterative",
    "prompt": {},
    "output": {"flag": "", "value": ""},
    "outputEvents": [
        {
            "match": {"path": "$.type", "value": "message"},
            "emitAs": "message",
            "extract": {"content": "$.text"},
        },
        {
            "match": {"path": "$.type", "value": "tool"},
            "emitAs": "tool_call",
            "extract": {"title": "$.name", "status": "$.status"},
        },
    ],
    "result": {"matchPath": "$.type", "matchValue": "result", "contentPath": "$.text"},
}
CONTAINS = """\
#!/usr/bin/env python3
import json
import sys

data = json.load(sys.stdin)
hint = (data.get("hint") or "").lower()
found = hint in data.get("output", "").lower() if hint else True
print(json.dumps({"pass": found, "score": 1.0 if found else 0.0}))
"""
RESUMED = """\
import json
import sys

said = " ".join(sys.argv[1:])
print(json.dumps({"type": "message", "text": said, "thread": "T7"}))
print(json.dumps({"type": "result", "text": said}))
"""
BREAKS = """\
#!/usr/bin/env python3
import sys

sys.exit("no key")
"""
SEVEN = "export const grade = () => ({ pass: true, score: 7, extra: 1 })\n"
COMPARES = """\
#!/usr/bin/env python3
import json
import sys

runs = sorted(json.load(sys.stdin)["runs"])
rankings = [{"run": run, "rank": at + 1, "score": 1 - at / 10} for at, run in enumerate(runs)]
print(json.dumps({"rankings": rankings}))
"""


def lines(*rows: Mapping[str, Any]) -> str:
    """Return rows as JSON Lines."""
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def prompt(id_: str, asked: Any, **keys: Any) -> dict[str, Any]:
    """Return a prompt."""
    return {"id": id_, "input": asked, **keys}


def capture(id_: str, score: float | None, total: int = 1000, **keys: Any) -> dict[str, Any]:
    """Return a capture, graded unless the score is None."""
    graded = {} if score is None else {"score": {"pass": score >= 0.5, "score": score}}
    return {
        "id": id_,
        "input": "q",
        "output": "o",
        "trajectory": [{"type": "message", "content": "o", "timestamp": 1}],
        "metadata": {},
        "timing": {"start": 0, "end": total, "sessionCreation": 0, "total": total},
        "toolErrors": False,
        **graded,
        **keys,
    }


@dataclass(frozen=True)
class Scenario:
    """A command line, and the files that it needs. ``output`` is the file that it writes, "" for none."""

    command: Sequence[str]
    files: Mapping[str, str]
    output: str = ""
    adapter: Mapping[str, Any] = field(default_factory=lambda: ADAPTER)

    def arguments(self, folder: Path) -> list[str]:
        """Return the command line in a folder."""
        return [each.replace("{folder}", str(folder)) for each in self.command]

    def write(self, folder: Path, python: str = sys.executable) -> None:
        """Write the files; programs get the permission to run."""
        adapter = {**self.adapter, "command": [python, *self.adapter["command"][1:]]}
        for name, content in {"agent.py": AGENT, "a.json": json.dumps(adapter), **self.files}.items():
            (folder / name).write_text(content, "utf-8")
            (folder / name).chmod(0o755 if content.startswith("#!") else 0o644)


def _asks(command: str, *prompts: Mapping[str, Any], flags: Sequence[str] = (), **files: str) -> Scenario:
    return Scenario(
        [command, "p.jsonl", "-s", "a.json", *flags],
        {"p.jsonl": lines(*prompts), "contains.py": CONTAINS, **files},
    )


GRADED = ("-g", "./contains.py")
ROW = lines(capture("p1", 0.2))
TWO = {"one.jsonl": lines(capture("p1", 0.8)), "two.jsonl": lines(capture("p1", 0.8))}

SCENARIOS: Mapping[str, Scenario] = {
    "capture": _asks(
        "capture",
        prompt("p1", "2+2", hint="4", metadata={"category": "math"}),
        prompt("p2", ["Hi", "How are you?"], hint="fine"),
        prompt("fails", "fails"),
        prompt("none", []),
        flags=GRADED,
    ),
    "trials": _asks("trials", prompt("p1", "break", hint="half"), flags=("-k", "2", *GRADED)),
    "a failing exit code": _asks("capture", prompt("p1", "break")),
    "an answer without messages": _asks("capture", prompt("p1", "silent")),
    "trials ignore the result": _asks("trials", prompt("p1", "silent", hint="4"), flags=("-k", "1", *GRADED)),
    "grader error loses the output": _asks(
        "capture", prompt("p1", "2+2"), flags=("-g", "./breaks.py"), **{"breaks.py": BREAKS}
    ),
    "module results are not validated": Scenario(
        ["grade", "rows.jsonl", "-g", "./seven.mjs"], {"rows.jsonl": ROW, "seven.mjs": SEVEN}
    ),
    "append truncates": Scenario(
        ["capture", "p.jsonl", "-s", "a.json", "--append", "-o", "out.jsonl"],
        {"p.jsonl": lines(prompt("p2", "silent")), "out.jsonl": ROW},
        "out.jsonl",
    ),
    "timeout of a prompt is unused": Scenario(
        ["capture", "p.jsonl", "-s", "a.json"],
        {"p.jsonl": lines(prompt("p1", "sleep", timeout=900))},
        adapter={**ADAPTER, "timeout": 2500},
    ),
    "session id path is unused": Scenario(
        ["capture", "p.jsonl", "-s", "a.json"],
        {"p.jsonl": lines(prompt("p1", ["after one", "after two"])), "resumed.py": RESUMED},
        adapter={
            **ADAPTER,
            "sessionMode": "stream",
            "resume": {"flag": "--resume", "sessionIdPath": "$.thread"},
            "command": ["python3", "resumed.py"],
        },
    ),
    "history system is unused": Scenario(
        ["capture", "p.jsonl", "-s", "a.json"],
        {"p.jsonl": lines(prompt("p1", "Hi"))},
        adapter={**ADAPTER, "historyTemplate": {"system": "Be brief.", "turnFormat": "{{input}}"}},
    ),
    "stdin format is unused": Scenario(
        ["capture", "p.jsonl", "-s", "a.json"],
        {"p.jsonl": lines(prompt("p1", "Hi"))},
        adapter={**ADAPTER, "prompt": {"stdinFormat": "json"}},
    ),
    "tool calls are merged by title": _asks("capture", prompt("p1", "reads")),
    "last line is dropped": _asks("capture", prompt("p1", "unterminated")),
    "line numbers skip blank lines": Scenario(
        ["balance", "p.jsonl"], {"p.jsonl": '{"id": "p1", "input": "a"}\n\n\n{"id": "t1"}\n'}
    ),
    "k of zero": _asks("trials", prompt("p1", "silent"), flags=("-k", "0", *GRADED)),
    "k of letters": _asks("trials", prompt("p1", "silent"), flags=("-k", "abc", *GRADED)),
    "no ties": Scenario(["compare", "one.jsonl", "two.jsonl"], TWO),
    "a grader without custom is ignored": Scenario(
        ["compare", "one.jsonl", "two.jsonl", "-g", "./last.mjs"],
        {
            **TWO,
            "last.mjs": "export const grade = ({ runs }) => ({ rankings: Object.keys(runs).reverse()"
            ".map((run, at) => ({ run, rank: at + 1, score: 1 - at / 10 })) })\n",
        },
    ),
    "a relative grader of compare": Scenario(
        ["compare", "one.jsonl", "two.jsonl", "-s", "custom", "-g", "./last.mjs"],
        {
            **TWO,
            "last.mjs": "export const compare = ({ runs }) => ({ rankings: Object.keys(runs).reverse()"
            ".map((run, at) => ({ run, rank: at + 1, score: 1 - at / 10 })) })\n",
        },
    ),
    "an executable that compares": Scenario(
        ["compare", "one.jsonl", "two.jsonl", "-s", "custom", "-g", "{folder}/compares.py"],
        {**TWO, "compares.py": COMPARES},
    ),
    "labels of one letter": Scenario(["compare", "a:one.jsonl", "b:two.jsonl"], TWO),
    "equal labels": Scenario(["compare", "xy:one.jsonl", "xy:two.jsonl"], TWO),
    "ungraded is zero": Scenario(
        ["compare", "one.jsonl", "two.jsonl"],
        {**TWO, "two.jsonl": lines(capture("p1", 0.8), capture("p2", None))},
    ),
    "the capture of its own pages": Scenario(
        ["summarize", "rows.jsonl"],
        {
            "rows.jsonl": lines(
                {
                    "id": "test-001",
                    "input": "Find the CEO of Anthropic",
                    "output": "Dario Amodei",
                    "trajectory": [{"type": "message", "content": "Dario Amodei", "timestamp": 7}],
                    "metadata": {},
                    "timing": {"start": 100, "end": 350, "firstResponse": 7},
                    "toolErrors": False,
                }
            )
        },
    ),
    "an outcome of another grader stays": Scenario(
        ["grade", "rows.jsonl", "-g", "./contains.py"],
        {"rows.jsonl": lines(capture("p1", 0.2, outcome={"old": 1})), "contains.py": CONTAINS},
    ),
    "the last event of a pipeline": Scenario(
        ["run", "p.jsonl", "-s", "a.json"], {"p.jsonl": lines(prompt("p1", "silent"))}
    ),
    "a word on standard error": Scenario(
        ["run", "p.jsonl", "--simple", "echo note >&2; echo {}; echo {}"],
        {"p.jsonl": lines(prompt("p1", "it's $& {}"))},
    ),
    "csv": Scenario(
        ["format", "rows.jsonl", "-f", "csv"],
        {"rows.jsonl": lines(capture("p1", None), capture("p2", 0.25, output='say "hello"\nagain'))},
    ),
    "summaries": Scenario(["summarize", "rows.jsonl"], {"rows.jsonl": lines(capture("p1", 1.0, 500))}),
    "references": Scenario(
        ["validate-refs", "p.jsonl", "-g", "./contains.py"],
        {
            "p.jsonl": lines(
                prompt("a", "2+2", hint="four", reference="The answer is four."),
                prompt("b", "2+3", hint="five", reference="six"),
                prompt("c", "2+4", hint="six"),
                prompt("d", "nothing", reference=""),
            ),
            "contains.py": CONTAINS,
        },
    ),
    "balance": Scenario(
        ["balance", "p.jsonl", "-t", "80"],
        {
            "p.jsonl": lines(
                *(prompt(f"a{at}", "q", metadata={"category": "a"}) for at in range(7)),
                *(prompt(f"b{at}", "q", metadata={"category": at}) for at in range(2)),
                prompt("c", "q", metadata={}),
                prompt("d", "q", metadata={"category": None}),
                prompt("e", "q", metadata={"category": ["x", 1.0]}),
            )
        },
    ),
    "report of captures": Scenario(
        ["compare", "one.jsonl", "two.jsonl", "--strategy", "weighted"],
        {
            "one.jsonl": lines(
                capture("p1", 0.9),
                capture("p2", 0.85, 1100),
                capture("p3", 0.95, 900),
                capture("p4", 0.8, 1200),
            ),
            "two.jsonl": lines(
                capture("p1", 0.4, 2000),
                capture("p2", 0.3, 2100),
                capture("p3", 0.7, 1900, toolErrors=True),
                capture("p5", 0.45, 2200, output="", errors=["Timeout exceeded"]),
            ),
        },
    ),
    "report of trials": Scenario(
        ["compare", "one.jsonl", "two.jsonl"],
        {
            name: lines(
                *(
                    {
                        "id": f"p{at}",
                        "input": "q",
                        "k": 5,
                        "passRate": 0.6,
                        "passAtK": most,
                        "passExpK": least,
                        "trials": [
                            {
                                "trialNum": number,
                                "output": "o",
                                "trajectory": [],
                                "duration": 100 * number,
                                "pass": number < 4,
                                "score": 0.2 * number,
                            }
                            for number in range(1, 6)
                        ],
                    }
                    for at, (most, least) in enumerate(pairs)
                )
            )
            for name, pairs in {
                "one.jsonl": [(1, 0.8), (0.5, 0.3), (0.8, 0.6)],
                "two.jsonl": [(1, 1), (0.5, 0.3), (0.9, 0.1)],
            }.items()
        },
    ),
}
_TIMES = {"timing", "duration", "timestamp", "firstResponse", "generatedAt"}


def without_times(value: Any) -> Any:
    """Return a JSON value without the times that differ between two runs, and without our digests."""
    if isinstance(value, dict):
        left_out = _TIMES | {"wazaDigest"}
        return {key: without_times(item) for key, item in value.items() if key not in left_out}
    return [without_times(item) for item in value] if isinstance(value, list) else value
