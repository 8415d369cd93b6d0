"""The codes of names, turns and files that other parts of a suite refer to."""

from __future__ import annotations

from waza_language_server.analysis.codes.code import EVAL, TASK, Code, graders

_CHECKPOINTS = "checkpoints:\n"
_COSTLY = EVAL.replace("executor: mock", "executor: copilot-sdk").replace(
    " [tasks/*.yaml]", "\n  - id: t\n    name: T\n    inputs:\n      prompt: PROMPT"
)
_COSTLY_FILES = EVAL.replace("executor: mock", "executor: copilot-sdk")
_LOADED = f"{_COSTLY_FILES}graders:\n  - type: skill_invocation\n    name: c\n"
_CHECKS = "    graders:\n      - {type: text, name: c, config: {contains: [done]}}\n"


SUITE_CODES = (
    Code(
        "duplicate-grader-name",
        "Duplicate grader name",
        "warning",
        "Results are stored by name: the later result overwrites the earlier one, and a failure can "
        "disappear.",
        graders(
            "  - type: text\n    name: c\n    config: {contains: [a]}\n"
            "  - type: text\n    name: c\n    config: {contains: [b]}\n"
        ),
        graders(
            "  - type: text\n    name: c\n    config: {contains: [a]}\n"
            "  - type: text\n    name: c_2\n    config: {contains: [b]}\n"
        ),
    ),
    Code(
        "blank-in-tool-name",
        "Tool name that no tool has",
        "hint",
        "`required_tools`, `forbidden_tools` and `expected_actions` compare whole names, so a command "
        "line or a pattern there never matches.",
        graders("  - type: behavior\n    name: c\n    config:\n      forbidden_tools: [rm -rf]\n"),
        graders("  - type: behavior\n    name: c\n    config:\n      forbidden_tools: [bash]\n"),
        "Only the author knows whether the tool or its command is intended.",
    ),
    Code(
        "duplicate-turn",
        "Two checkpoints for the same turn",
        "error",
        "A run cannot load the task.",
        f"{TASK}{_CHECKPOINTS}  - after_turn: 1\n{_CHECKS}  - after_turn: 1\n{_CHECKS}",
        f"{TASK}{_CHECKPOINTS}  - after_turn: 1\n{_CHECKS}",
        "Only the author knows how to merge the two lists of graders.",
    ),
    Code(
        "turn-never-comes",
        "Turn that the conversation never reaches",
        "error",
        "Turn 1 is the prompt, and each follow-up prompt adds a turn. A run cannot load a task with a "
        "checkpoint after the last turn. A `responder` adds up to `max_followups` turns; a checkpoint after "
        "them is a warning, because a run can load the task.",
        f"{TASK}{_CHECKPOINTS}  - after_turn: 2\n{_CHECKS}",
        f"{TASK}{_CHECKPOINTS}  - after_turn: 1\n{_CHECKS}",
        "Only the author knows whether a follow-up is missing or the turn is wrong.",
    ),
    Code(
        "duplicate-mock-name",
        "Duplicate name of a mock server",
        "error",
        "A run cannot load the eval file.",
        EVAL + "mcp_mocks:\n  - {name: a, fixtures: one}\n  - {name: a, fixtures: two}\n",
        EVAL + "mcp_mocks:\n  - {name: a, fixtures: one}\n  - {name: b, fixtures: two}\n",
        "The agent calls a server by its name, which only the author can choose.",
        kind="eval",
    ),
    Code(
        "repeated-item",
        "Repeated list item",
        "warning",
        "Two metrics with the same name cannot be distinguished, and of two files with the same path the "
        "later overwrites the earlier. A repeated tag is a hint; a repeated prompt is information: it runs "
        "twice.",
        EVAL + "metrics:\n  - {name: a, threshold: 0.5}\n  - {name: a, threshold: 0.5}\n",
        EVAL + "metrics:\n  - {name: a, threshold: 0.5}\n",
        kind="eval",
    ),
    Code(
        "newer-format",
        "Newer schema version",
        "information",
        "Versions 1.x only add keys, so the suite runs; an unknown key is ignored, with a hint instead of a "
        "warning.",
        'schemaVersion: "1.99"\n' + EVAL,
        'schemaVersion: "1.5"\n' + EVAL,
        "The file is correct; this version of the product is older.",
        kind="eval",
    ),
    Code(
        "relative-path-in-prompt",
        "Relative path in a prompt without files",
        "warning",
        "Upstream stops a task whose prompt holds `./` when neither `inputs.files`, a context fixture nor "
        "instruction files put anything into the workspace.",
        "id: t\nname: T\ninputs:\n  prompt: Explain ./src/app.py\n",
        "id: t\nname: T\ninputs:\n  prompt: Explain ./src/app.py\n  files:\n    - path: src/app.py\n",
        "Only the author knows which files are intended.",
        files={"../eval.yaml": EVAL},
    ),
    Code(
        "duplicate-task-id",
        "Duplicate task id",
        "warning",
        "Results are stored by task id: the later result overwrites the earlier one.",
        TASK,
        TASK.replace("id: t", "id: u"),
        "Only the author knows which task keeps its id.",
        files={"../eval.yaml": EVAL, "other.yaml": TASK},
    ),
    Code(
        "no-matching-tasks",
        "Glob without a match",
        "hint",
        "A run silently skips a glob without a match. For a named file that is missing it is a warning. If "
        "all globs together match no task, the run stops, and it is an error.",
        EVAL.replace("tasks/*.yaml", "task/*.yaml"),
        EVAL,
        kind="eval",
        files={"tasks/one.yaml": TASK},
    ),
    Code(
        "bad-task-glob",
        "Invalid glob",
        "error",
        "A run stops at an unclosed bracket.",
        EVAL.replace("[tasks/*.yaml]", '["tasks/[a-c.yaml"]'),
        EVAL.replace("[tasks/*.yaml]", '["tasks/[a-c].yaml"]'),
        "Only the author knows where the bracket ends.",
        kind="eval",
        files={"tasks/a.yaml": TASK},
    ),
    Code(
        "unreadable-task",
        "Task file that cannot be read",
        "warning",
        "A glob matches something other than a task file: a pipe, a folder, a binary, or a link out of the "
        "workspace. In a run such a task is an error; nothing outside the workspace is read.",
        EVAL.replace("tasks/*.yaml", "tasks"),
        EVAL,
        kind="eval",
        files={"tasks/one.yaml": TASK},
    ),
    Code(
        "empty-prompt",
        "Empty prompt",
        "error",
        "A run with a paid executor refuses the task before any call. The mock executor answers it at no "
        "cost, so suites that use it are not reported.",
        _COSTLY.replace("PROMPT", "''"),
        _COSTLY.replace("PROMPT", "Go"),
        "Only the author knows the prompt.",
        kind="eval",
        files={"skills/demo/SKILL.md": "---\nname: demo\ndescription: d\n---\n"},
    ),
    Code(
        "unusable-dataset",
        "Dataset without prompts",
        "error",
        "`tasks_from` names a CSV file whose header has a column `prompt`, with a text in every row, or a "
        "file with one JSON object a line, each with an `id` of its own and an `input`. Of any other file, "
        "or of a `range` after its last row, a run stops before it asks the agent anything. Columns are "
        "separated by commas; `;`, tabs and `|` are recognized where they are certain, but upstream reads "
        "commas alone.",
        EVAL.replace("tasks: [tasks/*.yaml]", "tasks_from: rows.csv"),
        EVAL.replace("tasks: [tasks/*.yaml]", "tasks_from: right.csv"),
        "The dataset is another file, and its author knows which column holds the prompts.",
        kind="eval",
        files={"rows.csv": "id,question\na,Hello\n", "right.csv": "id,prompt\na,Hello\n"},
    ),
    Code(
        "grader-package",
        "Grader package missing or changed since it was locked",
        "error",
        "`ref` names a grader of a package. `waza.lock` next to the eval file pins its content, and a run "
        "refuses a package that is not locked, missing or changed. Nothing is downloaded.",
        f"{EVAL}graders:\n  - ref: github.com/acme/graders#factuality@v1.0.0\n    name: factual\n",
        f"{EVAL}graders:\n  - type: text\n    name: factual\n    config:\n      contains: [done]\n",
        no_fix="`waza get` writes the lock and fetches the package; an editor fetches nothing.",
        kind="eval",
        files={"tasks/one.yaml": TASK},
    ),
    Code(
        "missing-file",
        "Missing file",
        "warning",
        "A task, a grader or the executor needs the file: fixtures, prompts, scripts, rubrics, schemas, "
        "skills, an adapter, a recording. A run with an agent stops before its first paid call, and "
        "`waza-engine preflight` reports the same. A check against a missing snapshot always fails. Files "
        "that a hook may create are not reported. "
        "An input file of an `evals.json` or of a Vally eval file is an error: the case is not run.",
        "id: t\nname: T\ninputs:\n  prompt: Go\n  files: [ap.py]\n",
        "id: t\nname: T\ninputs:\n  prompt: Go\n  files: [app.py]\n",
        files={"../eval.yaml": EVAL, "../fixtures/app.py": "print()\n"},
    ),
    Code(
        "outside-repository",
        "Path outside the repository of the suite",
        "error",
        "A suite may only name files inside its repository; without a repository, inside its own folder, "
        "the open folder or the folder in which the run is started. Paths that leave it, also through a "
        "link, and paths of network shares and devices are refused before they are opened. Paths that you "
        "write on a command line are not restricted.",
        "id: t\nname: T\ncontext_dir: /srv/files\ninputs:\n  prompt: Go\n",
        "id: t\nname: T\ncontext_dir: files\ninputs:\n  prompt: Go\n",
        "Only the author knows where the files belong.",
        files={"../eval.yaml": EVAL},
    ),
    Code(
        "path-not-portable",
        "Folder that upstream does not find",
        "warning",
        "Upstream looks for `skill_directories` only next to the eval file and does not report a missing "
        "folder: the agent runs without the skill. This engine also looks in the folders above.",
        EVAL.replace("executor: mock", "executor: copilot-sdk\n  skill_directories: [more/skills]"),
        EVAL.replace("executor: mock", "executor: copilot-sdk\n  skill_directories: [../more/skills]"),
        kind="eval",
        files={
            "tasks/one.yaml": TASK,
            "skills/demo/SKILL.md": "---\nname: demo\n---\n",
            "../more/skills/demo/SKILL.md": "---\nname: demo\n---\n",
        },
    ),
    Code(
        "missing-program",
        "Program not on PATH",
        "warning",
        "A grader whose program cannot start fails for every answer. The editor searches its own PATH, "
        "which its runs use too. There is no shell: `command: python3 check.py` is a program name with a "
        "space, and the fix moves the arguments to `args`.",
        f"{EVAL}graders:\n  - {{type: program, name: c, config: {{command: no-such-program}}}}\n",
        f"{EVAL}graders:\n  - {{type: program, name: c, config: {{command: ./check.sh}}}}\n",
        "Only the author knows which program is intended, or how to install it.",
        kind="eval",
        files={"tasks/one.yaml": TASK, "check.sh": "#!/bin/sh\n"},
    ),
    Code(
        "grader-file",
        "Grader file that a run cannot use",
        "warning",
        "A module must export a function `grade`, which gets one object; a `.py` file is run as a program, "
        "which reads this object from standard input and prints its result; any other file must be "
        "executable and say what runs it. The result is `pass` and `score` with `reasoning` and `outcome`, "
        "or `passed` and `score` with `message` and `details`. A file that breaks these rules is an error of "
        "the grader in each trial. Keys that nothing reads are information. The problem is shown where the "
        "suite names the file, and leads to the line in it.",
        f"{EVAL}graders:\n  - {{type: inline, name: c, config: {{grader: check.js}}}}\n",
        f"{EVAL}graders:\n  - {{type: inline, name: c, config: {{grader: right.js}}}}\n",
        "The grader file is a program, which only its author can change.",
        kind="eval",
        files={
            "tasks/one.yaml": TASK,
            "check.js": "const grade = ({ output }) => ({ pass: output !== '', score: 1 });\n",
            "right.js": "export const grade = ({ output }) => ({ pass: output !== '', score: 1 });\n",
        },
    ),
    Code(
        "unread-verdict",
        "A grader prints a verdict that is not read",
        "information",
        "A `program` grader passes when its program exits with 0, whatever it prints. A script that prints "
        '`{"passed": false}` and ends normally passes every answer. With `protocol` the printed object is '
        "the verdict; it must hold a `score`.",
        f"{EVAL}graders:\n  - type: program\n    name: c\n    config:\n      command: python3\n"
        "      args: [check.py]\n",
        f"{EVAL}graders:\n  - type: program\n    name: c\n    config:\n      command: python3\n"
        "      args: [check.py]\n      protocol: waza-json\n",
        kind="eval",
        files={
            "tasks/one.yaml": TASK,
            "check.py": 'import json\nok = False\nprint(json.dumps({"passed": ok, "score": float(ok)}))\n',
        },
    ),
    Code(
        "skill-already-loaded",
        "A grader requires a skill that the agent has already",
        "information",
        "Unless `inject_skill_body` is false, the text of the tested skill is in the agent's instructions. "
        "The agent then has no reason to load the skill, so a `skill_invocation` grader that "
        "requires it fails, and one that forbids it passes although the agent follows the skill.",
        f"{_LOADED}    config: {{mode: any_order, required_skills: [demo]}}\n",
        f"{_LOADED}    config: {{mode: any_order, required_skills: [demo]}}\n".replace(
            "  model: m\n", "  model: m\n  inject_skill_body: false\n"
        ),
        kind="eval",
        files={"tasks/one.yaml": TASK, "skills/demo/SKILL.md": "---\nname: demo\ndescription: d\n---\n"},
    ),
    Code(
        "answer-in-prompt",
        "The prompt contains everything that a grader looks for",
        "information",
        "An answer that only repeats the prompt, or says that it will do what was asked, passes such a "
        "check. Look for something that only a correct answer contains. The mock repeats the prompt, so "
        "suites that run with it are not reported.",
        f"{TASK.replace('Go', 'Deploy the app to Azure')}expected:\n  output_contains: [azure]\n",
        f"{TASK.replace('Go', 'Deploy the app to Azure')}expected:\n  output_contains: [resource group]\n",
        "Only the author knows what only a correct answer contains.",
        files={
            "../eval.yaml": _COSTLY_FILES,
            "../skills/demo/SKILL.md": "---\nname: demo\ndescription: d\n---\n",
        },
    ),
    Code(
        "skill-not-found",
        "Skill not found",
        "warning",
        "If the tested skill is missing, the agent silently runs without it; if a required skill is "
        "missing, the run stops. A misspelt name of the skill that the suite belongs to is reported with "
        "every executor.",
        EVAL.replace("executor: mock", "executor: copilot-sdk").replace("skill: demo", "skill: dema"),
        EVAL.replace("executor: mock", "executor: copilot-sdk"),
        kind="eval",
        files={"tasks/one.yaml": TASK, "skills/demo/SKILL.md": "---\nname: demo\n---\n"},
    ),
    Code(
        "nobody-judges",
        "No judge model",
        "information",
        "A `prompt`, `llm` or `llm_comparison` grader uses the suite's executor unless the run names another "
        "one; without a model the grader ends with an error.",
        f"{EVAL}graders:\n  - {{type: prompt, name: c, config: {{prompt: Is it good?}}}}\n",
        f"{EVAL.replace('executor: mock', 'executor: openai')}graders:\n"
        "  - {type: prompt, name: c, config: {prompt: Is it good?}}\n",
        "Only the author knows which executor should judge.",
        kind="eval",
    ),
    Code(
        "unknown-grader-name",
        "Unknown grader name",
        "error",
        "`expected.graders` names graders of `eval.yaml` or the task; an unknown name there is an error of "
        "each trial. Elsewhere an unknown name has no effect, which is a warning.",
        f"{TASK}expected:\n  graders: [answr]\n",
        f"{TASK}expected:\n  graders: [answer]\n",
        files={
            "../eval.yaml": f"{EVAL}graders:\n  - {{type: text, name: answer, config: {{contains: [b]}}}}\n"
        },
    ),
    Code(
        "grader-name-of-suite",
        "Task grader with the name of a suite grader",
        "warning",
        "For this task, its result overwrites that of the suite's grader, and a failure can disappear.",
        graders("  - type: text\n    name: c\n    config: {contains: [a]}\n"),
        graders("  - type: text\n    name: c_2\n    config: {contains: [a]}\n"),
        files={
            "../eval.yaml": f"{EVAL}graders:\n  - type: text\n    name: c\n    config: {{contains: [b]}}\n"
        },
    ),
)
