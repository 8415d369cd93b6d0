"""Which files are claimed, and which of other tools are left alone."""

from pathlib import PurePosixPath
from textwrap import dedent

import pytest

from waza_language_server.project.claim import claim

SUITE = """\
name: x
skill: my-skill
graders: []
tasks:
  - tasks/*.yaml
"""


def kind(
    name: str, text: str, *siblings: str, in_suite: bool = False, next_to_eval: bool = False
) -> str | None:
    path = PurePosixPath("/repo/evals/x", name)
    return claim(path, dedent(text), siblings, in_suite=in_suite, next_to_eval=next_to_eval)


ACTION = "name: Ask\ndescription: d\ninputs:\n  prompt:\n    required: true\nruns:\n  using: node20\n"
CLAIMS: dict[str, tuple[str, str, tuple[str, ...], str | None]] = {
    "a suite of another name": ("deploy-check.yaml", SUITE, (), "eval"),
    "an empty eval file alone": ("eval.yaml", "", (), None),
    "tasks with inputs": ("eval.yaml", "skill: y\ntasks:\n  - id: a\n    inputs: {prompt: x}\n", (), "eval"),
    "tasks with a prompt": ("eval.yaml", "skill: y\ntasks:\n  - id: a\n    prompt: x\n", (), "eval"),
    "tasks without a prompt, next to config": (
        "eval.yaml",
        "skill: y\nconfig: {}\ntasks:\n  - id: a\n    input: x\n",
        (),
        "eval",
    ),
    "the smallest suite": (
        "eval.yaml",
        "name: a\nconfig: {executor: mock}\ngraders: []\ntasks: [tasks/*.yaml]\n",
        (),
        "eval",
    ),
    "a half typed key": ("eval.yaml", "name: x\nski\ntasks:\n  - tasks/*.yaml\n", ("tasks",), "eval"),
    "a task": ("anything.yaml", "id: a\nname: A\ninputs:\n  prompt: Do it\n", (), "task"),
    "a task without a name": ("anything.yaml", "id: a\ninputs: {prompt: Do it}\n", (), "task"),
    "an action": ("action.yml", ACTION, (), None),
    "a form": ("form.yaml", "name: Form\ninputs:\n  prompt: What is it?\n", (), None),
    "triggers of another tool": ("trigger_tests.yaml", "jobs:\n  a: b\n", (), None),
    "a project config": (".waza.yaml", "- not a mapping\n", (), "project_config"),
    "a project file of Vally": (".vally.yaml", "paths: {skills: [skills]}\n", (), "vally_project"),
    "nearly its name": ("vally.yaml", "paths: {skills: [skills]}\n", (), None),
    "JSON": ("eval.json", SUITE, (), None),
    "Markdown": ("README.md", SUITE, (), None),
}


@pytest.mark.parametrize(("name", "text", "siblings", "expected"), CLAIMS.values(), ids=CLAIMS)
def test_a_file_has_the_kind_that_its_name_and_keys_show(
    name: str, text: str, siblings: tuple[str, ...], expected: str | None
) -> None:
    assert kind(name, text, *siblings) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("version: 1\ntasks:\n  - id: a\n    prompt: Do it\n    checks: [x]\n", None),
        ("version: 1\ntasks: [build, test]\n", None),
        ("version: 1\ntasks:\n  - build # see tasks/*.yaml\n", None),
        ("version: 1\ntasks: []\n", "eval"),
        ("version: 1\ntasks:\n", "eval"),
        ("version: 1\ntasks: [one.yaml]\n", "eval"),
        ("name: x\ntasks: [build]\n", "eval"),
        ("version: 1\ntasks:\n  - tasks/*.yaml\n", "eval"),
        ("tasks:\n  - id: a\n    inputs: {prompt: x}\n", "eval"),
    ],
)
def test_tasks_alone_beside_a_skill_are_files_or_have_inputs(text: str, expected: str | None) -> None:
    assert kind("eval.yaml", text, "SKILL.md") == expected


