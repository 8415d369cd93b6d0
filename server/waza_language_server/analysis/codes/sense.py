"""The codes of files that run, but cannot mean what they say."""

from __future__ import annotations

from waza_language_server.analysis.codes.code import Code

_TASK = "id: t\nname: T\ninputs:\n  prompt: Go\n"
_EVAL = (
    "name: demo\nskill: demo\nconfig:\n  trials_per_task: 3\n  timeout_seconds: 60\n  executor: mock\n"
    "  model: m\n"
)

SENSE_CODES = (
    Code(
        "contradiction",
        "Check that no answer can pass",
        "error",
        "One key forbids what another requires, or what every answer contains. The check fails in every "
        "trial, whatever the agent does.",
        f"{_TASK}expected:\n  output_contains: [deployed to Azure]\n  output_not_contains: [deployed]\n",
        f"{_TASK}expected:\n  output_contains: [deployed to Azure]\n  output_not_contains: [failed]\n",
        "Only the author knows which one is intended.",
    ),
    Code(
        "outside-workspace",
        "Path outside the workspace",
        "error",
        "`file` and `diff` read the agent's workspace. An absolute path, or one that leads out of the "
        "workspace, is a grader error in every trial; upstream loses the whole trial.",
        f"{_TASK}graders:\n  - type: file\n    name: c\n    config:\n      must_exist: [/src/app.py]\n",
        f"{_TASK}graders:\n  - type: file\n    name: c\n    config:\n      must_exist: [src/app.py]\n",
    ),
    Code(
        "weak-grader",
        "Grader or check that cannot fail, or that fails on a good answer",
        "information",
        "A check that always passes raises scores and proves nothing. Patterns that match everything are "
        "reported immediately, graders after mutation testing (`strength.md`). So is a grader that fails on "
        "the `reference` of a task, an answer known to be good.",
        f"{_TASK}graders:\n  - type: text\n    name: c\n    config:\n      regex_match:\n        - '.*'\n",
        f"{_TASK}graders:\n  - type: text\n    name: c\n    config:\n      regex_match:\n"
        "        - 'deployed to https?://.+'\n",
        "Only the author knows what a correct answer contains.",
    ),
    Code(
        "threshold-out-of-reach",
        "Threshold that no run can reach",
        "error",
        "A `trigger` grader with the mode `negative` passes below its threshold, and no score is below 0. "
        "For the metric `behavior_quality` of a suite without graders it is information.",
        f"{_TASK}graders:\n  - type: trigger\n    name: elsewhere\n    config:\n      skill_path: demo\n"
        "      mode: negative\n      threshold: 0\n",
        f"{_TASK}graders:\n  - type: trigger\n    name: elsewhere\n    config:\n      skill_path: demo\n"
        "      mode: negative\n      threshold: 0.6\n",
    ),
    Code(
        "unanchored-tool",
        "Rejected tool name also matches other names",
        "hint",
        "`tool` of a `tool_constraint` grader is searched anywhere in the name, so `rm` rejects `format`.",
        f"{_TASK}graders:\n  - type: tool_constraint\n    name: c\n    config:\n      reject_tools:\n"
        "        - tool: rm\n",
        f"{_TASK}graders:\n  - type: tool_constraint\n    name: c\n    config:\n      reject_tools:\n"
        "        - tool: '^rm$'\n",
    ),
    Code(
        "orphan-task",
        "Task that no suite includes",
        "hint",
        "The file is in the `tasks` folder of a suite, but none of the suite's patterns matches it.",
        _TASK,
        f"{_TASK}enabled: false\n",
        "Only the author knows whether the pattern or the file name is wrong.",
        files={
            "../eval.yaml": f"{_EVAL}tasks: [tasks/first.yaml]\n",
            "first.yaml": _TASK.replace("id: t", "id: f"),
        },
    ),
    Code(
        "wrong-schema",
        "Modeline with the schema of another kind of file",
        "warning",
        "Other tools check the file against the schema of the modeline, and report false errors.",
        f"# yaml-language-server: $schema=../schemas/eval.schema.json\n{_TASK}",
        f"# yaml-language-server: $schema=../schemas/task.schema.json\n{_TASK}",
    ),
    Code(
        "unknown-code",
        "Unknown diagnostic code in a comment",
        "information",
        "`# waza: ignore[code]` and `# waza: severity[code=hint]` have no effect for a code that does not "
        "exist.",
        f"{_TASK}tags: [a]  # waza: ignore[unknwon-key]\n",
        f"{_TASK}tags: [a]  # waza: ignore[unknown-key]\n",
    ),
    Code(
        "prompt-on-both-sides",
        "Prompt in both trigger lists",
        "warning",
        "One of the two expectations fails in every run, so the trigger accuracy means little.",
        "skill: demo\nshould_trigger_prompts:\n  - prompt: Explain this\n"
        "should_not_trigger_prompts:\n  - prompt: Explain this\n",
        "skill: demo\nshould_trigger_prompts:\n  - prompt: Explain this\n"
        "should_not_trigger_prompts:\n  - prompt: Delete this\n",
        "Only the author knows which one is intended.",
        kind="trigger_tests",
    ),
    Code(
        "unknown-metric",
        "Nothing computes a metric of this name",
        "warning",
        "Its threshold asks for nothing: the run says so, and goes on without the metric.",
        f"{_EVAL}metrics:\n  - name: trigger_acuracy\n    threshold: 0.8\ntasks: [tasks/*.yaml]\n",
        f"{_EVAL}metrics:\n  - name: trigger_accuracy\n    threshold: 0.8\ntasks: [tasks/*.yaml]\n",
        kind="eval",
    ),
    Code(
        "weights-not-one",
        "Weights of metrics do not add up to 1",
        "information",
        "Weights are shares; if they do not add up to 1, a metric was probably forgotten.",
        f"{_EVAL}metrics:\n  - name: task_completion\n    weight: 0.5\n    threshold: 0.8\n"
        "  - name: behavior_quality\n    weight: 0.3\n    threshold: 0.8\ntasks: [tasks/*.yaml]\n",
        f"{_EVAL}metrics:\n  - name: task_completion\n    weight: 0.62\n    threshold: 0.8\n"
        "  - name: behavior_quality\n    weight: 0.38\n    threshold: 0.8\ntasks: [tasks/*.yaml]\n",
        kind="eval",
    ),
)


_SKILL = "---\nname: {}\ndescription: Explains code. Use when somebody asks what code does.\n"

SKILL_CODES = (
    Code(
        "skill-frontmatter",
        "Unterminated front matter of a skill",
        "error",
        "The front matter between the first line and the next `---` has the name and the description of the "
        "skill. Without the second `---`, upstream and this engine refuse the file.",
        f"{_SKILL.format('suite')}\n# How to explain\n",
        f"{_SKILL.format('suite')}---\n\n# How to explain\n",
        kind="skill",
    ),
    Code(
        "skill-name",
        "Skill name differs from its folder name",
        "warning",
        "Agents and upstream's check (`spec-dir-match`) require the same name. The fix writes the folder's "
        "name; a rename in the editor also changes the files that name the skill.",
        f"{_SKILL.format('explainer')}---\n\n# How to explain\n",
        f"{_SKILL.format('suite')}---\n\n# How to explain\n",
        kind="skill",
        files={"README.md": "A skill.\n"},
    ),
)
