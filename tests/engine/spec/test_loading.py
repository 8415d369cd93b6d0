"""Suite files become models: what has no effect is a warning, what cannot run is one sentence at its line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.shared_corpus import needs_corpus, suite_files
from waza_engine.spec.loading import (
    find_project_config,
    load_eval_file,
    load_project_config,
    load_task_file,
    load_trigger_tests,
)
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.yaml_faults import SECOND_DOCUMENT

SUITE = """\
name: explainer
config:
  trials_per_task: 2
  timeout_seconds: 60
  executor: mock
tasks: [tasks/*.yaml]
"""
TASK = """\
id: explain
inputs:
  prompt: Explain this
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def write_file(text: str) -> Path:
        path = tmp_path / "suite.yaml"
        path.write_text(text, "utf-8")
        return path

    return write_file


Write = Callable[[str], Path]


def error_of(load: Callable[[Path], Any], path: Path) -> str:
    with pytest.raises(SuiteFileError) as caught:
        load(path)
    assert caught.value.path == path
    return f"{caught.value.line}: {caught.value.message}"


def test_a_suite_becomes_a_model(write: Write) -> None:
    suite, warnings = load_eval_file(write(SUITE))
    assert (suite.name, suite.config.trials_per_task, suite.tasks) == ("explainer", 2, ("tasks/*.yaml",))
    assert warnings == ()


def test_what_is_not_written_has_its_default(write: Write) -> None:
    suite, _ = load_eval_file(write(SUITE))
    assert suite.config.inject_skill_body is True
    assert suite.config.workers == 0
    assert suite.hooks.before_run == ()
    assert suite.schema_version == "1.5"


def test_a_key_without_a_value_counts_as_absent(write: Write) -> None:
    suite, warnings = load_eval_file(write(f"{SUITE}graders:\nhooks:\nmetrics: ~\nbaseline:\n"))
    assert (suite.graders, suite.metrics, suite.baseline, warnings) == ((), (), False, ())


def test_text_is_kept_as_it_is_written(write: Write) -> None:
    suite, _ = load_eval_file(write(f"{SUITE}version: 1.10\nskill: 007\n"))
    assert (suite.version, suite.skill) == ("1.10", "007")


def test_an_unknown_key_is_a_warning_and_ignored(write: Write) -> None:
    suite, warnings = load_eval_file(write(f"{SUITE}task_patterns: ['**']\nowner: me\n"))
    assert suite.name == "explainer"
    assert [f"{warning.line}: {warning.message}" for warning in warnings] == [
        "7: `task_patterns` is not a known key and has no effect; write `tasks`",
        "8: `owner` is not a known key and has no effect",
    ]


def test_unknown_keys_deep_inside_are_warnings_too(write: Write) -> None:
    text = f"{TASK}  cwd: x\nexpected:\n  outcomes:\n    - {{type: done, tool_name: bash}}\n"
    _, warnings = load_task_file(write(text))
    assert [f"{warning.line}: {warning.message}" for warning in warnings] == [
        "4: `inputs.cwd` is not a known key and has no effect; write `workdir`",
        "7: `expected.outcomes[0].tool_name` is not a known key and has no effect",
    ]


def test_a_second_document_is_a_warning(write: Write) -> None:
    task, warnings = load_task_file(write(f"{TASK}---\nid: lost\n"))
    assert task.id == "explain"
    assert [(warning.line, warning.message) for warning in warnings] == [(4, SECOND_DOCUMENT)]


def test_an_unknown_key_of_trigger_tests_is_an_error(write: Write) -> None:
    path = write("skill: explainer\nshouldTriggerPrompts: [Explain]\n")
    assert error_of(load_trigger_tests, path) == (
        "2: `shouldTriggerPrompts` is not a key of this file; write `should_trigger_prompts`"
    )


def test_a_trigger_prompt_of_plain_text_is_an_error(write: Write) -> None:
    path = write("skill: explainer\nshould_trigger_prompts:\n  - prompt: Explain\n  - Explain this\n")
    assert error_of(load_trigger_tests, path) == (
        "4: `should_trigger_prompts[1]` must be a block; write `- prompt: …` instead of the text alone"
    )


@pytest.mark.parametrize(
    ("written", "meant"),
    [("yes", True), ("on", True), ("Y", True), ("no", False), ("'off'", False), ("n", False), ("True", True)],
)
def test_a_switch_takes_the_words_that_upstream_takes(write: Write, written: str, meant: bool) -> None:
    task, warnings = load_task_file(write(f"{TASK}golden: {written}\n"))
    assert (task.golden, warnings) == (meant, ())


@pytest.mark.parametrize("written", ["Yes", "ON", "maybe", "1", "''"])
def test_a_switch_takes_no_other_word(write: Write, written: str) -> None:
    assert error_of(load_task_file, write(f"{TASK}golden: {written}\n")).endswith(
        "`golden` must be `true` or `false`"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tasks: [a.yaml]\n", "1: `config` is missing"),
        (SUITE.replace("  executor: mock\n", ""), "2: `config.executor` is missing"),
        (SUITE.replace(": 2", ": 0"), "3: `config.trials_per_task` must be 1 or more"),
        (SUITE.replace(": 60", ": fast"), "4: `config.timeout_seconds` must be a whole number"),
        (
            SUITE.replace("[tasks/*.yaml]", "tasks/*.yaml"),
            "6: `tasks` must be a list, each item on its own line after `- `",
        ),
        (
            f"{SUITE}range: [5, 1]\n",
            "7: `range` must be two row numbers, the first not greater than the second, such as `[1, 10]`",
        ),
        (
            f"{SUITE}schemaVersion: '3.0'\n",
            '7: `schemaVersion` must be a format version, such as `"1.5"`, or `"2.0"` beside `scenario`',
        ),
        (f"{SUITE}baseline: maybe\n", "7: `baseline` must be `true` or `false`"),
        (
            f"{SUITE}hooks:\n  before_run:\n    - command: ' '\n",
            "9: `hooks.before_run[0].command` must not be blank",
        ),
        (
            f"{SUITE}adversarial:\n  packs: [a]\n  on_unsafe_outcome: ignore\n",
            "9: `adversarial.on_unsafe_outcome` is `ignore`, which is not one of `fail` or `warn`",
        ),
        (
            f"{SUITE}mcp_mocks:\n  - {{name: a, fixtures: x}}\n  - {{name: a, fixtures: y}}\n",
            "7: `mcp_mocks`: the name `a` occurs twice; give every mock its own name",
        ),
        (f"{SUITE}graders: [contains]\n", "7: `graders[0]` must be a block of keys, one `key: value` a line"),
        (
            SUITE.replace("tasks: [tasks/*.yaml]\n", ""),
            "1: give at least one of `tasks` or `tasks_from`",
        ),
        ("- a\n", "1: the file must be a block of keys, one `key: value` a line"),
        ("", "1: the file is empty"),
        ("# nothing\n", "1: the file is empty"),
    ],
)
def test_what_cannot_run_is_one_sentence_at_its_line(write: Write, text: str, message: str) -> None:
    assert error_of(load_eval_file, write(text)) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prompt: Explain\n", "1: `inputs` is missing"),
        (
            f"{TASK}checkpoints:\n  - {{after_turn: 2, graders: [{{type: text}}]}}\n",
            "5: `checkpoints[0].after_turn` is turn 2, but the conversation has 1: "
            "add `follow_up_prompts` or a `responder`",
        ),
        (
            f"{TASK}checkpoints:\n- {{after_turn: 1, graders: [{{type: text}}]}}\n"
            "- graders: [{type: text}]\n  after_turn: 1\n",
            "7: `checkpoints[1].after_turn` is turn 1, as that of another checkpoint; "
            "put the graders of both into one",
        ),
        (f"{TASK}  prompt_file: a.md\n", "2: `inputs`: give `prompt` or `prompt_file`, not both"),
        (f"{TASK}  files: [{{path: ok}}, 3, []]\n", "4: `inputs.files[2]` must be text"),
        (f"{TASK}  workdir: ../out\n", "4: `inputs.workdir` must be a relative path without `..`"),
    ],
)
def test_a_task_that_cannot_run_is_one_sentence_at_its_line(write: Write, text: str, message: str) -> None:
    assert error_of(load_task_file, write(text)) == message


@pytest.mark.parametrize(
    "address",
    [
        "localhost:11434",
        "ftp://x/v1",
        "http://",
        "http://x:port/v1",
        "v1",
        "http://a b/v1",
        "http://me:secret@127.0.0.1/v1",
        "http://127.0.0.1/v1?key=secret",
        "http://127.0.0.1/v1#secret",
    ],
)
def test_what_is_no_address_of_a_provider_is_not_repeated(write: Write, address: str) -> None:
    text = SUITE.replace("mock\n", f"openai\n  provider: {{base_url: '{address}'}}\n")
    message = error_of(load_eval_file, write(text))
    assert message.startswith("6: `config.provider.base_url` must be a web address without a password")
    assert "secret" not in message


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:11434/v1",
        "https://api.openai.com",
        "http://[::1]:8080/v1/",
        "http://localhost/a%20b",
    ],
)
def test_an_address_of_a_provider(write: Write, address: str) -> None:
    text = SUITE.replace("mock\n", f"openai\n  provider: {{base_url: '{address}'}}\n")
    suite, _ = load_eval_file(write(text))
    assert suite.config.provider is not None
    assert suite.config.provider.base_url == address


def test_a_key_in_place_of_its_variable_is_not_repeated(write: Write) -> None:
    block = "{base_url: 'http://x/v1', api_key_env: sk-secret-123}"
    message = error_of(load_eval_file, write(SUITE.replace("mock\n", f"openai\n  provider: {block}\n")))
    assert message == ("6: `config.provider.api_key_env` must name an environment variable, not hold the key")


def test_a_broken_grader_does_not_keep_the_suite_from_loading(write: Write) -> None:
    suite, warnings = load_eval_file(write(f"{SUITE}graders:\n  - {{type: no_such, config: {{a: [1]}}}}\n"))
    assert (suite.graders[0].type, suite.graders[0].config) == ("no_such", {"a": [1]})
    assert warnings == ()


def test_settings_come_from_the_nearest_directory(tmp_path: Path) -> None:
    (tmp_path / ".waza.yaml").write_text(
        "graders: {programTimeout: 5}\nfiles: {evalFile: suite.yaml}\n", "utf-8"
    )
    inner = tmp_path / "evals" / "explainer"
    inner.mkdir(parents=True)
    config, warnings = load_project_config(inner)
    assert (config.graders.program_timeout, config.files.eval_file, warnings) == (5, "suite.yaml", ())
    assert find_project_config(inner) == tmp_path.resolve() / ".waza.yaml"


def test_settings_are_not_looked_for_more_than_ten_levels_up(tmp_path: Path) -> None:
    (tmp_path / ".waza.yaml").write_text("graders: {programTimeout: 5}\n", "utf-8")
    deep = tmp_path.joinpath(*"abcdefghij")
    deep.mkdir(parents=True)
    assert find_project_config(deep.parent) is not None
    assert find_project_config(deep) != tmp_path.resolve() / ".waza.yaml"


@pytest.mark.parametrize("text", ["", "# nothing\n"])
def test_an_empty_settings_file_leaves_the_defaults(tmp_path: Path, text: str) -> None:
    (tmp_path / ".waza.yaml").write_text(text, "utf-8")
    config, _ = load_project_config(tmp_path)
    assert (config.graders.program_timeout, config.paths.evals) == (30, "evals/")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n", "1: the file must be a block of keys, one `key: value` a line"),
        ("paths: skills\n", "1: `paths` must be a block of keys, one `key: value` a line"),
        ("defaults:\n  executor: mock\n", "2: `defaults.executor` is not a key of this file; write `engine`"),
        ("files:\n  evalFile: a/b.yaml\n", "2: `files.evalFile` must be a file name without a directory"),
        (
            "tokens:\n  limits:\n    defaults: {'*.md': -1}\n",
            "3: `tokens.limits.defaults.*.md` must be 0 or more",
        ),
    ],
)
def test_broken_settings_are_one_sentence_at_their_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / ".waza.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(SuiteFileError) as caught:
        load_project_config(tmp_path)
    assert f"{caught.value.line}: {caught.value.message}" == message


@needs_corpus
@pytest.mark.parametrize("path", suite_files(), ids=lambda path: "/".join(path.parts[-4:]))
def test_real_files_load_or_say_why_not(path: Path) -> None:
    last_line = path.read_text("utf-8").count("\n") + 1
    for load in (load_eval_file, load_task_file, load_trigger_tests):
        error = failure(load, path)
        assert error is None or 1 <= error.line <= last_line
        for leak in ("Input should", "pydantic", "Extra inputs", "_type", "\n"):
            assert error is None or leak not in error.message


def failure(load: Callable[[Path], Any], path: Path) -> SuiteFileError | None:
    try:
        load(path)
    except SuiteFileError as error:
        return error
    return None


def test_registries_of_upstream_are_no_mistake(tmp_path: Path) -> None:
    (tmp_path / ".waza.yaml").write_text(
        "registries:\n  - name: public\n    url: https://github.com/waza-evals\n"
        "  - name: company\n    url: https://github.com/myorg/evals\n    priority: 10\n"
    )
    project, warnings = load_project_config(tmp_path)
    assert [each.name for each in project.registries] == ["public", "company"]
    assert warnings == ()
