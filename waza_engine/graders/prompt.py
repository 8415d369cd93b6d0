"""The `prompt` grader: a model judges the answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from waza_engine.graders.base import Grader, GraderError, GradingContext, Verdict
from waza_engine.graders.judge import JudgeError, UnusableReplyError
from waza_engine.graders.judging.judges import JudgedConfig, ask, limit_seconds, without_judge
from waza_engine.graders.judging.ratings import (
    DEFAULT_THRESHOLD,
    Rating,
    everything,
    evidence_for,
    rate,
    section,
    task_and_answer,
)
from waza_engine.graders.judging.replies import without_thoughts
from waza_engine.graders.judging.rubrics import Rubric, RubricError, built_in_names, load_rubric
from waza_engine.graders.judging.verdicts import (
    HOW_TO_ANSWER,
    NO_REPLY,
    ChoiceBox,
    CriteriaBox,
    JudgeConfig,
    VerdictBox,
    combine_votes,
    names_tools,
    pairwise_question,
    verdict_of_choices,
)
from waza_engine.graders.registry import register
from waza_engine.spec.block import Conflict, Discouraged, Given, misspelt
from waza_engine.spec.fields import Number, PlainText, Switch, kind
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles

_RATING_KEYS = ("threshold", "score_type", "response_format")


class PromptConfig(JudgedConfig):
    """A prompt with verdict tools, or a rubric with a rating."""

    prompt: Annotated[PlainText, kind("prompt.text")] | None = Field(
        default=None,
        description=(
            "The instructions for the judge. It answers by calling `set_waza_grade_pass` or "
            "`set_waza_grade_fail`, as often as there are criteria."
        ),
        examples=[
            "Is the explanation correct? Call set_waza_grade_pass, or set_waza_grade_fail with your reason."
        ],
    )
    rubric: Annotated[PlainText, kind("rubric")] | None = Field(
        default=None,
        description=(
            "A rubric: its text, a file beside the eval file (`.md` or `.yaml`), or the name of one that "
            "comes with the engine."
        ),
        examples=[*built_in_names(), "rubrics/quality.md", "Rate the correctness from 1 to 5."],
    )
    criteria: tuple[PlainText, ...] = Field(
        default=(),
        description=(
            "Sentences that must be true of the result. One question decides all of them, with evidence for "
            "each. Upstream does not know this key."
        ),
        examples=[["The summary names the total of every month.", "No customer is named."]],
    )
    continue_session: Switch = Field(
        default=False,
        description="Judge inside the agent's own session, so that the judge sees all that happened.",
    )
    mode: Literal["independent", "pairwise"] = Field(
        default="independent",
        description=(
            "`independent` judges this answer; `pairwise` compares it with the answer of a baseline run, "
            "when there is one."
        ),
    )
    reasoning_effort: PlainText | None = Field(
        default=None,
        description="How long the judge may think, as the model names it.",
        examples=["low", "high"],
    )
    judge: JudgeConfig | None = Field(
        default=None,
        description="Ask the judge several times and combine its votes. Upstream does not know this key.",
        examples=[{"votes": 3, "aggregate": "majority"}],
        json_schema_extra={"x-waza-nullable": True},
    )
    threshold: Number | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Rating form: the least score that passes, 0 to 1; 0.75 when it is left out.",
        examples=[0.75],
    )
    score_type: Literal["normalized", "raw"] | None = Field(
        default=None,
        description=(
            "Rating form: `normalized` (the default) turns a rating on the rubric's scale into 0 to 1; `raw` "
            "takes a rating from 0 to 1 as it is."
        ),
    )
    response_format: Literal["json", "text"] | None = Field(
        default=None,
        description="Rating form: the judge answers with an object (`json`, the default), or `Score: N`.",
    )

    conflicts: ClassVar = (
        Conflict(
            ("judge",),
            ("continue_session",),
            "`judge` asks in sessions of its own, and `continue_session` in that of the agent: leave out one",
        ),
    )
    at_least_one: ClassVar = {
        "prompt": Given.WRITTEN,
        "rubric": Given.WRITTEN,
        "criteria": Given.LISTED,
    }
    discouraged: ClassVar = (
        Discouraged(
            _RATING_KEYS,
            ("prompt", "criteria"),
            "it belongs to the rating form, which has a `rubric` and nothing else",
        ),
    )
    misspellings: ClassVar = misspelt(
        {
            "prompt": ("instructions", "text", "question", "query"),
            "criteria": ("assertions", "expectations"),
            "model": ("judge_model", "model_name"),
            "threshold": ("pass_threshold", "min_score"),
        }
    )
    uncertain: ClassVar = frozenset({"text", "min_score"})

    @property
    def votes(self) -> int:
        """Return how many times the judge rates one answer."""
        return 1 if self.judge is None else self.judge.votes

    @property
    def written_rating_keys(self) -> tuple[str, ...]:
        """The keys of the rating form that are given."""
        return tuple(key for key in _RATING_KEYS if getattr(self, key) is not None)


@register
class PromptGrader(Grader[PromptConfig]):
    """Asks a second model to judge the run. It gives verdicts, or it rates.

    **Verdict form** (a `prompt`, or a rubric for pass and fail): the judge calls `set_waza_grade_pass` or
    `set_waza_grade_fail`, once or for every criterion. Score = passes / all verdicts; it passes when there is
    at least one pass and no fail. A judge that calls neither fails the grader with 0 and the words “no
    verdict”. One that refuses, replies nothing, or is cut off is an error of the grader, in every form.

    **Rating form** (a `rubric` in plain words or in a YAML file, without `prompt`): the judge answers with a
    rating, which its scale turns into a score: (rating − 1) / 4 from 1 to 5, unless the rubric says
    otherwise. It passes from `threshold` on; the judge's own verdict is only reported. A reply
    without a rating, or with one that is not on the scale, is an error of the grader, never a score.

    **Criteria form** (a list `criteria`): the judge decides all criteria in one reply, by calling
    `report_criteria` with `passed` and `evidence` for each. Score = criteria that pass / all; it passes when
    all do. A reply that leaves one out, or gives no evidence, is returned to the judge; without a complete
    one it is an error of the grader. A `prompt` or `rubric` next to them is sent as instructions.

    **Pairwise** (`mode: pairwise`): when there is an answer of a baseline run, the judge compares the two
    with `set_pairwise_winner`, twice, with their places swapped. Score = 1 when the answer with the skill
    wins, 0.5 for a tie, 0 when the baseline wins; two answers that contradict each other are a tie. It passes
    unless the baseline wins. Without a baseline the answer is judged on its own, and the feedback says so.

    **Votes:** `judge: {votes: 3}` asks three times, each time in a session of its own, and takes the majority
    (`aggregate`: `majority`, `mean` or `median`). The feedback says how many votes pass and how far their
    scores are apart. A vote without an answer is an error of the grader.

    **Rubrics:** a path ends in `.md` or `.yaml`, starts with `.`, `/` or `~/`, or has a `/` in it, and is
    looked up next to the eval file, then in the folders above it. A single word is a rubric that comes with
    the engine (`docs/rubrics.md`): `groundedness`, `helpfulness`, `instruction-following`,
    `refusal-correctness` and `tool-use-appropriateness` ask for verdicts; `intent_resolution`,
    `response_completeness`, `task_adherence`, `task_completion`, `tool_call_accuracy`, `tool_input_accuracy`,
    `tool_output_utilization` and `tool_selection` for a rating. Everything else is the rubric itself.

    **Worth knowing:**

    - The judge sees the files of the workspace when its executor has tools for that. Without
      `continue_session` it is shown the task and the answer below your prompt; with a rubric the tool calls
      too. With it the judge continues the agent's own session and gets your prompt alone.
    - `prompt` and `rubric` together are both sent, the prompt first.
    - The judge is asked through the executor of the run, in a session of its own, without skills and MCP
      servers. An executor without a model (`mock`, `command`, `replay`) cannot judge: name another one with
      `--judge-executor`.
    - An answer may take 120 seconds; the environment variable `WAZA_PROMPT_GRADER_TIMEOUT` sets another limit
      (`90s`, `2m`, or whole seconds).
    - A judge costs tokens and its verdict may differ from run to run. Write whatever a pattern or an
      assertion can decide as `text` or `code`.
    """

    type = "prompt"
    title = "Judge"
    other_names = ("judge", "llm_judge", "rubric", "model_graded", "llm_rubric", "g_eval")
    config_model = PromptConfig
    entry_keys = ("rubric", "model")
    judged = True
    example = """\
