"""The codes of keys, values and graders."""

from __future__ import annotations

from waza_language_server.analysis.codes.code import Code
from waza_language_server.analysis.codes.sample_files import EVAL, TASK, graders

STRUCTURE_CODES = (
    Code(
        "unknown-key",
        "The mapping has no such key",
        "warning",
        "An unknown key is ignored with a line in the log (in `trigger_tests.yaml` and `.waza.yaml` the "
        "file is refused). It is an error when without it a needed key is missing or nothing is checked.",
        graders("  - type: text\n    name: c\n    config:\n      must_match: ['done']\n"),
        graders("  - type: text\n    name: c\n    config:\n      regex_match: ['done']\n"),
    ),
    Code(
        "misplaced-key",
        "The key belongs somewhere else",
        "warning",
        "The key exists at another level: options of a grader belong under `config`, expectations under "
        "`expected`. It is an error when a run refuses the file for it.",
        graders("  - type: code\n    name: c\n    assertions:\n      - len(output) > 20\n"),
        graders("  - type: code\n    name: c\n    config:\n      assertions:\n        - len(output) > 20\n"),
    ),
    Code(
        "missing-key",
        "A key that a run needs is missing",
        "error",
        "Without it the run stops, or the trial ends in an error. `trials_per_task` and `timeout_seconds` "
        "are a warning: a run takes 1 and 300.",
        EVAL.replace("  executor: mock\n", ""),
        EVAL,
        kind="eval",
    ),
    Code(
        "empty-value",
        "The value is missing or empty",
        "error",
        "A needed key without a value, or an empty list where something must be listed.",
        graders("  - type: code\n    name: c\n    config:\n      assertions: []\n"),
        graders("  - type: code\n    name: c\n    config:\n      assertions: [len(output) > 20]\n"),
        "What the value should be is for the author to say; completion offers what fits. A text that YAML "
        "takes for a comment, such as `#42`, is put in quotes.",
    ),
    Code(
        "nothing-checked",
        "Nothing that is given has an effect",
        "error",
        "A grader without a check passes always, or makes the run fail.",
        graders("  - type: text\n    name: c\n    config: {}\n"),
        graders("  - type: text\n    name: c\n    config: {contains: [deployed to, Resource group]}\n"),
    ),
    Code(
        "exactly-one-key",
        "Exactly one of several keys must be given",
        "error",
        "An argument of a tool call is compared in one way; none or two stop the run.",
        graders(
            "  - type: tool_calls\n    name: c\n    config:\n      expect:\n        - tool: bash\n"
            "          args:\n            command: {regex: ls, contains: ls}\n"
        ),
        graders(
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
        graders("  - type: text\n    config:\n      contains: [done]\n"),
        graders("  - type: text\n    name: text_check\n    config:\n      contains: [done]\n"),
    ),
    Code(
        "wrong-type",
        "The value has the wrong type",
        "error",
        "A list, a mapping, a number or a switch is needed; a run refuses the file.",
        EVAL.replace("[tasks/*.yaml]", "tasks/*.yaml"),
        EVAL.replace(" [tasks/*.yaml]", "\n  - tasks/*.yaml"),
        kind="eval",
    ),
    Code(
        "value-not-allowed",
        "The value is none of the allowed ones",
        "error",
        "Only a few values have a meaning here.",
        graders(
            "  - type: action_sequence\n    name: c\n    config:\n      matching_mode: in_order\n"
            "      expected_actions: [bash]\n"
        ),
        graders(
            "  - type: action_sequence\n    name: c\n    config:\n      matching_mode: in_order_match\n"
            "      expected_actions: [bash]\n"
        ),
    ),
    Code(
        "out-of-range",
        "The number is beyond its limit",
        "error",
        "A run refuses the number, or takes another one instead (then it is a warning).",
        EVAL.replace("trials_per_task: 1", "trials_per_task: 0"),
        EVAL,
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
        graders("  - type: text\n    name: c\n    config:\n      contains: [no]\n"),
        graders('  - type: text\n    name: c\n    config:\n      contains: ["no"]\n'),
    ),
    Code(
        "unlikely-value",
        "The value fits and can hardly be meant",
        "information",
        "Times in another unit than the key counts, and text in quotes of print, which YAML takes for a "
        "part of the text: a check for “done” looks for the quotes, too. Patterns between slashes, as "
        "JavaScript has them, and patterns with each backslash twice. A model or skill that is a variable, "
        "`${MODEL}`, which no run replaces, or is still to be filled in. Commands of hooks "
        "that need a shell: `npm ci && npm test`. A warning where the text is not "
        "what was written: one that begins with `!` is a tag for YAML, one with ` #1` in it ends there, a "
        "quote or a comma that stands at its end alone is a part of it, an `I` is no `|`, and `0240` is "
        "octal.",
        f"{TASK}timeout_seconds: 300000\n",
        f"{TASK}timeout_seconds: 300\n",
    ),
    Code(
        "bounds-reversed",
        "The lower bound is above the upper one",
        "error",
        "No number can satisfy both; a run refuses the grader.",
        graders("  - type: tool_calls\n    name: c\n    config: {min_calls: 5, max_calls: 2}\n"),
        graders("  - type: tool_calls\n    name: c\n    config: {min_calls: 2, max_calls: 5}\n"),
    ),
    Code(
        "conflicting-keys",
        "The keys do not go together",
        "error",
        "They belong to two different forms, or exclude one another.",
        graders(
            "  - type: tool_calls\n    name: c\n    config:\n      required_tools: [bash]\n"
            "      required:\n        - pattern: azd\n"
        ),
        graders("  - type: tool_calls\n    name: c\n    config:\n      required_tools: [bash]\n"),
        "Which of the two forms is meant is for the author to say.",
    ),
    Code(
        "key-without-effect",
        "The key has no effect beside another",
        "warning",
        "It belongs to another form of the same block; a run leaves it out with a line in the log.",
        graders(
            "  - type: prompt\n    name: c\n    config:\n      prompt: Is it good?\n      threshold: 0.5\n"
        ),
        graders("  - type: prompt\n    name: c\n    config:\n      prompt: Is it good?\n"),
    ),
    Code(
        "unknown-grader-type",
        "There is no such grader type",
        "error",
        "A run cannot grade with it.",
        graders("  - type: txt\n    name: c\n    config:\n      contains: [done]\n"),
        graders("  - type: text\n    name: c\n    config:\n      contains: [done]\n"),
    ),
    Code(
        "missing-grader-type",
        "The grader has no type",
        "error",
        "Without a type a run cannot grade. The types that know the given options are offered.",
        graders("  - name: c\n    config:\n      contains: [done]\n"),
        graders("  - name: c\n    type: text\n    config:\n      contains: [done]\n"),
    ),
    Code(
        "deprecated-grader-type",
        "The grader type has a successor",
        "information",
        "It runs here, but upstream does not know it any more.",
        graders("  - type: regex\n    name: c\n    config:\n      must_match: [done]\n"),
        graders("  - type: text\n    name: c\n    config:\n      regex_match: [done]\n"),
    ),
    Code(
        "deprecated-key",
        "The key has a successor",
        "information",
        "It works here, but upstream does not know it any more.",
        EVAL.replace("  model: m\n", "  model: m\n  max_workers: 2\n"),
        EVAL.replace("  model: m\n", "  model: m\n  workers: 2\n"),
        kind="eval",
    ),
)
