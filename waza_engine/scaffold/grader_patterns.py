"""Grader files to start from: a frame for each language, and a body for each kind of check.

Light: the editor writes them as well. A body sets the verdict, the score from 0 to 1 and the reasoning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum


class GraderKind(StrEnum):
    """The check that a new grader file makes."""

    HINT = "hint"
    CRITERIA = "criteria"
    METADATA = "metadata"
    TRAJECTORY = "trajectory"
    JUDGE = "judge"
    GIT = "git"


class GraderLanguage(StrEnum):
    """The suffix of a new grader file; ``sh`` needs jq."""

    PYTHON = "py"
    TYPESCRIPT = "ts"
    JAVASCRIPT = "mjs"
    SHELL = "sh"


_FIRST_LINES: Mapping[str, str] = {
    "hint": "Passes when the answer contains the hint of the task; without a hint every answer passes.",
    "criteria": "Adds up the weights of the criteria that the answer meets, and passes from 0.7 on.",
    "metadata": "Counts the words of the hint in the answer; the metadata of the task set the threshold.",
    "trajectory": "Passes when the agent has called every required tool.",
    "judge": "Asks a model, through a command that reads a prompt, whether the answer is right.",
    "git": "Passes when the agent has changed files of its repository, but no protected one.",
}
EXECUTABLE = ("py", "sh")
"""The languages of programs that the system can start itself; agent-eval-harness does so."""

STARTED_BY_A_RUN = ("py", "ts", "js", "mjs")
"""The suffixes of files that a run starts without a permission to execute them."""


def kind_of(stem: str) -> GraderKind:
    """Return the kind that a file is named for, else the simplest."""
    return next((kind for kind in GraderKind if kind in stem.lower()), GraderKind.HINT)


def grader_source(kind: str, language: str) -> str:
    """Return the source of a grader file."""
    frame, bodies = _SOURCES.get(language, (_MODULE, _MODULE_BODIES))
    head, _, body = bodies[kind].rpartition("---\n")
    imports = [line for line in head.splitlines() if line.startswith("import ")]
    used = [name for name in _INPUTS if re.search(rf"(?<![\"'.])\b{name}\b", body)]
    is_typed = language == "ts"
    parts = {
        "DOC": _FIRST_LINES[kind],
        "IMPORTS": "\n".join(sorted([*imports, "import json", "import sys"])),
        "HEAD": head.removeprefix("\n".join(imports)).strip("\n"),
        "MODULE_HEAD": f"\n{head}" if head else "",
        "TYPES": _TYPES if is_typed else "",
        "INPUT": f"{{ {', '.join(name + _INPUTS[name] for name in used)} }}"
        + (": Input" if is_typed else ""),
        "OUTPUT": 'output = given["output"]\n' if "output" in used else "",
        "BODY": body,
    }
    for name, text in parts.items():
        frame = frame.replace(f"<{name}>", text)
    return re.sub(r"\n{3,}", "\n\n", frame)


_INPUTS = {"input": "", "output": "", "hint": ' = ""', "trajectory": " = []", "metadata": " = {}", "cwd": ""}
_QUESTION = """\
Did the answer solve the task? Reply with one JSON object and nothing else:
{"pass": true or false, "score": 0 to 1, "reasoning": "one sentence"}\
"""
_PYTHON = '''\
#!/usr/bin/env python3
"""<DOC>"""

<IMPORTS>

<HEAD>

given = json.load(sys.stdin)
<OUTPUT><BODY>
print(json.dumps({"pass": passed, "score": score, "reasoning": reasoning}))
'''
_PYTHON_BODIES: Mapping[str, str] = {
    "hint": """\
hint = (given.get("hint") or "").lower()

passed = hint in output.lower()
score = 1.0 if passed else 0.0
reasoning = "contains the hint" if passed else "lacks the hint"
""",
    "criteria": """\
hint = (given.get("hint") or "").lower()
calls = [step for step in given.get("trajectory") or [] if step["type"] == "tool_call"]

criteria = [
    (0.4, "contains the hint", hint in output.lower()),
    (0.3, "no tool call failed", all(call["status"] != "failed" for call in calls)),
    (0.3, "at most 5 tool calls", len(calls) <= 5),
]
score = sum(weight for weight, _, met in criteria if met)
passed = score >= 0.7
reasoning = "; ".join(f"{name}: {'yes' if met else 'no'}" for _, name, met in criteria)
""",
    "metadata": """\
metadata = given.get("metadata") or {}
words = (given.get("hint") or "").lower().split()

threshold = {"easy": 0.6, "hard": 0.9}.get(metadata.get("difficulty"), 0.7)
score = sum(word in output.lower() for word in words) / len(words) if words else 1.0
if metadata.get("category") == "code" and "```" not in output:
    score = 0.0
passed = score >= threshold
reasoning = f"{score:.2f}, needed {threshold}"
""",
    "trajectory": """\
