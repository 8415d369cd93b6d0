"""Random edits of a suite: graders of every deterministic type written, rewritten, typed and broken."""

import json
from random import Random

WORDS = ("hello", "function", "add", "denied", "403", "ok", "README.md", "WORLD", "passed", "nothing", "")
PATTERNS = (
    "hello", "(?i)HELLO", "^hello", "https?://\\S+", "\\d+ of \\d+", "(", "[a-z", "(?<=o)k", "(a+)+$", ".*",
)  # fmt: skip
ASSERTIONS = (
    "len(output) > 20", "'hello' in output.lower()", "len(tool_calls) <= 2",
    "tool_calls[0]['name'] == 'bash'",
    "duration_ms < 250", "any(c['name'] == 'edit' for c in tool_calls)", "gone", "1 +", "errors == []",
    "(n := len(output)) > 3", "n > 30", "re.search('[0-9]+', output)",
)  # fmt: skip
TOOLS = ("bash", "edit", "view", "skill", "web", "Bash")
MODES = ("exact_match", "in_order_match", "any_order_match", "wrong")
SCHEMAS = (
    {"type": "object", "required": ["status"]},
    {"type": "object", "properties": {"count": {"type": "string"}}},
    {"type": "object", "properties": {"count": {"minimum": 3}}},
    {"$ref": "schemas/answer.json"},
    {"type": "wrong"},
)
SNAPSHOTS = ("snapshots/main.py", "snapshots/gone.py")


def entry(random: Random, name: str) -> str:
    """Return a grader of any deterministic type, as one line of YAML."""
    type_name, config = _config(random)
    weight = {} if random.random() < 0.8 else {"weight": random.choice((1, 2, 0.5))}
    return "- " + json.dumps({"type": type_name, "name": name, **weight, "config": config}) + "\n"


def _config(random: Random) -> tuple[str, dict[str, object]]:  # noqa: C901 - a table of types
    def some(values: tuple[str, ...], least: int = 1) -> list[str]:
        return random.choices(values, k=random.randint(least, 3))

    limit = random.choice((0, 1, 2, 3, 100, 300, 60_000))
    match random.randrange(13):
        case 0:
            keys = ("contains", "not_contains", "contains_cs", "not_contains_cs")
            return "text", {random.choice(keys): some(WORDS)}
        case 1:
            return "text", {random.choice(("regex_match", "regex_not_match")): some(PATTERNS)}
        case 2:
            return "code", {"assertions": some(ASSERTIONS)}
        case 3:
            return "behavior", {
                random.choice(("max_tool_calls", "max_tokens", "max_duration_ms")): limit,
                "required_tools": some(TOOLS, 0),
            }
        case 4:
            return "tool_calls", {"required_tools": some(TOOLS), "max_calls": limit}
        case 5:
            argument = {"command": {"regex": random.choice(PATTERNS)}}
            return "tool_calls", {"expect": [{"tool": random.choice(TOOLS), "args": argument}]}
        case 6:
            return "action_sequence", {
                "expected_actions": some(TOOLS),
                "matching_mode": random.choice(MODES),
            }
        case 7:
            extract = {"extract_json": True} if random.random() < 0.5 else {}
            return "json_schema", {"schema": random.choice(SCHEMAS), **extract}
        case 8:
            return "json_schema", {"schema_file": random.choice(("schemas/answer.json", "schemas/gone.json"))}
        case 9:
            file = {"path": random.choice(("main.py", "gone.py")), "snapshot": random.choice(SNAPSHOTS)}
            return "diff", {"expected_files": [{**file, "contains": some(("+new", "-return 1", "def"), 0)}]}
        case 10:
            return "tool_constraint", {
                random.choice(("expect_tools", "reject_tools")): [{"tool": random.choice(TOOLS)}]
            }
        case 11:
            return "skill_invocation", {"required_skills": ["writer"], "mode": random.choice(MODES)}
        case _:
            return random.choice(
                (("keyword", {"keywords": some(WORDS)}), ("file", {"must_exist": ["main.py"]}))
            )


class Edits:
    """A suite that is being edited: its texts by their place in the suite."""

    def __init__(self, seed: int, eval_text: str, graders: int = 5) -> None:
        self._random = Random(seed)
        self._head = eval_text.partition("graders:")[0]
        self._graders = [entry(self._random, f"g{number}") for number in range(graders)]
        self._expected = ""
        self._typed = ""

    def initial(self) -> str:
        """Return the graders that the suite begins with."""
        return "".join(self._graders)

    def next(self) -> tuple[str, str | None]:
        """Return a file of the suite and its new text, None when it is closed without being saved."""
        random = self._random
        kind = random.random()
        if kind < 0.08:
            kinds = ("object", "array", "string")
            schema = {"type": random.choice(kinds), "required": [random.choice(("status", "gone"))]}
            return "schemas/answer.json", random.choice((json.dumps(schema), "{", None))
        if kind < 0.14:
            return "snapshots/main.py", f"def new_function():\n    return {random.randrange(4)}\n"
        if kind < 0.24:
            return "tasks/t1.yaml", self._task()
        self._edit_a_grader(kind)
        text = self._head + "graders:\n" + "".join(self._graders)
        if kind > 0.9:
            # In the midst of typing.
            place = random.randrange(len(self._head), len(text))
            text = text[:place] + random.choice("abc:{}[]'\"#- \n") + text[place + random.randrange(3) :]
        return "eval.yaml", text

    def _edit_a_grader(self, kind: float) -> None:
        random, graders = self._random, self._graders
        place = random.randrange(len(graders))
        if kind < 0.3 and len(graders) > 1:
            del graders[place]
        elif kind < 0.36 and len(graders) < 8:
            graders.insert(place, entry(random, f"g{random.randrange(8)}"))
        elif kind < 0.4:
            graders.insert(random.randrange(len(graders)), graders.pop(place))
        else:
            name = json.loads(graders[place][2:])["name"]
            graders[place] = entry(random, name)

    def _task(self) -> str:
        random = self._random
        text = f"id: t1\nname: t1\ninputs: {{prompt: {random.choice(('Say hello', 'Deploy it'))}}}\n"
        if random.random() < 0.6:
            key = random.choice(("output_contains", "output_not_contains", "output_contains_any"))
            text += f"expected: {json.dumps({key: random.choices(WORDS, k=2)})}\n"
        if random.random() < 0.5:
            text += f"graders:\n{entry(random, random.choice(('g1', 'own')))}"
        return text + ("enabled: [" if random.random() < 0.1 else "")
