"""Rubrics: those that come with the engine, files, and how their ratings become scores."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import StartModel
from tests.engine.graders.grading import folder, refused, result
from tests.engine.graders.judging import judged, passes, verdicts
from waza_engine.graders.judging.judges import seconds_of
from waza_engine.graders.judging.ratings import scale_for
from waza_engine.graders.judging.rubrics import RubricError, built_in, built_in_names, load_rubric
from waza_engine.graders.judging.scales import RatingError, linear, scale_of
from waza_engine.graders.registry import create
from waza_engine.vocabulary import ToolCall

ROOT = Path(__file__).parents[3]
VERDICT_RUBRICS = (
    "groundedness",
    "helpfulness",
    "instruction-following",
    "refusal-correctness",
    "tool-use-appropriateness",
)
FIVE = {1: 0.0, 2: 0.25, 3: 0.5, 4: 0.75, 5: 1.0}
TEMPLATES: dict[str, tuple[str, dict[Any, float]]] = {
    "intent_resolution": ("score", FIVE),
    "response_completeness": ("score", FIVE),
    "task_adherence": ("flagged", {False: 1.0, True: 0.0}),
    "task_completion": ("success", {True: 1.0, False: 0.0}),
    "tool_call_accuracy": ("tool_calls_success_level", FIVE),
    "tool_input_accuracy": ("result", {0: 0.0, 1: 1.0}),
    "tool_output_utilization": ("label", {0: 0.0, 1: 1.0}),
    "tool_selection": ("score", {0: 0.0, 1: 1.0}),
}
LEVELS = [
    (name, field, raw, score) for name, (field, table) in TEMPLATES.items() for raw, score in table.items()
]


def test_thirteen_rubrics_come_with_the_engine() -> None:
    assert built_in_names() == (*VERDICT_RUBRICS, *TEMPLATES)


@pytest.mark.parametrize("name", VERDICT_RUBRICS)
def test_rubrics_for_verdicts(name: str) -> None:
    rubric = built_in(name)
    assert rubric.details == {
        "name": name,
        "version": "1.0.0",
        "scale": "pass-fail",
        "source": f"builtin:{name}",
    }
    assert "set_waza_grade_pass" in rubric.text
    assert "set_waza_grade_fail" in rubric.text


@pytest.mark.parametrize(("name", "field", "raw", "score"), LEVELS)
def test_every_level_of_every_template(
    name: str, field: str, raw: Any, score: float, scripted_model: StartModel
) -> None:
    verdict = judged(
        scripted_model(json.dumps({field: raw, "explanation": "so"})), "prompt", {"rubric": name}
    )
    assert result(verdict) == (score, score >= 0.75)
    assert verdict.details["score_field"] == field
    assert verdict.details["rubric"]["source"] == f"builtin:{name}"


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_tells_the_judge_everything(name: str, scripted_model: StartModel) -> None:
    model = scripted_model("{}")
    with refused("no rating"):
        judged(
            model,
            "prompt",
            {"rubric": name},
            prompt="THE TASK",
            output="THE ANSWER",
            reference="THE REFERENCE",
            tool_calls=[ToolCall("the_tool", {"x": 1})],
            transcript=[
                {"type": "user.message", "content": "THE TASK"},
                {"type": "tool.execution_start", "tool_name": "the_tool", "arguments": {"x": 1}},
                {"type": "assistant.message", "content": "THE ANSWER"},
            ],
        )
    asked = model.requests[0].prompt
    field, _ = TEMPLATES[name]
    wanted = ["THE TASK", "THE ANSWER", f"`{field}`", "## Criteria", "## Ratings", "one JSON object"]
    wanted += ["THE REFERENCE"] if name == "response_completeness" else []
    wanted += ["the_tool"] if name.startswith("tool") else []
    for words in wanted:
        assert words in asked
    assert "normalized" not in asked


@pytest.mark.parametrize("name", TEMPLATES)
def test_off_the_scale_of_a_template_is_an_error(name: str, scripted_model: StartModel) -> None:
    field, _ = TEMPLATES[name]
    with refused("the judge rated 7", "not on the scale"):
        judged(scripted_model(json.dumps({field: 7})), "prompt", {"rubric": name})


@pytest.mark.parametrize("words", ["true", "PASS", "Yes", 1, 1.0])
def test_a_judge_may_say_true_in_other_words(words: Any, scripted_model: StartModel) -> None:
    model = scripted_model(json.dumps({"success": words}))
    assert judged(model, "prompt", {"rubric": "task_completion"}).score == 1.0


def test_a_judge_may_name_the_label_of_a_level(scripted_model: StartModel) -> None:
    model = scripted_model(json.dumps({"score": "Mostly resolved"}))
    assert judged(model, "prompt", {"rubric": "intent_resolution"}).score == 0.75


# --- where a rubric is written ---


def test_the_documentation_lists_every_rubric() -> None:
    page = (ROOT / "docs" / "rubrics.md").read_text("utf-8")
    for name in built_in_names():
        assert f"`{name}`" in page
    for name, (field, table) in TEMPLATES.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}`"))
        assert f"`{field}`" in row
        assert scale_for(built_in(name)).text in row.replace("–", "-"), (row, table)


@pytest.mark.parametrize("written", ["./r", "r.md", "sub/r.md", "sub/with blank.md", "./gone/r.md"])
def test_a_path_that_leads_nowhere_is_an_error(written: str, tmp_path: Path) -> None:
    grader = create({"type": "prompt", "name": "g", "config": {"rubric": written}})
    assert "does not exist" in grader.notices(tmp_path)[0]


def test_a_rubric_is_found_beside_the_eval_file_and_above_it(tmp_path: Path) -> None:
    folder(
        tmp_path, {"evals/a/own.md": "Own.", "evals/shared/both.md": "Shared.", "evals/a/here.md": "Near."}
    )
    folder(tmp_path, {"evals/here.md": "Far."})
    (tmp_path / ".git").mkdir()
    suite = tmp_path / "evals" / "a"
    assert load_rubric("own.md", suite).text == "Own."
    assert load_rubric("here.md", suite).text == "Near."
    assert load_rubric("../shared/both.md", suite).text == "Shared."
    assert load_rubric("evals/shared/both.md", suite).text == "Shared."
    assert load_rubric(str(tmp_path / "evals/here.md"), suite).text == "Far."


def test_the_home_directory_holds_no_rubrics_of_a_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    folder(tmp_path, {"r.md": "At home."})
    with pytest.raises(RubricError, match=r"`~/r\.md` leads out of"):
        load_rubric("~/r.md", tmp_path / "suite")


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("groundednes", ["no rubric called `groundednes`", "did you mean `groundedness`"]),
        ("task-completion", ["did you mean `task_completion`"]),
        ("quality", ["no rubric called `quality`", "`rubrics/quality.md`", "helpfulness"]),
    ],
)
def test_a_word_that_names_nothing(written: str, words: list[str], tmp_path: Path) -> None:
    grader = create({"type": "prompt", "config": {"rubric": written}})
    for word in words:
        assert word in grader.notices(tmp_path)[0]


def test_a_word_may_be_the_rubric_of_the_older_form(scripted_model: StartModel) -> None:
    model = scripted_model('{"score": 4}')
    assert judged(model, "llm", {"rubric": "Correctness"}).score == 0.75


LOOK = "evaluation_criteria: Look.\n"
HEAD = "---\nname: x\nversion: 1.0.0\ndescription: d\nscale: 1-5\n"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("r.yaml", "a: [1", ["r.yaml, line"]),
        ("r.yaml", "- a", ["line 1", "must be a block of keys"]),
        ("r.yaml", "name: x\n", ["tells the judge nothing"]),
        ("r.yaml", LOOK + "score_normalization: {type: ordinal}\n", ["line 2", "`raw_min`"]),
        ("r.yaml", LOOK + "score_normalization: {raw_min: 5, raw_max: 1}\n", ["must be less than"]),
        ("r.yaml", LOOK + "score_normalization: {mapping: {1: 0, 5: 2}}\n", ["score 2", "0 to 1"]),
        ("r.yaml", LOOK + "score_normalization: {mapping: {1: a}}\n", ["no number as its score"]),
        (
            "r.yaml",
            "score_normalization: {mapping: {1: 0, 5: 1}}\n"
            "rating_levels:\n- {value: 5, normalized_score: 0.9, description: x}\n",
            ["the level 5 has the score 0.9", "gives 1"],
        ),
        ("r.yaml", "rating_levels:\n- {label: x}\n", ["line 2", "no `value`"]),
        ("r.yaml", LOOK + "input_mapping: [a]\n", ["`input_mapping` must be a block"]),
        ("r.yaml", LOOK + "score_field: a\noutput_schema: {properties: {b: {}}}\n", ["no field `a`"]),
        ("r.yaml", "rating_levels:\n  good: fine\n  bad: not\n", ["need scores"]),
        ("r.md", "---\nname: x\n", ["no closing line"]),
        ("r.md", "---\n- a\n---\nx", ["block of keys"]),
        ("r.md", HEAD.replace("1-5", "1-10") + "---\nx", ["line 5", "`1-10`"]),
        ("r.md", HEAD.replace("1.0.0", "one") + "---\nx", ["`one` is no version"]),
        ("r.md", HEAD.replace("description: d\n", "") + "---\nx", ["no `description`"]),
        ("r.md", HEAD + "---\n", ["no text below"]),
        ("r.md", HEAD + "goldens: [{name: g, output: o, expected: maybe}]\n---\nx", ["`pass` or `fail`"]),
        ("r.md", " ", ["empty"]),
        ("r.txt", "", ["empty"]),
    ],
)
def test_a_broken_rubric_says_where_and_what(
    name: str, content: str, words: list[str], tmp_path: Path
) -> None:
    folder(tmp_path, {name: content})
    grader = create({"type": "prompt", "config": {"rubric": name}})
    for word in words:
        assert word in grader.notices(tmp_path)[0]
    assert "\n" not in grader.notices(tmp_path)[0]


def test_a_rubric_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "r.md").write_bytes(b"\xff\xfa\x01")
    assert "not UTF-8" in create({"type": "prompt", "config": {"rubric": "r.md"}}).notices(tmp_path)[0]


# --- Markdown rubrics ---

MARKDOWN = "---\nname: tone\nversion: 2.1.0\nscale: {}\ndescription: Tone.\n---\n\nIs it kind?\n"


def test_a_markdown_rubric_asks_for_verdicts(scripted_model: StartModel, tmp_path: Path) -> None:
    folder(tmp_path, {"tone.md": MARKDOWN.format("pass-fail")})
    model = scripted_model(*verdicts(passes()))
    context = {"suite_directory": tmp_path, "output": "THE ANSWER", "prompt": "THE TASK"}
    verdict = judged(model, "prompt", {"rubric": "./tone.md"}, **context)
    assert result(verdict) == (1.0, True)
    assert verdict.details["rubric"] == {
        "name": "tone",
        "version": "2.1.0",
        "scale": "pass-fail",
        "source": "file:./tone.md",
    }
    asked = model.requests[0].prompt
    assert asked.startswith("Is it kind?")
    assert "THE TASK" in asked
    assert "THE ANSWER" in asked
    assert "Give your verdict with the tools" in asked


def test_prompt_and_rubric_are_both_sent(scripted_model: StartModel, tmp_path: Path) -> None:
    folder(tmp_path, {"tone.md": MARKDOWN.format("1-5")})
    model = scripted_model(*verdicts(passes()))
    config = {"prompt": "Mind irony.", "rubric": "tone.md"}
    judged(model, "prompt", config, suite_directory=tmp_path)
    assert model.requests[0].prompt.startswith("Mind irony.\n\nIs it kind?")


def test_a_markdown_rubric_from_1_to_5_rates_when_a_key_of_that_form_is_given(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    folder(tmp_path, {"tone.md": MARKDOWN.format("1-5")})
    model = scripted_model(*verdicts(passes()), '{"score": 3}')
    verdict = judged(model, "prompt", {"rubric": "tone.md"}, suite_directory=tmp_path)
    assert result(verdict) == (1.0, True)
    rated = judged(model, "prompt", {"rubric": "tone.md", "threshold": 0.5}, suite_directory=tmp_path)
    assert result(rated) == (0.5, True)


def test_a_markdown_file_without_frontmatter_is_a_rubric_in_words(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    folder(tmp_path, {"r.md": "Rate the tone from 1 to 10."})
    model = scripted_model('{"score": 10}')
    assert judged(model, "prompt", {"rubric": "r.md"}, suite_directory=tmp_path).score == 1.0


def test_a_threshold_beside_a_rubric_for_pass_and_fail_is_told_before_the_run(tmp_path: Path) -> None:
    grader = create({"type": "prompt", "config": {"rubric": "helpfulness", "threshold": 0.8}})
    assert grader.notices(tmp_path) == (
        "`threshold` has no effect: the rubric `helpfulness` asks for pass or fail, not for a rating",
    )


# --- YAML rubrics of other shapes ---


@pytest.mark.parametrize(
    ("text", "reply", "score"),
    [
        ("score_normalization: {raw_min: 0, raw_max: 10}", {"score": 7}, 0.7),
        ("score_normalization: {raw_min: 1, raw_max: 5, normalized_min: 0.2}", {"score": 1}, 0.2),
        ("score_normalization: {method: linear, mapping: {1: 0, 5: 1}}", {"score": 2}, 0.25),
        ("score_normalization: {mapping: {low: 0, mid: 0.4, high: 1}}", {"score": "Mid"}, 0.4),
        ("score_normalization: {type: binary, values: [true, false]}", {"score": False}, 0.0),
        ("score_normalization: {type: binary, values: [0, 1]}", {"score": 1}, 1.0),
        ("score_type: binary", {"score": "yes"}, 1.0),
        ("score_type: binary_flag", {"score": True}, 0.0),
        ("rating_levels: {0: none, 1: some, 2: all}", {"score": 1}, 0.5),
        (
            "rating_levels: [{value: a, normalized_score: 0}, {value: b, normalized_score: 0.8}]",
            {"score": "b"},
            0.8,
        ),
        ("scale: 1-10", {"score": 10}, 1.0),
        (
            "score_field: verdict\noutput_schema: {verdict: number, score: number}",
            {"verdict": 5, "score": 1},
            1.0,
        ),
        (
            "name: depth\noutput_format: {schema: {properties: {depth_score: {type: integer}}}}",
            {"depth_score": 2},
            0.25,
        ),
        ("output_schema: {notes: string, points: integer}", {"points": 5, "notes": "3"}, 1.0),
    ],
)
def test_other_shapes_of_yaml_rubrics(
    text: str, reply: dict[str, Any], score: float, scripted_model: StartModel, tmp_path: Path
) -> None:
    folder(tmp_path, {"r.yaml": f"{LOOK}{text}\n"})
    verdict = judged(
        scripted_model(json.dumps(reply)), "prompt", {"rubric": "r.yaml"}, suite_directory=tmp_path
    )
    assert verdict.score == pytest.approx(score)


def test_an_input_that_nobody_knows_is_noted(scripted_model: StartModel, tmp_path: Path) -> None:
    mapping = (
        "input_mapping: {answer: context.output, mood: context.weather, level: '${context.metadata.level}'}"
    )
    folder(tmp_path, {"r.yaml": f"{LOOK}{mapping}\n"})
    model = scripted_model('{"score": 5}')
    context = {"suite_directory": tmp_path, "output": "THE ANSWER", "metadata": {"level": "hard"}}
    verdict = judged(model, "prompt", {"rubric": "r.yaml"}, **context)
    assert verdict.details["notes"] == [
        "`context.weather`, the source of the rubric's input `mood`, is not known"
    ]
    assert "THE ANSWER" in model.requests[0].prompt
    assert "hard" in model.requests[0].prompt


# --- scales ---

numbers = st.floats(min_value=-1000, max_value=1000, allow_nan=False)
scores = st.floats(min_value=0, max_value=1, allow_nan=False)


@given(
    numbers, numbers, scores, scores, st.floats(min_value=0, max_value=1), st.floats(min_value=0, max_value=1)
)
def test_scores_stay_between_0_and_1_and_keep_the_order(
    low: float, high: float, one: float, other: float, here: float, there: float
) -> None:
    if high - low < 1e-6:
        return
    scale = linear(low, high, min(one, other), max(one, other))
    ratings = sorted(min(high, max(low, low + share * (high - low))) for share in (here, there))
    less, more = (scale.score(scale.rating(rating)) for rating in ratings)
    assert 0 <= less <= more + 1e-12 <= 1 + 1e-12


@given(st.dictionaries(st.integers(-100, 100), scores, min_size=2))
def test_every_point_of_a_table_has_its_score(table: dict[int, float]) -> None:
    scale = scale_of(dict(sorted(table.items())))
    for rating, score in table.items():
        assert scale.score(scale.rating(rating)) == score
    for outside in (min(table) - 1, max(table) + 1, math.inf, math.nan):
        with pytest.raises(RatingError):
            scale.rating(outside)


@given(st.text())
def test_no_text_breaks_the_reader_of_replies(text: str) -> None:
    from waza_engine.graders.judging.replies import read_reply

    try:
        found = read_reply(text, linear(1, 5))
    except RatingError:
        return
    assert 1 <= found.rating <= 5


# --- the time limit ---


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("90", 90),
        ("1m30s", 90),
        ("500ms", 0.5),
        ("1.5h", 5400),
        (".5s", 0.5),
        ("+2m", 120),
        (" 10 ", 10),
        ("0", None),
        ("0s", None),
        ("-5", None),
        ("-5s", None),
        ("1.5", None),
        ("5 s", None),
        ("soon", None),
        ("", None),
        ("99999999999999", 604800),
    ],
)
def test_durations(written: str, seconds: float | None) -> None:
    assert seconds_of(written) == seconds


def test_a_rubric_of_upstreams_examples_is_the_one_that_comes_with_the_engine(tmp_path: Path) -> None:
    for written in ("examples/rubrics/task_adherence.yaml", "../../examples/rubrics/task_adherence.yaml"):
        assert load_rubric(written, tmp_path).source == "builtin:task_adherence"
    with pytest.raises(RubricError, match="does not exist"):
        load_rubric("examples/rubrics/no_such.yaml", tmp_path)
    own = tmp_path / "examples" / "rubrics" / "task_adherence.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("name: mine\nevaluation_criteria: Rate it.\n", "utf-8")
    assert load_rubric("examples/rubrics/task_adherence.yaml", tmp_path).source != "builtin:task_adherence"