- type: prompt
  name: explanation_quality
  config:
    prompt: |
      Check that the explanation is correct and easy to follow.
      If it is, call set_waza_grade_pass; otherwise call set_waza_grade_fail with your reason.
    model: gpt-4o-mini
"""

    @property
    def longest_seconds(self) -> float:
        """One question, or two of the pairwise form, for each vote."""
        return limit_seconds() * (2 if self.config.mode == "pairwise" else 1) * self._panel.votes

    @property
    def compares(self) -> bool:
        """Return whether it compares two answers."""
        return self.config.mode == "pairwise"

    @property
    def continues_session(self) -> bool:
        """Return whether the judge needs the session of the agent."""
        return self.config.continue_session

    def notices(self, suite_directory: Path, files: SuiteFiles = DISK) -> tuple[str, ...]:
        """Return what is wrong with the rubric."""
        try:
            rubric = self._rubric(suite_directory, files)
        except GraderError as error:
            return (str(error),)
        if rubric is not None and rubric.verdicts and rubric.scale is None and not self.config.prompt:
            return tuple(_without_effect(key, rubric) for key in self.config.written_rating_keys)
        return ()

    @property
    def _panel(self) -> JudgeConfig:
        return self.config.judge or JudgeConfig()

    def grade(self, context: GradingContext) -> Verdict:
        """Ask the judge, as often as it has votes. Raises ``GraderError`` when it does not answer."""
        rubric, panel = self._rubric(context.suite_directory, context.files), self._panel
        if panel.votes == 1:
            return self._vote(rubric, context)
        rates = rubric is not None and self._rates(rubric) and not self._compares(context)
        votes = [self._vote(rubric, context) for _ in range(panel.votes)]
        return combine_votes(votes, panel.aggregate, self._threshold if rates else None)

    def _compares(self, context: GradingContext) -> bool:
        return self.config.mode == "pairwise" and context.baseline_output is not None

    def _vote(self, rubric: Rubric | None, context: GradingContext) -> Verdict:
        if self._compares(context):
            return self._compare(rubric, context)
        if self.config.criteria:
            verdict = self._check_criteria(rubric, context)
        elif rubric is not None and self._rates(rubric):
            verdict = self._rate(rubric, context)
        else:
            verdict = self._judge(rubric, context)
        if self.config.mode == "pairwise":
            note = "judged on its own, for there is no answer of a baseline run to compare with"
            details = {**verdict.details, "mode": "independent", "notes": [note]}
            return replace(verdict, feedback=f"{verdict.feedback} ({note})", details=details)
        return verdict

    def _rubric(self, suite_directory: Path, files: SuiteFiles) -> Rubric | None:
        if not self.config.rubric:
            return None
        try:
            return load_rubric(self.config.rubric, suite_directory, files=files)
        except RubricError as error:
            raise GraderError(str(error)) from None

    def _rates(self, rubric: Rubric) -> bool:
        """Return whether the rubric requests a rating.

        A Markdown rubric with frontmatter does when its scale is 1-5 and a key of the rating form is given.
        """
        if self.config.prompt or self.config.criteria:
            return False
        return not rubric.verdicts or (rubric.scale is not None and bool(self.config.written_rating_keys))

    def _rate(self, rubric: Rubric, context: GradingContext) -> Verdict:
        config = self.config
        rating = Rating(
            rubric=rubric,
            model=config.model,
            threshold=self._threshold,
            raw=config.score_type == "raw",
            text_reply=config.response_format == "text",
            continue_session=config.continue_session,
            reasoning_effort=config.reasoning_effort,
        )
        return rate(rating, context)

    @property
    def _threshold(self) -> float:
        return DEFAULT_THRESHOLD if self.config.threshold is None else self.config.threshold

    def _judge(self, rubric: Rubric | None, context: GradingContext) -> Verdict:
        prompt = self._verdict_question(rubric, context)
        box = VerdictBox()
        response = self._ask(prompt, context, box, continue_session=self.config.continue_session)
        if not box.has_verdict and not without_thoughts(response).strip():
            raise GraderError(f"{NO_REPLY}, and no verdict")
        details: dict[str, Any] = {"response": response, "prompt": prompt}
        if rubric is not None:
            details["rubric"] = rubric.details
        return box.verdict(**details)

    def _check_criteria(self, rubric: Rubric | None, context: GradingContext) -> Verdict:
        criteria = self.config.criteria
        box = CriteriaBox(criteria)
        parts = [self._criteria(rubric)]
        if not self.config.continue_session:
            parts.append(everything(context) if rubric is None else evidence_for(rubric, context)[0])
            parts += [section("Expected result", "expected", context.hint)] if context.hint else []
        prompt = "\n\n".join(filter(None, [*parts, box.question]))
        response = self._ask(prompt, context, box, continue_session=self.config.continue_session)
        return box.verdict(without_thoughts(response), prompt)

    def _verdict_question(self, rubric: Rubric | None, context: GradingContext) -> str:
        own = self._criteria(rubric)
        parts = [own]
        if not self.config.continue_session:
            if rubric is None:
                parts.append(task_and_answer(context))
            else:
                parts.append(evidence_for(rubric, context)[0])
        if not names_tools(own):
            parts.append(HOW_TO_ANSWER)
        return "\n\n".join(parts) if len(parts) > 1 else own

    def _criteria(self, rubric: Rubric | None) -> str:
        texts = (self.config.prompt or "", "" if rubric is None else rubric.text)
        return "\n\n".join(text for text in texts if text)

    def _compare(self, rubric: Rubric | None, context: GradingContext) -> Verdict:
        listed = "\n".join(f"- {criterion}" for criterion in self.config.criteria)
        criteria = "\n\n".join(filter(None, (self._criteria(rubric), listed)))
        first, second = ChoiceBox(skill_is="B"), ChoiceBox(skill_is="A")
        prompt = pairwise_question(criteria, context, skill_is="B")
        responses = [
            self._ask(prompt, context, first),
            self._ask(pairwise_question(criteria, context, skill_is="A"), context, second),
        ]
        if not (first.has_verdict or second.has_verdict or any(map(without_thoughts, responses))):
            raise GraderError(f"{NO_REPLY}, and no choice")
        details: dict[str, Any] = {"prompt": prompt, "response": "\n\n".join(filter(None, responses))}
        if rubric is not None:
            details["rubric"] = rubric.details
        return verdict_of_choices(first.choice, second.choice, **details)

    def _ask(
        self,
        prompt: str,
        context: GradingContext,
        box: VerdictBox | CriteriaBox | ChoiceBox,
        *,
        continue_session: bool = False,
    ) -> str:
        """Return the judge's reply, "" when its session broke after a verdict, which is valid.

        Raises ``GraderError`` without a verdict.
        """
        try:
            return ask(
                context,
                prompt,
                model=self.config.model,
                tools=box.tools,
                continue_session=continue_session,
                reasoning_effort=self.config.reasoning_effort,
            )
        except JudgeError as error:
            if not box.has_verdict or isinstance(error, UnusableReplyError):
                raise without_judge(error) from None
            return ""


def _without_effect(key: str, rubric: Rubric) -> str:
    return f"`{key}` has no effect: the rubric `{rubric.name}` asks for pass or fail, not for a rating"
