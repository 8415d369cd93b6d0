"""The codes of keys, values and graders."""

from __future__ import annotations

from waza_language_server.analysis.codes.code import Code

_TASK = "id: t\nname: T\ninputs:\n  prompt: Go\n"
_CHECKPOINTS = "checkpoints:\n"
_CHECKS = "    graders:\n      - {type: text, name: c, config: {contains: [done]}}\n"
_CONFIG = "config:\n  trials_per_task: 1\n  timeout_seconds: 60\n  executor: mock\n  model: m\n"
_EVAL = f"name: demo\nskill: demo\n{_CONFIG}tasks: [tasks/*.yaml]\n"


def _graders(text: str) -> str:
    return f"{_TASK}graders:\n{text}"


STRUCTURE_CODES = (
    Code(
        "unknown-key",
        "The mapping has no such key",
        "warning",
        "An unknown key is ignored with a line in the log (in `trigger_tests.yaml` and `.waza.yaml` the "
        "file is refused). It is an error when without it a needed key is missing or nothing is checked.",
        _graders("  - type: text\n    name: c\n    config:\n      must_match: ['done']\n"),
        _graders("  - type: text\n    name: c\n    config:\n      regex_match: ['done']\n"),
    ),
    Code(
        "misplaced-key",
        "The key belongs somewhere else",
        "warning",
        "The key exists at another level: options of a grader belong under `config`, expectations under "
        "`expected`. It is an error when a run refuses the file for it.",
        _graders("  - type: code\n    name: c\n    assertions:\n      - len(output) > 20\n"),
        _graders("  - type: code\n    name: c\n    config:\n      assertions:\n        - len(output) > 20\n"),
    ),
    Code(
        "missing-key",
        "A key that a run needs is missing",
        "error",
        "Without it the run stops, or the trial ends in an error. `trials_per_task` and `timeout_seconds` "
        "are a warning: a run takes 1 and 300.",
        _EVAL.replace("  executor: mock\n", ""),
        _EVAL,
        kind="eval",
    ),
    Code(
        "empty-value",
        "The value is missing or empty",
        "error",
        "A needed key without a value, or an empty list where something must be listed.",
        _graders("  - type: code\n    name: c\n    config:\n      assertions: []\n"),
        _graders("  - type: code\n    name: c\n    config:\n      assertions: [len(output) > 20]\n"),
        "What the value should be is for the author to say; completion offers what fits.",
    ),
    Code(
        "nothing-checked",
        "Nothing that is given has an effect",
        "error",
        "A grader without a check passes always, or makes the run fail.",
        _graders("  - type: text\n    name: c\n    config: {}\n"),
        _graders("  - type: text\n    name: c\n    config: {contains: [deployed to, Resource group]}\n"),
    ),
    Code(
        "exactly-one-key",
        "Exactly one of several keys must be given",
        "error",
        "An argument of a tool call is compared in one way; none or two stop the run.",
        _graders(
            "  - type: tool_calls\n    name: c\n    config:\n      expect:\n        - tool: bash\n"
            "          args:\n            command: {regex: ls, contains: ls}\n"
        ),
        _graders(
            "  - type: tool_calls\n    name: c\n    config:\n      expect:\n        - tool: bash\n"
            "          args:\n            command: {regex: ls}\n"
        ),
        "Which of them is meant is for the author to say.",
    ),
    Code(
        "recommended-key",
        "A key is better given",
        "warning",
        "The run works without it, and something else suffers; the message says what.",
        _graders("  - type: text\n    config:\n      contains: [done]\n"),
        _graders("  - type: text\n    name: text_check\n    config:\n      contains: [done]\n"),
    ),
    Code(
        "wrong-type",
        "The value has the wrong type",
        "error",
        "A list, a mapping, a number or a switch is needed; a run refuses the file.",
        _EVAL.replace("[tasks/*.yaml]", "tasks/*.yaml"),
        _EVAL.replace(" [tasks/*.yaml]", "\n  - tasks/*.yaml"),
        kind="eval",
    ),
    Code(
        "value-not-allowed",
        "The value is none of the allowed ones",
        "error",
        "Only a few values have a meaning here.",
        _graders(
            "  - type: action_sequence\n    name: c\n    config:\n      matching_mode: in_order\n"
            "      expected_actions: [bash]\n"
        ),
        _graders(
            "  - type: action_sequence\n    name: c\n    config:\n      matching_mode: in_order_match\n"
            "      expected_actions: [bash]\n"
        ),
    ),
    Code(
        "out-of-range",
        "The number is beyond its limit",
        "error",
        "A run refuses the number, or takes another one instead (then it is a warning).",
        _EVAL.replace("trials_per_task: 1", "trials_per_task: 0"),
        _EVAL,
        kind="eval",
    ),
    Code(
        "wrong-form",
        "The value does not have the right form",
        "error",
        "A blank name, a path that leaves its folder and the like end the run or the trial.",
        "id: t\nname: T\ninputs:\n  prompt: Go\n  workdir: ../outside\n",
        "id: t\nname: T\ninputs:\n  prompt: Go\n  workdir: inside\n",
        "What was meant cannot be guessed.",
    ),
    Code(
        "unquoted-text",
        "A number or a switch stands where text is meant",
        "information",
        "YAML reads `1.10` as the number 1.1 and `true` as a switch. It is used as text all the same; "
        "quotes keep it as it is written, in other tools too.",
        "id: 007\nname: T\ninputs:\n  prompt: Go\n",
        'id: "007"\nname: T\ninputs:\n  prompt: Go\n',
    ),
    Code(
        "yaml-1-1",
        "YAML 1.1 reads this text otherwise",
        "hint",
        "`no`, `on` and `12:30` are text in YAML 1.2, which this engine and upstream read. Tools made with "
        "PyYAML take them for `false`, `true` and 750; in quotes they are text everywhere.",
        _graders("  - type: text\n    name: c\n    config:\n      contains: [no]\n"),
        _graders('  - type: text\n    name: c\n    config:\n      contains: ["no"]\n'),
    ),
    Code(
        "unlikely-value",
        "The value fits and can hardly be meant",
        "information",
        "Times in another unit than the key counts, and text in quotes of print, which YAML takes for a "
        "part of the text: a check for “done” looks for the quotes, too.",
        f"{_TASK}timeout_seconds: 300000\n",
        f"{_TASK}timeout_seconds: 300\n",
    ),
    Code(
        "bounds-reversed",
        "The lower bound is above the upper one",
        "error",
        "No number can satisfy both; a run refuses the grader.",
        _graders("  - type: tool_calls\n    name: c\n    config: {min_calls: 5, max_calls: 2}\n"),
        _graders("  - type: tool_calls\n    name: c\n    config: {min_calls: 2, max_calls: 5}\n"),
    ),
    Code(
        "conflicting-keys",
        "The keys do not go together",
        "error",
        "They belong to two different forms, or exclude one another.",
        _graders(
            "  - type: tool_calls\n    name: c\n    config:\n      required_tools: [bash]\n"
            "      required:\n        - pattern: azd\n"
        ),
        _graders("  - type: tool_calls\n    name: c\n    config:\n      required_tools: [bash]\n"),
        "Which of the two forms is meant is for the author to say.",
    ),
    Code(
        "key-without-effect",
        "The key has no effect beside another",
        "warning",
        "It belongs to another form of the same block; a run leaves it out with a line in the log.",
        _graders(
            "  - type: prompt\n    name: c\n    config:\n      prompt: Is it good?\n      threshold: 0.5\n"
        ),
        _graders("  - type: prompt\n    name: c\n    config:\n      prompt: Is it good?\n"),
    ),
    Code(
        "unknown-grader-type",
        "There is no such grader type",
        "error",
        "A run cannot grade with it.",
        _graders("  - type: txt\n    name: c\n    config:\n      contains: [done]\n"),
        _graders("  - type: text\n    name: c\n    config:\n      contains: [done]\n"),
    ),
    Code(
        "missing-grader-type",
        "The grader has no type",
        "error",
        "Without a type a run cannot grade. The types that know the given options are offered.",
        _graders("  - name: c\n    config:\n      contains: [done]\n"),
        _graders("  - name: c\n    type: text\n    config:\n      contains: [done]\n"),
    ),
    Code(
        "deprecated-grader-type",
        "The grader type has a successor",
        "information",
        "It runs here, but upstream does not know it any more.",
        _graders("  - type: regex\n    name: c\n    config:\n      must_match: [done]\n"),
        _graders("  - type: text\n    name: c\n    config:\n      regex_match: [done]\n"),
    ),
    Code(
        "deprecated-key",
        "The key has a successor",
        "information",
        "It works here, but upstream does not know it any more.",
        _EVAL.replace("  model: m\n", "  model: m\n  max_workers: 2\n"),
        _EVAL.replace("  model: m\n", "  model: m\n  workers: 2\n"),
        kind="eval",
    ),
    Code(
        "duplicate-grader-name",
        "Two graders have the same name",
        "warning",
        "Results are kept by name: the later result overwrites the earlier one, and a failure can disappear.",
        _graders(
            "  - type: text\n    name: c\n    config: {contains: [a]}\n"
            "  - type: text\n    name: c\n    config: {contains: [b]}\n"
        ),
        _graders(
            "  - type: text\n    name: c\n    config: {contains: [a]}\n"
            "  - type: text\n    name: c_2\n    config: {contains: [b]}\n"
        ),
    ),
    Code(
        "blank-in-tool-name",
        "No tool has such a name",
        "hint",
        "`required_tools`, `forbidden_tools` and `expected_actions` compare whole names, so a command line "
        "there never matches.",
        _graders("  - type: behavior\n    name: c\n    config:\n      forbidden_tools: [rm -rf]\n"),
        _graders("  - type: behavior\n    name: c\n    config:\n      forbidden_tools: [bash]\n"),
        "Whether the tool or its command is meant is for the author to say.",
    ),
    Code(
        "duplicate-turn",
        "Two checkpoints wait for the same turn",
        "error",
        "The task is not loaded.",
        f"{_TASK}{_CHECKPOINTS}  - after_turn: 1\n{_CHECKS}  - after_turn: 1\n{_CHECKS}",
        f"{_TASK}{_CHECKPOINTS}  - after_turn: 1\n{_CHECKS}",
        "Merging two lists of graders is for the author to do.",
    ),
    Code(
        "turn-never-comes",
        "The conversation never reaches the turn",
        "error",
        "Turn 1 is the prompt, every follow-up prompt is one more. A checkpoint behind the last turn keeps "
        "the task from being loaded, unless a `responder` carries the conversation on.",
        f"{_TASK}{_CHECKPOINTS}  - after_turn: 2\n{_CHECKS}",
        f"{_TASK}{_CHECKPOINTS}  - after_turn: 1\n{_CHECKS}",
        "Whether a follow-up is missing or the turn is wrong is for the author to say.",
    ),
    Code(
        "duplicate-mock-name",
        "Two mock servers have the same name",
        "error",
        "The eval file is not loaded.",
        _EVAL + "mcp_mocks:\n  - {name: a, fixtures: one}\n  - {name: a, fixtures: two}\n",
        _EVAL + "mcp_mocks:\n  - {name: a, fixtures: one}\n  - {name: b, fixtures: two}\n",
        "The agent calls a server by its name, which is for the author to choose.",
        kind="eval",
    ),
    Code(
        "newer-format",
        "The file is of a newer version than is known here",
        "information",
        "Versions 1.x only add keys, so the suite runs; a key that is not known is left out, with a hint in "
        "place of a warning.",
        'schemaVersion: "1.99"\n' + _EVAL,
        'schemaVersion: "1.5"\n' + _EVAL,
        "The version is right; what reads it is older.",
        kind="eval",
    ),
    Code(
        "relative-path-in-prompt",
        "The prompt names a relative path and there are no files",
        "warning",
        "Upstream stops a task whose prompt holds `./` when neither `inputs.files`, a context fixture nor "
        "instruction files put anything into the workspace.",
        "id: t\nname: T\ninputs:\n  prompt: Explain ./src/app.py\n",
        "id: t\nname: T\ninputs:\n  prompt: Explain ./src/app.py\n  files:\n    - path: src/app.py\n",
        "Which files are meant is for the author to say.",
        files={"../eval.yaml": _EVAL},
    ),
    Code(
        "duplicate-task-id",
        "Another task of the suite has the same id",
        "warning",
        "Results are kept by task id: the later result overwrites the earlier one.",
        _TASK,
        _TASK.replace("id: t", "id: u"),
        "Which of the two tasks keeps its id is for the author to say.",
        files={"../eval.yaml": _EVAL, "other.yaml": _TASK},
    ),
    Code(
        "no-matching-tasks",
        "No file matches the glob",
        "hint",
        "A glob that picks up nothing is silently left out; for a file that is named and missing that is a "
        "warning. When all globs together find no task the run stops, and it is an error.",
        _EVAL.replace("tasks/*.yaml", "task/*.yaml"),
        _EVAL,
        kind="eval",
        files={"tasks/one.yaml": _TASK},
    ),
    Code(
        "bad-task-glob",
        "The text is not a glob",
        "error",
        "A bracket that is not closed stops the run.",
        _EVAL.replace("[tasks/*.yaml]", '["tasks/[a-c.yaml"]'),
        _EVAL.replace("[tasks/*.yaml]", '["tasks/[a-c].yaml"]'),
        "Where the bracket ends is for the author to say.",
        kind="eval",
        files={"tasks/a.yaml": _TASK},
    ),
    Code(
        "unreadable-task",
        "A task file has no text",
        "warning",
        "A glob picks up something that is no task file: a pipe, a folder, a binary, a link that leaves "
        "the workspace. In a run such a task is an error; nothing outside the workspace is looked at.",
        _EVAL,
        _EVAL.replace("tasks/*.yaml", "tasks/one.yaml"),
        "What lies there is for the author to say.",
        kind="eval",
        files={"tasks/one.yaml": _TASK, "tasks/two.yaml": "\0"},
    ),
    Code(
        "grader-package",
        "The package of the grader is not there as it was locked",
        "error",
        "`ref` names a grader of a package. `waza.lock` beside the eval file pins its content, and a run "
        "refuses what is not locked, not there or altered. Nothing is downloaded.",
        f"{_EVAL}graders:\n  - ref: github.com/acme/graders#factuality@v1.0.0\n    name: factual\n",
        f"{_EVAL}graders:\n  - type: text\n    name: factual\n    config:\n      contains: [done]\n",
        no_fix="`waza get` writes the lock and fetches the package; an editor fetches nothing.",
        kind="eval",
        files={"tasks/one.yaml": _TASK},
    ),
    Code(
        "missing-file",
        "A file that the task or a grading program needs is not there",
        "warning",
        "A run with an agent stops before its first call, for it would be paid in vain; "
        "`waza-engine preflight` says the same. Nothing is said where a hook may still make the file.",
        "id: t\nname: T\ninputs:\n  prompt: Go\n  files: [ap.py]\n",
        "id: t\nname: T\ninputs:\n  prompt: Go\n  files: [app.py]\n",
        files={"../eval.yaml": _EVAL, "../fixtures/app.py": "print()\n"},
    ),
    Code(
        "missing-program",
        "A grader starts a program that is not on PATH",
        "warning",
        "A grader whose program cannot be started fails, whatever the agent answers. The editor looks at its "
        "own PATH, which its runs have, too.",
        f"{_EVAL}graders:\n  - {{type: program, name: c, config: {{command: no-such-program}}}}\n",
        f"{_EVAL}graders:\n  - {{type: program, name: c, config: {{command: ./check.sh}}}}\n",
        "Which program is meant, or how it is installed, is for the author to say.",
        kind="eval",
        files={"tasks/one.yaml": _TASK, "check.sh": "#!/bin/sh\n"},
    ),
    Code(
        "skill-not-found",
        "No skill of this name is found",
        "warning",
        "Without the tested skill the agent is measured without it, and nothing else says so; without a "
        "required one the run stops.",
        _EVAL.replace("executor: mock", "executor: copilot-sdk").replace("skill: demo", "skill: dema"),
        _EVAL.replace("executor: mock", "executor: copilot-sdk"),
        kind="eval",
        files={"tasks/one.yaml": _TASK, "skills/demo/SKILL.md": "---\nname: demo\n---\n"},
    ),
    Code(
        "nobody-judges",
        "The executor has no model that could judge",
        "information",
        "A `prompt`, `llm` or `llm_comparison` grader asks the executor of the suite unless a run names "
        "another for it; without a model each of them is an error of its grader.",
        f"{_EVAL}graders:\n  - {{type: prompt, name: c, config: {{prompt: Is it good?}}}}\n",
        f"{_EVAL.replace('executor: mock', 'executor: openai')}graders:\n"
        "  - {type: prompt, name: c, config: {prompt: Is it good?}}\n",
        "Which executor is to judge is for the author to say.",
        kind="eval",
    ),
    Code(
        "unknown-grader-name",
        "The suite has no grader of this name",
        "warning",
        "`expected.graders` names graders of `eval.yaml` or the task; a name that is not there does nothing.",
        f"{_TASK}expected:\n  graders: [answr]\n",
        f"{_TASK}expected:\n  graders: [answer]\n",
        files={
            "../eval.yaml": f"{_EVAL}graders:\n  - {{type: text, name: answer, config: {{contains: [b]}}}}\n"
        },
    ),
    Code(
        "grader-name-of-suite",
        "A grader of the task is called like one of its suite",
        "warning",
        "For this task the result of the suite's grader is overwritten, and a failure can disappear.",
        _graders("  - type: text\n    name: c\n    config: {contains: [a]}\n"),
        _graders("  - type: text\n    name: c_2\n    config: {contains: [a]}\n"),
        files={
            "../eval.yaml": f"{_EVAL}graders:\n  - type: text\n    name: c\n    config: {{contains: [b]}}\n"
        },
    ),
)