@pytest.mark.parametrize("name", ["eval.yaml", "eval.yml", "wazaEval.yaml"])
def test_an_eval_file_with_a_skill_and_tasks_is_claimed(name: str) -> None:
    assert kind(name, SUITE) == "eval"


@pytest.mark.parametrize("tasks", ["- t", "- task_files: [tasks/*.yaml]", "task_files: [tasks/*.yaml]"])
def test_a_skill_and_tasks_by_name_or_by_files_are_enough(tasks: str) -> None:
    assert kind("eval.yaml", f"name: x\nskill: my-skill\ntasks:\n  {tasks}\n") == "eval"


@pytest.mark.parametrize("sibling", ["tasks", "SKILL.md", ".waza.yaml", "trigger_tests.yaml"])
def test_an_empty_eval_file_is_claimed_beside_a_part_of_a_suite(sibling: str) -> None:
    assert kind("eval.yaml", "", sibling) == "eval"
    assert kind("eval.yaml", "# my suite\n", sibling) == "eval"


@pytest.mark.parametrize(
    "text",
    [
        "name: x\nskill: y\ngraders:\n  - type: te\n    na\n",
        "name: x\nskill: y\ntasks:\n  - 'tasks/*.yaml\n",
        'skill: "y\ngraders:\n',
        "\ufeffskill: y\r\ntasks:\r\n- tasks/*.yaml\r\n",
        "{skill: y, tasks: [tasks/*.yaml]}",
    ],
)
def test_half_typed_and_odd_evals_stay_claimed(text: str) -> None:
    assert kind("eval.yaml", text) == "eval"


@pytest.mark.parametrize(
    "blocks",
    [
        "cases:\n  - prompt: x\n",
        "evals:\n  - prompt: x\nparity_test: {enabled: true}\n",
        "execution: {mode: batch}\ninputs: {tools: []}\njudges: []\n",
    ],
)
def test_blocks_that_no_suite_has_are_another_tools_also_beside_a_skill(blocks: str) -> None:
    head = "name: x\nskill: y\nversion: 1\n"
    assert kind("eval.yaml", f"{head}{blocks}", "SKILL.md") is None
    assert kind("eval.yaml", head, "SKILL.md") == "eval"
    assert kind("eval.yaml", f"{head}{blocks}confg: {{}}\n", "SKILL.md") == "eval"
    assert kind("eval.yaml", f"{head}{blocks}hooks: {{}}\n", "SKILL.md") == "eval"


@pytest.mark.parametrize(
    "text",
    [
        "version: 1\nmetrics: [accuracy, f1]\n",
        "name: x\nmetrics:\n  - accuracy # of answers\n",
        "graders:\n  accuracy:\n    threshold: 1\ncases: []\n",
        "name: x\ninput: What is it?\nassertions: [short]\n",
    ],
)
def test_words_that_other_tools_have_too_are_no_suite_beside_a_skill(text: str) -> None:
    assert kind("eval.yaml", text, "SKILL.md") is None


@pytest.mark.parametrize(
    "text",
    [
        "name: x\nmetrics:\n  - name: accuracy\n",
        "name: x\ngraders: []\n",
        "name: x\ngraders:\n  - type: text\n",
        "skill: y\nmetrics: [accuracy]\n",
        "name: x\nconfg: {}\n",
    ],
)
def test_a_suite_that_has_only_begun_is_claimed_beside_a_skill(text: str) -> None:
    assert kind("eval.yaml", text, "SKILL.md") == "eval"


@pytest.mark.parametrize("word", ["tests", "evaluators"])
def test_one_key_in_the_words_of_another_tool_leaves_a_suite_a_suite(word: str) -> None:
    suite = "name: a\nskill: b\nconfig:\n  trials_per_task: 1\ngraders: []\n"
    assert kind("eval.yaml", f"{suite}{word}:\n  - x\n") == "eval"
    assert kind("eval.yaml", f"{suite}{word}:\n  - x\nproviders: [y]\n") is None
    assert kind("eval.yaml", f"name: a\nconfig:\n  runs: 1\n{word}:\n  - x\n") is None