REQUIRED = ["Read", "Write"]
---
calls = [step["name"] for step in given.get("trajectory") or [] if step["type"] == "tool_call"]

missing = [tool for tool in REQUIRED if tool not in calls]
passed = not missing
score = 1 - len(missing) / len(REQUIRED)
reasoning = f"not called: {', '.join(missing)}" if missing else "called every required tool"
""",
    "judge": f'''\
import os
import shlex
import subprocess

JUDGE = shlex.split(os.environ.get("JUDGE_COMMAND", "claude -p"))
QUESTION = """{_QUESTION}"""
---
task = {{key: given.get(key) for key in ("input", "hint", "output")}}
answer = subprocess.run(
    JUDGE,
    input=f"{{QUESTION}}\\n\\n{{json.dumps(task)}}",
    stdout=subprocess.PIPE,
    text=True,
    timeout=25,
    check=True,
).stdout
# Models put prose around the object. A reply without one is an error of this grader, not a failed answer.
verdict = json.loads(answer[answer.index("{{") : answer.rindex("}}") + 1])
passed, score, reasoning = verdict["pass"], verdict["score"], verdict.get("reasoning", "")
''',
    "git": """\
import subprocess

PROTECTED = {".env", "package.json"}
---
status = subprocess.run(
    ["git", "-C", given["cwd"], "status", "--porcelain", "--untracked-files=all"],
    stdout=subprocess.PIPE,
    text=True,
    check=True,
).stdout
changed = [line[3:] for line in status.splitlines()]

touched = [path for path in changed if path in PROTECTED]
passed = bool(changed) and not touched
score = 1.0 if passed else 0.5 if changed else 0.0
reasoning = f"changed: {', '.join(changed) or 'nothing'}"
""",
}
_TYPES = """\

type Step = { type: string; name?: string; status?: string };
type Input = {
  input: string | string[];
  output: string;
  hint?: string;
  trajectory?: Step[];
  metadata?: Record<string, unknown>;
  cwd?: string;
};
"""
_MODULE = """\
// <DOC>
<MODULE_HEAD><TYPES>
export const grade = async (<INPUT>) => {
<BODY>  return { pass, score, reasoning };
};
"""
_MODULE_BODIES: Mapping[str, str] = {
    "hint": """\
  const pass = output.toLowerCase().includes(hint.toLowerCase());
  const score = pass ? 1 : 0;
  const reasoning = pass ? "contains the hint" : "lacks the hint";
""",
    "criteria": """\
  const calls = trajectory.filter((step) => step.type === "tool_call");
  const criteria = [
    { weight: 0.4, name: "contains the hint", met: output.toLowerCase().includes(hint.toLowerCase()) },
    { weight: 0.3, name: "no tool call failed", met: calls.every((step) => step.status !== "failed") },
    { weight: 0.3, name: "at most 5 tool calls", met: calls.length <= 5 },
  ];
  const score = criteria.reduce((sum, { weight, met }) => sum + (met ? weight : 0), 0);
  const pass = score >= 0.7;
  const reasoning = criteria.map(({ name, met }) => `${name}: ${met ? "yes" : "no"}`).join("; ");
""",
    "metadata": """\
  const words = hint.toLowerCase().split(/\\s+/).filter(Boolean);
  const found = words.filter((word) => output.toLowerCase().includes(word));
  const threshold = metadata.difficulty === "easy" ? 0.6 : metadata.difficulty === "hard" ? 0.9 : 0.7;
  const lacksCode = metadata.category === "code" && !output.includes("```");
  const score = lacksCode ? 0 : words.length ? found.length / words.length : 1;
  const pass = score >= threshold;
  const reasoning = `${score.toFixed(2)}, needed ${threshold}`;
""",
    "trajectory": """\
const REQUIRED = ["Read", "Write"];
---
  const calls = trajectory.filter((step) => step.type === "tool_call").map((step) => step.name);
  const missing = REQUIRED.filter((tool) => !calls.includes(tool));
  const pass = missing.length === 0;
  const score = 1 - missing.length / REQUIRED.length;
  const reasoning = pass ? "called every required tool" : `not called: ${missing.join(", ")}`;
""",
    "judge": f"""\
import {{ execFileSync }} from "node:child_process";

const [program, ...options] = (process.env.JUDGE_COMMAND ?? "claude -p").split(" ");
const QUESTION = `{_QUESTION}`;
---
  const task = `${{QUESTION}}\\n\\n${{JSON.stringify({{ input, hint, output }})}}`;
  const answer = execFileSync(program, options, {{ input: task, encoding: "utf8", timeout: 25000 }});
  // Models put prose around the object. A reply without one is an error of this grader, not a failed answer.
  const found = answer.slice(answer.indexOf("{{"), answer.lastIndexOf("}}") + 1);
  const {{ pass, score, reasoning = "" }} = JSON.parse(found);
""",
    "git": """\
import { execFileSync } from "node:child_process";

