"""The codes of keys, values and graders."""

from __future__ import annotations

from waza_language_server.analysis.codes.code import EVAL, TASK, Code, graders

STRUCTURE_CODES = (
    Code(
        "unknown-key",
        "Unknown key",
        "warning",
        "A run ignores an unknown key and logs it; in `trigger_tests.yaml` and `.waza.yaml` it refuses the "
        "file. It is an error if a required key is then missing or nothing is checked.",
        graders("  - type: text\n    name: c\n    config:\n      must_match: ['done']\n"),
        graders("  - type: text\n    name: c\n    config:\n      regex_match: ['done']\n"),
    ),
    Code(
        "misplaced-key",
        "Key at the wrong level",
        "warning",
        "The key exists at another level: options of a grader belong under `config`, expectations under "
        "`expected`. It is an error when a run refuses the file for it.",
        graders("  - type: code\n    name: c\n    assertions:\n      - len(output) > 20\n"),
        graders("  - type: code\n    name: c\n    config:\n      assertions:\n        - len(output) > 20\n"),
    ),
    Code(
        "missing-key",
        "Required key is missing",
        "error",
        "Without it, the run stops or the trial ends in an error. For `trials_per_task` and "
        "`timeout_seconds` it is a warning: their defaults are 1 and 300.",
        EVAL.replace("  executor: mock\n", ""),
        EVAL,
        kind="eval",
    ),
    Code(
        "empty-value",
        "Missing or empty value",
        "error",
        "A required key has no value, or a required list is empty.",
        graders("  - type: code\n    name: c\n    config:\n      assertions: []\n"),
        graders("  - type: code\n    name: c\n    config:\n      assertions: [len(output) > 20]\n"),
        "Only the author knows the value; completion offers the possible ones.",
    ),
    Code(
        "nothing-checked",
        "Nothing is checked",
        "error",
        "A grader without a check always passes, or makes the run fail.",
        graders("  - type: text\n    name: c\n    config: {}\n"),
        graders("  - type: text\n    name: c\n    config: {contains: [deployed to, Resource group]}\n"),
    ),
    Code(
        "exactly-one-key",
        "Exactly one of several keys is required",
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
        "Only the author knows which one is intended.",
    ),
    Code(
        "recommended-key",
        "Recommended key is missing",
        "warning",
        "The run works without it, with a disadvantage that the message describes.",
        graders("  - type: text\n    config:\n      contains: [done]\n"),
        graders("  - type: text\n    name: text_check\n    config:\n      contains: [done]\n"),
    ),
    Code(
        "wrong-type",
        "Value of the wrong type",
        "error",
        "A run refuses a file with a value of another type than the key requires.",
        EVAL.replace("[tasks/*.yaml]", "tasks/*.yaml"),
        EVAL.replace(" [tasks/*.yaml]", "\n  - tasks/*.yaml"),
        kind="eval",
    ),
    Code(
        "value-not-allowed",
        "Value not allowed",
        "error",
        "The key accepts a fixed set of values.",
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
        "Number out of range",
        "error",
        "A run refuses the number, or replaces it with its default (then it is a warning).",
        EVAL.replace("trials_per_task: 1", "trials_per_task: 0"),
        EVAL,
        kind="eval",
    ),
    Code(
        "wrong-form",
        "Malformed value",
        "error",
        "Blank names, paths that leave their folder and similar values end the run or the trial.",
        "id: t\nname: T\ninputs:\n  prompt: Go\n  workdir: ../outside\n",
        "id: t\nname: T\ninputs:\n  prompt: Go\n  workdir: inside\n",
        "The intended value cannot be guessed.",
    ),
    Code(
        "unquoted-text",
        "Number or boolean instead of a string",
        "information",
        "YAML reads `1.10` as the number 1.1 and `true` as a boolean. The engine converts it to a string; "
        "quotes preserve it as written, in other tools too.",
        "id: 007\nname: T\ninputs:\n  prompt: Go\n",
        'id: "007"\nname: T\ninputs:\n  prompt: Go\n',
    ),
    Code(
        "yaml-1-1",
        "YAML 1.1 reads this value differently",
        "hint",
        "`no`, `on` and `12:30` are strings in YAML 1.2, which this engine and upstream use. Tools based on "
        "PyYAML read them as `false`, `true` and 750; in quotes they are strings everywhere.",
        graders("  - type: text\n    name: c\n    config:\n      contains: [no]\n"),
        graders('  - type: text\n    name: c\n    config:\n      contains: ["no"]\n'),
    ),
    Code(
        "unlikely-value",
        "Valid value that is probably not intended",
        "information",
        "Text in typographic quotes, which are a part of the text for YAML: a check for “done” looks for the "
        "quotes, too. Patterns between slashes, as JavaScript has them, and patterns with each backslash "
        "twice. Commands of hooks that need a shell: `npm ci && npm test`.",
        f"{TASK}expected:\n  output_contains:\n    - “done”\n",
        f"{TASK}expected:\n  output_contains:\n    - 'done'\n",
    ),
    Code(
        "bounds-reversed",
        "Lower bound above the upper bound",
        "error",
        "No number satisfies both; a run refuses the grader.",
        graders("  - type: tool_calls\n    name: c\n    config: {min_calls: 5, max_calls: 2}\n"),
        graders("  - type: tool_calls\n    name: c\n    config: {min_calls: 2, max_calls: 5}\n"),
    ),
    Code(
        "conflicting-keys",
        "Conflicting keys",
        "error",
        "The keys belong to two different forms, or exclude each other.",
        graders(
            "  - type: tool_calls\n    name: c\n    config:\n      required_tools: [bash]\n"
            "      required:\n        - pattern: azd\n"
        ),
        graders("  - type: tool_calls\n    name: c\n    config:\n      required_tools: [bash]\n"),
        "Only the author knows which form is intended.",
    ),
    Code(
        "key-without-effect",
        "Key without effect next to another",
        "warning",
        "It belongs to another form of the same block; a run ignores it and logs it.",
        graders(
            "  - type: prompt\n    name: c\n    config:\n      prompt: Is it good?\n      threshold: 0.5\n"
        ),
        graders("  - type: prompt\n    name: c\n    config:\n      prompt: Is it good?\n"),
    ),
    Code(
        "unknown-grader-type",
        "Unknown grader type",
        "error",
        "A run cannot use the grader.",
        graders("  - type: txt\n    name: c\n    config:\n      contains: [done]\n"),
        graders("  - type: text\n    name: c\n    config:\n      contains: [done]\n"),
    ),
    Code(
        "missing-grader-type",
        "Grader without a type",
        "error",
        "A run cannot use a grader without a type. The fixes offer the types that have the given options. "
        "It is a warning at a task's grader with `assertions`, whose type is `code` by default.",
        graders("  - name: c\n    config:\n      contains: [done]\n"),
        graders("  - name: c\n    type: text\n    config:\n      contains: [done]\n"),
    ),
    Code(
        "deprecated-grader-type",
        "Deprecated grader type",
        "information",
        "It works here, but upstream no longer supports it.",
        graders("  - type: regex\n    name: c\n    config:\n      must_match: [done]\n"),
        graders("  - type: text\n    name: c\n    config:\n      regex_match: [done]\n"),
    ),
    Code(
        "deprecated-key",
        "Deprecated key",
        "information",
        "It works here, but upstream no longer supports it.",
        EVAL.replace("  model: m\n", "  model: m\n  max_workers: 2\n"),
        EVAL.replace("  model: m\n", "  model: m\n  workers: 2\n"),
        kind="eval",
    ),
)