LOOK_ALIKES = {
    "skillgrade": """\
        version: "1"
        skill: ../skills/update-guide
        defaults:
          agent: claude
          trials: 15
        tasks:
          - name: v21-to-v22
            instruction: instruction.md
            graders:
              - type: deterministic
                run: node graders/check.mjs
        """,
    "a manifest of cases": """\
        name: template-compliance
        version: 3
        skill: ../SKILL.md
        tasks:
          - id: compliant
            file: tasks/compliant.yaml
        coverage:
          routing: [compliant]
        """,
    "an experiment with people": """\
        stimuli:
          - name: left
            image: left.png
        conditions: [a, b]
        """,
    "a training config": """\
        model:
          name: resnet
        batch_size: 32
        metrics: [accuracy]
        """,
    "a list": "- one\n- two\n",
    "skill-validator": "scenarios:\n  - name: a\n    prompt: p\n",
    "a Vally experiment": "name: e\nevals: [a.yaml]\nbaseline: a\nvariants:\n  a: {}\n",
    "a trigger list": "- query: q\n  should_trigger: true\n",
    "evals.json": "skill_name: x\nevals:\n  - prompt: p\n",
}


@pytest.mark.parametrize("tool", LOOK_ALIKES)
def test_eval_files_of_other_tools_are_left_alone(tool: str) -> None:
    assert kind("eval.yaml", LOOK_ALIKES[tool]) is None


@pytest.mark.parametrize("tool", list(LOOK_ALIKES)[-5:])
def test_they_are_left_alone_beside_a_skill_too(tool: str) -> None:
    assert kind("eval.yaml", LOOK_ALIKES[tool], "SKILL.md") is None


VALLY = """\
    name: test-writer-eval
    description: Evaluate the skill
    type: capability
    config:
      runs: 1
    stimuli:
      - name: basic
        prompt: Write tests
        graders:
          - type: file-exists
    """


@pytest.mark.parametrize("name", ["eval.yaml", "eval.yml", "a.eval.yaml", "eval.vally.yaml", "basic.yaml"])
def test_an_eval_file_of_vally_is_claimed_by_its_content(name: str) -> None:
    assert kind(name, VALLY) == "vally_eval"
    assert kind(name, VALLY, "SKILL.md") == "vally_eval"
    assert kind(name, f"tasks: [tasks/*.yaml]\n{dedent(VALLY)}") != "vally_eval"


@pytest.mark.parametrize("text", ["stimuli:\n", "stimuli:\n  - name: a\n", "stimuli:\n  - na"])
def test_a_vally_file_that_is_being_written_is_claimed_by_its_name_as_well(text: str) -> None:
    assert kind("a.eval.yaml", text) == "vally_eval"
    assert kind("experiment.yaml", text) is None


@pytest.mark.parametrize(
    "text",
    [
        "stimuli:\n  - name: left\n    prompt: Which is larger?\n    duration: 500\n",
        "stimuli:\n  - name: left\n    file: left.wav\ngraders: [ann, bob]\n",
        "stimuli: [a, b]\nprompt: Rate it.\n",
    ],
)
def test_stimuli_of_other_experiments_are_left_alone(text: str) -> None:
    assert kind("experiment.yaml", text) is None
    assert kind("stimuli/set1.yml", text) is None


def test_a_file_that_a_suite_picks_up_is_a_task_whatever_it_says() -> None:
    assert kind("odd.yaml", "prompt: Do it\n", in_suite=True) == "task"
    assert kind("odd.yaml", "", in_suite=True) == "task"


def test_a_file_in_tasks_beside_an_eval_is_a_task() -> None:
    assert kind("new.yaml", "", next_to_eval=True) == "task"
    assert kind("new.yaml", "na\n", next_to_eval=True) == "task"
    assert kind("new.yaml", "steps:\n  - run: x\n", next_to_eval=True) is None


@pytest.mark.parametrize(
    "text",
    [
        "skill: x\nshould_trigger_prompts:\n  - prompt: a\n",
        "shouldTriggerPrompts:\n  - a\n",
        "skill: x\n",
        "",
    ],
)
def test_a_trigger_file_is_claimed(text: str) -> None:
    assert kind("trigger_tests.yaml", text) == "trigger_tests"
