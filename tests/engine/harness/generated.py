"""Two hundred generated suites with a fake agent, for both programs; each is made by its number.

They leave out what agent-eval-harness does wrong, which has scenarios of its own.
"""

import random
from collections.abc import Mapping
from typing import Any

from tests.engine.harness.scenarios import ADAPTER, CONTAINS, Scenario, lines, prompt

COUNT = 200
# It does what its last turn says, in this order: `[say:…]`, `[tool:…]`, `[fail:…]`, and at last `[answer:…]`.
AGENT = """\
import json, re, sys
def say(**event): print(json.dumps(event), flush=True)
steps = re.findall(r"\\[(\\w+):([^]]*)]", sys.argv[-1])
ends = [at for at, (kind, _) in enumerate(steps) if kind == "answer"]
for kind, text in steps[ends[-2] + 1 if len(ends) > 1 else 0 :]:
    if kind == "say":
        say(type="message", text=text)
    elif kind in ("tool", "fail"):
        say(type="tool", name=text, status="failed" if kind == "fail" else "completed")
    else:
        say(type="message", text=text)
        say(type="result", text=text)
"""
SHARE = """\
export const grade = async ({ output, hint, metadata, trajectory }) => {
  const words = (hint ?? "").split(" ").filter(Boolean);
  const found = words.filter((word) => output.includes(word)).length;
  const score = words.length === 0 ? 1 : found / words.length;
  return {
    pass: score >= Number(metadata?.threshold ?? 0.5),
    score,
    reasoning: `${found} of ${words.length}`,
    outcome: { steps: trajectory?.length ?? 0 },
  };
};
"""
_WORDS = ("four", "vier", "Grüße", "日本", "🙂", 'say "hi"', "a\\b", "<b>&amp;</b>", "C:/tmp", "x" * 60, "5")
_TOOLS: tuple[str, ...] = ("Read", "Write", "Bash", "WebSearch", "Edit", "Task")
_GRADERS: Mapping[str, str] = {"contains.py": CONTAINS, "share.mjs": SHARE}


def generated(number: int) -> Scenario:
    """Return the suite of a number, with the command that is carried out: ``capture`` or ``trials``."""
    draw = random.Random(number)
    command = "trials" if number % 4 == 3 else "capture"
    grader = draw.choice(("", "contains.py", "share.mjs", "share.mjs"))
    flags = [*(("-g", f"./{grader}") if grader else ()), "-j", str(draw.randint(1, 3))]
    flags += ["-k", str(draw.randint(1, 3))] if command == "trials" else []
    # Without `site`, so that it starts sooner.
    agent = ["python3", "-I", "-S", "agent.py"]
    adapter = {**ADAPTER, "command": agent, "prompt": draw.choice(({}, {"flag": "-p"}, {"flag": "--ask"}))}
    # Its trials take all messages of all turns for the answer.
    is_capture = command == "capture"
    prompts = [
        _prompt(draw, at, draw.randint(1, 3) if is_capture else 1, says=is_capture)
        for at in range(draw.randint(1, 3))
    ]
    files = {"p.jsonl": lines(*prompts), "agent.py": AGENT, **({grader: _GRADERS[grader]} if grader else {})}
    return Scenario([command, "p.jsonl", "-s", "a.json", *flags], files, adapter=adapter)


def _prompt(draw: random.Random, at: int, count: int, *, says: bool) -> dict[str, Any]:
    # It merges calls of one tool.
    tools: list[str] = draw.sample(_TOOLS, len(_TOOLS))
    turns = [_turn(draw, tools, says=says) for _ in range(count)]
    asked: Any = turns[0] if len(turns) == 1 and draw.random() < 0.8 else turns
    keys: dict[str, Any] = {}
    if draw.random() < 0.7:
        keys["hint"] = " ".join(draw.sample(_WORDS, draw.randint(1, 2)))
    if draw.random() < 0.5:
        keys["metadata"] = {"category": draw.choice("ab"), "threshold": draw.choice((0, 0.5, 1))}
    if draw.random() < 0.2:
        keys["reference"] = draw.choice(_WORDS)
    return prompt(f"p{at}", asked, **keys)


def _turn(draw: random.Random, tools: list[str], *, says: bool) -> str:
    """Return what a turn asks for; it takes the tools that it uses."""
    steps = [f"[{draw.choice(('tool', 'tool', 'fail'))}:{tools.pop()}]" for _ in range(draw.randint(0, 2))]
    steps += [f"[say:{word}]" for word in draw.sample(_WORDS, draw.randint(0, 2))] if says else []
    draw.shuffle(steps)
    return " ".join((*steps, f"[answer:{' '.join(draw.sample(_WORDS, draw.randint(1, 3)))}]"))
