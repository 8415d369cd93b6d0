"""The codes of files that can be run, and cannot mean what they say."""

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
        "A check that no answer can pass",
        "error",
        "One key forbids what another asks for, or what is in every answer. Such a check fails in every "
        "trial, whatever the agent does.",
        f"{_TASK}expected:\n  output_contains: [deployed to Azure]\n  output_not_contains: [deployed]\n",
        f"{_TASK}expected:\n  output_contains: [deployed to Azure]\n  output_not_contains: [failed]\n",
        "Which of the two is meant is for the author to say.",
    ),
    Code(
        "outside-workspace",
        "The path does not lie in the workspace",
        "error",
        "`file` and `diff` look at what the agent leaves in its workspace. A path that is absolute, or leads "
        "out of it, is an error of the grader in every trial; upstream loses the whole trial.",
        f"{_TASK}graders:\n  - type: file\n    name: c\n    config:\n      must_exist: [/src/app.py]\n",
        f"{_TASK}graders:\n  - type: file\n    name: c\n    config:\n      must_exist: [src/app.py]\n",
    ),
    Code(
        "weak-grader",
        "A grader or a check that cannot fail, or that fails on a good answer",
        "information",
        "What passes whatever the agent does raises scores and proves nothing. Patterns that match "
        "everything are marked at once, whole graders once their strength is measured (`strength.md`), and "
        "so is one that fails on the `reference` of a task, an answer known to be good.",
        f"{_TASK}graders:\n  - type: text\n    name: c\n    config:\n      regex_match:\n        - '.*'\n",
        f"{_TASK}graders:\n  - type: text\n    name: c\n    config:\n      regex_match:\n"
        "        - 'deployed to https?://.+'\n",
        "What a right answer holds is for the author to say.",
    ),
    Code(
        "threshold-out-of-reach",
        "A threshold that no run can reach",
        "error",
        "A `trigger` grader with the mode `negative` passes below its threshold, and nothing is below 0. "
        "For the metric `behavior_quality` of a suite in which nothing is graded this is information.",
        f"{_TASK}graders:\n  - type: trigger\n    name: elsewhere\n    config:\n      skill_path: demo\n"
        "      mode: negative\n      threshold: 0\n",
        f"{_TASK}graders:\n  - type: trigger\n    name: elsewhere\n    config:\n      skill_path: demo\n"
        "      mode: negative\n      threshold: 0.6\n",
    ),
    Code(
        "unanchored-tool",
        "A rejected tool is a pattern that fits other names, too",
        "hint",
        "`tool` of a `tool_constraint` grader is searched anywhere in the name, so `rm` rejects `format`.",
        f"{_TASK}graders:\n  - type: tool_constraint\n    name: c\n    config:\n      reject_tools:\n"
        "        - tool: rm\n",
        f"{_TASK}graders:\n  - type: tool_constraint\n    name: c\n    config:\n      reject_tools:\n"
        "        - tool: '^rm$'\n",
    ),
    Code(
        "orphan-task",
        "No suite picks the task up",
        "hint",
        "The file stands in the `tasks` folder of a suite whose patterns leave it out.",
        _TASK,
        f"{_TASK}enabled: false\n",
        "Whether the pattern or the name of the file is wrong is for the author to say.",
        files={
            "../eval.yaml": f"{_EVAL}tasks: [tasks/first.yaml]\n",
            "first.yaml": _TASK.replace("id: t", "id: f"),
        },
    ),
    Code(
        "wrong-schema",
        "The modeline names the schema of another kind of file",
        "warning",
        "Other tools check the file by the schema of the modeline, and mark what is right.",
        f"# yaml-language-server: $schema=../schemas/eval.schema.json\n{_TASK}",
        f"# yaml-language-server: $schema=../schemas/task.schema.json\n{_TASK}",
    ),
    Code(
        "unknown-code",
        "A comment names a code that no problem has",
        "information",
        "`# waza: ignore[code]` and `# waza: severity[code=hint]` do nothing for a code that does not exist.",
        f"{_TASK}tags: [a]  # waza: ignore[unknwon-key]\n",
        f"{_TASK}tags: [a]  # waza: ignore[unknown-key]\n",
    ),
    Code(
        "prompt-on-both-sides",
        "The prompt must trigger the skill and must not",
        "warning",
        "One of the two expectations fails in every run, so the rates of the trigger test mean little.",
        "skill: demo\nshould_trigger_prompts:\n  - prompt: Explain this\n"
        "should_not_trigger_prompts:\n  - prompt: Explain this\n",
        "skill: demo\nshould_trigger_prompts:\n  - prompt: Explain this\n"
        "should_not_trigger_prompts:\n  - prompt: Delete this\n",
        "Which of the two is meant is for the author to say.",
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
        "The weights of the metrics do not add up to 1",
        "information",
        "Weights are read as shares; when they add up to something else, a metric was most likely forgotten.",
        f"{_EVAL}metrics:\n  - name: task_completion\n    weight: 0.5\n    threshold: 0.8\n"
        "  - name: behavior_quality\n    weight: 0.3\n    threshold: 0.8\ntasks: [tasks/*.yaml]\n",
        f"{_EVAL}metrics:\n  - name: task_completion\n    weight: 0.62\n    threshold: 0.8\n"
        "  - name: behavior_quality\n    weight: 0.38\n    threshold: 0.8\ntasks: [tasks/*.yaml]\n",
        kind="eval",
    ),
)