const PROTECTED = [".env", "package.json"];
---
  const command = ["status", "--porcelain", "--untracked-files=all"];
  const status = execFileSync("git", command, { cwd, encoding: "utf8" });
  const changed = status.split("\\n").filter(Boolean).map((line) => line.slice(3));
  const touched = changed.filter((path) => PROTECTED.includes(path));
  const pass = changed.length > 0 && touched.length === 0;
  const score = pass ? 1 : changed.length > 0 ? 0.5 : 0;
  const reasoning = `changed: ${changed.join(", ") || "nothing"}`;
""",
}
_SHELL = """\
#!/bin/sh
# <DOC>
# It needs jq.
set -eu
<HEAD>
given=$(cat)
read_value() { printf '%s' "$given" | jq -r "$1"; }
<BODY>
jq -n --argjson pass "$pass" --argjson score "$score" --arg reasoning "$reasoning" \\
  '{pass: $pass, score: $score, reasoning: $reasoning}'
"""
_SHELL_BODIES: Mapping[str, str] = {
    "hint": """\
pass=$(read_value '(.hint // "" | ascii_downcase) as $hint | .output | ascii_downcase | contains($hint)')
score=0 reasoning="lacks the hint"
if [ "$pass" = true ]; then score=1 reasoning="contains the hint"; fi
""",
    "criteria": """\
has_hint=$(read_value '(.hint // "" | ascii_downcase) as $hint | .output | ascii_downcase | contains($hint)')
failed=$(read_value '[.trajectory[]? | select(.type == "tool_call" and .status == "failed")] | length')
calls=$(read_value '[.trajectory[]? | select(.type == "tool_call")] | length')

tenths=0 reasoning=""
meets() {  # tenths, name
  tenths=$((tenths + $1)) reasoning="$reasoning$2; "
}
if [ "$has_hint" = true ]; then meets 4 "contains the hint"; fi
if [ "$failed" -eq 0 ]; then meets 3 "no tool call failed"; fi
if [ "$calls" -le 5 ]; then meets 3 "at most 5 tool calls"; fi
pass=false
if [ "$tenths" -ge 7 ]; then pass=true; fi
score=$(jq -n "$tenths / 10")
""",
    "metadata": """\
category=$(read_value '.metadata.category // ""')
case $(read_value '.metadata.difficulty // ""') in
  easy) threshold=60 ;;
  hard) threshold=90 ;;
  *) threshold=70 ;;
esac

percent=$(read_value '(.output | ascii_downcase) as $output
  | (.hint // "" | ascii_downcase | [splits("\\\\s+") | select(. != "")]) as $words
  | [$words[] | select(. as $word | $output | contains($word))] as $found
  | if $words == [] then 100 else ($found | length) * 100 / ($words | length) | floor end')
has_code=$(read_value '.output | contains("```")')
if [ "$category" = code ] && [ "$has_code" = false ]; then percent=0; fi
pass=false
if [ "$percent" -ge "$threshold" ]; then pass=true; fi
score=$(jq -n "$percent / 100")
reasoning="$percent %, needed $threshold %"
""",
    "trajectory": """\
required="Read Write"
---
calls=$(read_value '.trajectory[]? | select(.type == "tool_call") | .name')
missing="" all=0 found=0
for tool in $required; do
  all=$((all + 1))
  if printf '%s\\n' "$calls" | grep -qxF -- "$tool"; then
    found=$((found + 1))
  else
    missing="$missing $tool"
  fi
done
pass=false reasoning="not called:$missing"
if [ -z "$missing" ]; then pass=true reasoning="called every required tool"; fi
score=$(jq -n "$found / $all")
""",
    "judge": f"""\
judge=${{JUDGE_COMMAND:-claude -p}}
question='{_QUESTION}'
---
task=$(read_value '[.input, .hint, .output] | tojson')
# The command has its own options, so it is split at its spaces. Models put prose around the object; a reply
# without one is an error of this grader, not a failed answer.
answer=$(printf '%s\\n\\n%s' "$question" "$task" | $judge)
verdict=$(jq -n --arg answer "$answer" '$answer | .[index("{{"):rindex("}}") + 1] | fromjson')
pass=$(printf '%s' "$verdict" | jq .pass)
score=$(printf '%s' "$verdict" | jq .score)
reasoning=$(printf '%s' "$verdict" | jq -r '.reasoning // ""')
""",
    "git": """\
protected=".env package.json"
---
cwd=$(read_value '.cwd')
changed=$(git -C "$cwd" status --porcelain --untracked-files=all | cut -c 4-)
pass=false score=0
if [ -n "$changed" ]; then
  pass=true score=1
  for file in $protected; do
    if printf '%s\\n' "$changed" | grep -qxF -- "$file"; then pass=false score=0.5; fi
  done
fi
reasoning="changed: $(printf '%s' "${changed:-nothing}" | tr '\\n' ' ')"
""",
}
_SOURCES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "py": (_PYTHON, _PYTHON_BODIES),
    "sh": (_SHELL, _SHELL_BODIES),
}
