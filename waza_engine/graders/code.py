"""The `code` grader: assertions over the agent's answer and actions."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import ClassVar, Literal

from pydantic import Field

from waza_engine.assertions.evaluator import AssertionEvaluator, AssertionOutcome, MissingInterpreterError
from waza_engine.counting import cut
from waza_engine.graders.base import (
    Grader,
    GraderConfig,
    GraderError,
    GradingContext,
    Verdict,
    verdict_of_checks,
)
from waza_engine.graders.programs.input import assertion_context
from waza_engine.graders.registry import register
from waza_engine.spec.block import misspelt
from waza_engine.spec.fields import AssertionList
from waza_engine.vocabulary import Check, unjudged_details

_QUOTED_CHARACTERS = 300
_LATE = "what is not true took longer than an assertion may"


class CodeConfig(GraderConfig):
    """The assertions and their language."""

    assertions: AssertionList = Field(
        description=(
            "Expressions that must be true, evaluated in order. "
            "Names: `output`, `outcome`, `transcript`, `tool_calls`, `errors`, `duration_ms`; "
            "functions (Python): `len`, `any`, `all`, `re`, `str`, `int`, `float`, `bool`, `list`, `dict`."
        ),
        examples=[["len(output) > 100", "'function' in output.lower()"]],
        min_length=1,
    )
    language: Literal["python", "javascript"] = Field(
        default="python",
        description="The language of the assertions. JavaScript needs Node.js on the machine.",
    )

    misspellings: ClassVar = misspelt(
        {"assertions": ("assertion", "asserts", "expressions", "checks", "code"), "language": "lang"}
    )


@register
class CodeGrader(Grader[CodeConfig]):
    """Evaluates expressions over the answer, the transcript and the tool calls; each must be true.

    | name | what it is |
    |---|---|
    | `output` | the agent's final answer, text |
    | `transcript` | the events of the session, dicts with `type` and, by type, `content`, `message`, … |
    | `tool_calls` | a list of dicts: `name`, `arguments`, `success`, `id`, and `result` when there is one |
    | `errors` | the events whose type or content contains `error` |
    | `duration_ms` | how long the run took, in milliseconds |
    | `outcome` | always an empty dict in current runs |

    **Scoring:** score = true assertions / all assertions; it passes when all are true. An assertion that
    raises, runs longer than its deadline or needs too much memory is false, with the reason; the others still
    count.

    **Worth knowing:**

    - An assertion is one Python *expression*: no `import`, no `assert`, no `=`.
    - Inside a generator expression, a comprehension or a lambda only its own variables are visible: `any(word
      in output for word in ['a', 'b'])` fails. Write `'a' in output or 'b' in output`, or bind the name
      first: `any(word in output for output in [output] for word in ['a', 'b'])`.
    - `arguments` of a tool call always has `path`, `file_text`, `command`, `description` and `skill`, empty
      when absent, and nothing else. Look for other arguments in the `transcript`, or use `tool_calls`.
    - Other built-in functions (`sum`, `max`, `sorted`, `isinstance`, …) do not exist here.
    - `errors` also holds messages that merely mention an `error`, so `len(errors) == 0` fails easily.
    - With `language: javascript` the value of the last statement counts: `output.includes('done')`.
    """

    type = "code"
    title = "Assertions"
    other_names = ("python", "assertion", "javascript", "assert")
    config_model = CodeConfig
    evaluates = True
    entry_keys = ("assertions",)
    example = """\
- type: code
  name: answer_quality
  config:
    assertions:
      - len(output) > 100
      - "'function' in output.lower()"
"""

    def grade(self, context: GradingContext) -> Verdict:
        """Evaluate every assertion in one shared context."""
        assertions = self.config.assertions
        with evaluator_of(context.assertions) as evaluator:
            outcomes = evaluator.evaluate(assertions, assertion_context(context), self.config.language)
        checks = [
            _check(i, text, out) for i, (text, out) in enumerate(zip(assertions, outcomes, strict=True))
        ]
        return verdict_of_checks(
            checks,
            all_passed="All assertions passed",
            **_unjudged(assertions, outcomes),
            total_assertions=len(checks),
            passed_assertions=sum(check.passed for check in checks),
        )


def _unjudged(assertions: Sequence[str], outcomes: Sequence[AssertionOutcome]) -> dict[str, object]:
    """Return why all untrue assertions failed to evaluate, {} if one of them was evaluated."""
    untrue = [(text, out) for text, out in zip(assertions, outcomes, strict=True) if not out.passed]
    if not untrue or any(out.error is None for _, out in untrue):
        return {}
    if all(out.timed_out for _, out in untrue):
        return unjudged_details("timeout", _LATE)
    # A name may be missing because the assertion that binds it failed before binding it.
    binds = any(":=" in text for text in assertions)
    unusable = all(out.unusable for _, out in untrue) and not binds
    text, first = untrue[0]
    return unjudged_details(
        "unusable" if unusable else "raised", f"{cut(text, _QUOTED_CHARACTERS)}: {first.error}"
    )


@contextmanager
def evaluator_of(shared: AssertionEvaluator | None) -> Generator[AssertionEvaluator]:
    """Yield the evaluator. Errors that keep it from evaluating become a ``GraderError``."""
    try:
        if shared is not None:
            yield shared
        else:
            with AssertionEvaluator() as evaluator:
                yield evaluator
    except MissingInterpreterError as error:
        raise GraderError(str(error)) from None
    except RuntimeError as error:
        raise GraderError(f"the assertions were not evaluated: {error}") from None
    except OSError as error:
        raise GraderError(
            f"the assertions were not evaluated: no worker can be started: {error.strerror}"
        ) from None


def _check(index: int, assertion: str, outcome: AssertionOutcome) -> Check:
    if outcome.passed:
        return Check(("assertions", index), True)
    reason = f": {outcome.error}" if outcome.error else ""
    if outcome.observed:
        reason = f" ({', '.join(f'{part} is {value}' for part, value in outcome.observed)})"
    return Check(("assertions", index), False, f"not true: {cut(assertion, _QUOTED_CHARACTERS)}{reason}")
