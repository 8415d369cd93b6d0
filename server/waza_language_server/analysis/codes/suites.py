"""The codes of names, turns and files: what the parts of a suite say of each other."""

from __future__ import annotations

from waza_language_server.analysis.codes.code import Code
from waza_language_server.analysis.codes.sample_files import EVAL, TASK, graders

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
        "Two graders have the same name",
        "warning",
        "Results are kept by name: the later result overwrites the earlier one, and a failure can disappear.",
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
        "No tool has such a name",
        "hint",
        "`required_tools`, `forbidden_tools` and `expected_actions` compare whole names, so a command "
        "line or a pattern there never matches.",
        graders("  - type: behavior\n    name: c\n    config:\n      forbidden_tools: [rm -rf]\n"),
        graders("  - type: behavior\n    name: c\n    config:\n      forbidden_tools: [bash]\n"),
        "Whether the tool or its command is meant is for the author to say.",
    ),
    Code(
        "duplicate-turn",
        "Two checkpoints wait for the same turn",
        "error",
        "The task is not loaded.",
        f"{TASK}{_CHECKPOINTS}  - after_turn: 1\n{_CHECKS}  - after_turn: 1\n{_CHECKS}",
        f"{TASK}{_CHECKPOINTS}  - after_turn: 1\n{_CHECKS}",
        "Merging two lists of graders is for the author to do.",
    ),
    Code(
        "turn-never-comes",
        "The conversation never reaches the turn",
        "error",
        "Turn 1 is the prompt, every follow-up prompt is one more. A checkpoint behind the last turn keeps "
        "the task from being loaded. With a `responder` the conversation goes on for `max_followups` more "
        "turns at most; a checkpoint behind them is a warning, for the task is loaded.",
        f"{TASK}{_CHECKPOINTS}  - after_turn: 2\n{_CHECKS}",
        f"{TASK}{_CHECKPOINTS}  - after_turn: 1\n{_CHECKS}",
        "Whether a follow-up is missing or the turn is wrong is for the author to say.",
    ),
    Code(
        "duplicate-mock-name",
        "Two mock servers have the same name",
        "error",
        "The eval file is not loaded.",
        EVAL + "mcp_mocks:\n  - {name: a, fixtures: one}\n  - {name: a, fixtures: two}\n",
        EVAL + "mcp_mocks:\n  - {name: a, fixtures: one}\n  - {name: b, fixtures: two}\n",
        "The agent calls a server by its name, which is for the author to choose.",
        kind="eval",
    ),
    Code(
        "repeated-item",
        "A list has the same item twice",
        "warning",
        "Two metrics of one name cannot be told apart, and of two files of one path the later overwrites the "
        "earlier. A tag that is repeated is a hint, a prompt information: it is asked twice.",
        EVAL + "metrics:\n  - {name: a, threshold: 0.5}\n  - {name: a, threshold: 0.5}\n",
        EVAL + "metrics:\n  - {name: a, threshold: 0.5}\n",
        kind="eval",
    ),
    Code(
        "newer-format",
        "The file is of a newer version than is known here",
        "information",
        "Versions 1.x only add keys, so the suite runs; a key that is not known is left out, with a hint in "
        "place of a warning.",
        'schemaVersion: "1.99"\n' + EVAL,
        'schemaVersion: "1.5"\n' + EVAL,
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
        files={"../eval.yaml": EVAL},
    ),
    Code(
        "duplicate-task-id",
        "Another task of the suite has the same id",
        "warning",
        "Results are kept by task id: the later result overwrites the earlier one.",
        TASK,
        TASK.replace("id: t", "id: u"),
        "Which of the two tasks keeps its id is for the author to say.",
        files={"../eval.yaml": EVAL, "other.yaml": TASK},
    ),
    Code(
        "no-matching-tasks",
        "No file matches the glob",
        "hint",
        "A glob that picks up nothing is silently left out; for a file that is named and missing that is a "
        "warning. When all globs together find no task the run stops, and it is an error.",
        EVAL.replace("tasks/*.yaml", "task/*.yaml"),
        EVAL,
        kind="eval",
        files={"tasks/one.yaml": TASK},
    ),
    Code(
        "bad-task-glob",
        "The text is not a glob",
        "error",
        "A bracket that is not closed stops the run.",
        EVAL.replace("[tasks/*.yaml]", '["tasks/[a-c.yaml"]'),
        EVAL.replace("[tasks/*.yaml]", '["tasks/[a-c].yaml"]'),
        "Where the bracket ends is for the author to say.",
        kind="eval",
        files={"tasks/a.yaml": TASK},
    ),
    Code(
        "unreadable-task",
        "A task file has no text",
        "warning",
        "A glob picks up something that is no task file: a pipe, a folder, a binary, a link that leaves "
        "the workspace. In a run such a task is an error; nothing outside the workspace is looked at.",
        EVAL.replace("tasks/*.yaml", "tasks"),
        EVAL,
        kind="eval",
        files={"tasks/one.yaml": TASK},
    ),
    Code(
        "empty-prompt",
        "The prompt asks nothing",
        "error",
        "A run with an executor that costs refuses the task before any call. The mock answers to it at no "
        "cost, so suites that run with it are left alone.",
        _COSTLY.replace("PROMPT", "''"),
        _COSTLY.replace("PROMPT", "Go"),
        "Only the author knows what the agent is to be asked.",
        kind="eval",
        files={"skills/demo/SKILL.md": "---\nname: demo\ndescription: d\n---\n"},
    ),
    Code(
        "unusable-dataset",
        "A run finds no prompts in the dataset",
        "error",
        "`tasks_from` names a CSV file whose header has a column `prompt`, with a text in every row, or a "
        "file with one JSON object a line, each with an `id` of its own and an `input`. Of any other file "
        "a run stops before it asks the agent anything. Columns are separated by commas; `;`, tabs and `|` "
        "are recognized where they are certain, but upstream reads commas alone.",
        EVAL.replace("tasks: [tasks/*.yaml]", "tasks_from: rows.csv"),
        EVAL.replace("tasks: [tasks/*.yaml]", "tasks_from: right.csv"),
        "The dataset is another file, and its author knows which column holds the prompts.",
        kind="eval",
        files={"rows.csv": "id,question\na,Hello\n", "right.csv": "id,prompt\na,Hello\n"},
    ),
    Code(
        "grader-package",
        "The package of the grader is not there as it was locked",
        "error",
        "`ref` names a grader of a package. `waza.lock` beside the eval file pins its content, and a run "
        "refuses what is not locked, not there or altered. Nothing is downloaded.",
        f"{EVAL}graders:\n  - ref: github.com/acme/graders#factuality@v1.0.0\n    name: factual\n",
        f"{EVAL}graders:\n  - type: text\n    name: factual\n    config:\n      contains: [done]\n",
        no_fix="`waza get` writes the lock and fetches the package; an editor fetches nothing.",
        kind="eval",
        files={"tasks/one.yaml": TASK},
    ),
    Code(
        "missing-file",
        "A file that the task or a grader needs is not there",
        "warning",
        "Fixtures, prompts, scripts, rubrics, schemas and skills of graders are needed: a run with an "
        "agent stops before its first call, for it would be paid in vain, and `waza-engine preflight` says "
        "the same. A check against a snapshot that is not there fails, whatever the agent writes. Nothing "
        "is said where a hook may still make the file.",
        "id: t\nname: T\ninputs:\n  prompt: Go\n  files: [ap.py]\n",
        "id: t\nname: T\ninputs:\n  prompt: Go\n  files: [app.py]\n",
        files={"../eval.yaml": EVAL, "../fixtures/app.py": "print()\n"},
    ),
    Code(
        "outside-repository",
        "The path leads out of the repository of the suite",
        "error",
        "What a suite names is read inside of its repository; without a repository, inside of its own "
        "folder, of the open folder or of the one that the run is started in. A path that leads out of "
        "there, also through a link, and one of a network share or a device is refused before it is looked "
        "at. What you name on a command line may lie anywhere.",
        "id: t\nname: T\ncontext_dir: /srv/files\ninputs:\n  prompt: Go\n",
        "id: t\nname: T\ncontext_dir: files\ninputs:\n  prompt: Go\n",
        "Where the files belong is for the author to say.",
        files={"../eval.yaml": EVAL},
    ),
    Code(
        "path-not-portable",
        "Upstream does not find the folder",
        "warning",
        "Upstream looks for `skill_directories` beside the eval file alone and says nothing when there is no "
        "such folder: the agent is measured without the skill. This engine looks in the folders above, too.",
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
        "A grader starts a program that is not on PATH",
        "warning",
        "A grader whose program cannot be started fails, whatever the agent answers. The editor looks at its "
        "own PATH, which its runs have, too. No shell is involved: of `command: python3 check.py` all is "
        "taken for the name of a program, and the fix moves the arguments into `args`.",
        f"{EVAL}graders:\n  - {{type: program, name: c, config: {{command: no-such-program}}}}\n",
        f"{EVAL}graders:\n  - {{type: program, name: c, config: {{command: ./check.sh}}}}\n",
        "Which program is meant, or how it is installed, is for the author to say.",
        kind="eval",
        files={"tasks/one.yaml": TASK, "check.sh": "#!/bin/sh\n"},
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
        "A grader waits for a skill that the agent has already",
        "information",
        "Unless `inject_skill_body` is false, the text of the tested skill is in the agent's instructions. "
        "The agent then has no reason to load the skill, so a `skill_invocation` grader that "
        "requires it fails.",
        f"{_LOADED}    config: {{mode: any_order, required_skills: [demo]}}\n",
        f"{_LOADED}    config: {{mode: any_order, required_skills: [demo]}}\n".replace(
            "  model: m\n", "  model: m\n  inject_skill_body: false\n"
        ),
        kind="eval",
        files={"tasks/one.yaml": TASK, "skills/demo/SKILL.md": "---\nname: demo\ndescription: d\n---\n"},
    ),
    Code(
        "answer-in-prompt",
        "The prompt holds all that a grader looks for",
        "information",
        "An answer that only repeats the prompt, or says that it will do what was asked, passes such a "
        "check. Look for what only a right answer adds. The mock repeats the prompt, so suites that run with "
        "it are left alone.",
        f"{TASK.replace('Go', 'Deploy the app to Azure')}expected:\n  output_contains: [azure]\n",
        f"{TASK.replace('Go', 'Deploy the app to Azure')}expected:\n  output_contains: [resource group]\n",
        "What a right answer adds is for the author to say.",
        files={
            "../eval.yaml": _COSTLY_FILES,
            "../skills/demo/SKILL.md": "---\nname: demo\ndescription: d\n---\n",
        },
    ),
    Code(
        "skill-not-found",
        "No skill of this name is found",
        "warning",
        "Without the tested skill the agent is measured without it, and nothing else says so; without a "
        "required one the run stops. A slip of the pen for the skill that the suite lies with is told "
        "whatever the executor.",
        EVAL.replace("executor: mock", "executor: copilot-sdk").replace("skill: demo", "skill: dema"),
        EVAL.replace("executor: mock", "executor: copilot-sdk"),
        kind="eval",
        files={"tasks/one.yaml": TASK, "skills/demo/SKILL.md": "---\nname: demo\n---\n"},
    ),
    Code(
        "nobody-judges",
        "The executor has no model that could judge",
        "information",
        "A `prompt`, `llm` or `llm_comparison` grader asks the executor of the suite unless a run names "
        "another for it; without a model each of them is an error of its grader.",
        f"{EVAL}graders:\n  - {{type: prompt, name: c, config: {{prompt: Is it good?}}}}\n",
        f"{EVAL.replace('executor: mock', 'executor: openai')}graders:\n"
        "  - {type: prompt, name: c, config: {prompt: Is it good?}}\n",
        "Which executor is to judge is for the author to say.",
        kind="eval",
    ),
    Code(
        "unknown-grader-name",
        "The suite has no grader of this name",
        "warning",
        "`expected.graders` names graders of `eval.yaml` or the task; a name that is not there does nothing.",
        f"{TASK}expected:\n  graders: [answr]\n",
        f"{TASK}expected:\n  graders: [answer]\n",
        files={
            "../eval.yaml": f"{EVAL}graders:\n  - {{type: text, name: answer, config: {{contains: [b]}}}}\n"
        },
    ),
    Code(
        "grader-name-of-suite",
        "A grader of the task is called like one of its suite",
        "warning",
        "For this task the result of the suite's grader is overwritten, and a failure can disappear.",
        graders("  - type: text\n    name: c\n    config: {contains: [a]}\n"),
        graders("  - type: text\n    name: c_2\n    config: {contains: [a]}\n"),
        files={
            "../eval.yaml": f"{EVAL}graders:\n  - type: text\n    name: c\n    config: {{contains: [b]}}\n"
        },
    ),
)
