"""The `skill_invocation` grader: which skills the agent invoked, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from waza_engine.counting import counted
from waza_engine.graders.action_sequence import Agreement, Order, agreement, follows, why_not
from waza_engine.graders.base import Grader, GraderConfig, GradingContext, Verdict
from waza_engine.graders.registry import register
from waza_engine.spec.block import Given, misspelt
from waza_engine.spec.fields import SkillNameList, Switch
from waza_engine.vocabulary import Check

_ORDERS: dict[str, Order] = {"exact_match": "exact", "in_order": "in_order", "any_order": "any_order"}
_EXTRA_PENALTY = 0.6


class SkillInvocationConfig(GraderConfig):
    """The wanted and the forbidden skills, and how strictly the wanted ones are compared."""

    required_skills: SkillNameList = Field(
        default=(),
        description="The skills that must be invoked, in order. Repeat a name to want it twice.",
        examples=[["azure-prepare", "azure-deploy"]],
    )
    forbidden_skills: SkillNameList = Field(
        default=(),
        description="Skills that must not be invoked; a single one makes the score 0.",
        examples=[["azure-delete"]],
    )
    mode: Literal["exact_match", "in_order", "any_order"] | None = Field(
        default=None,
        description=(
            "`exact_match`: these skills and no others, in this order. `in_order`: in this order, others "
            "may stand between. `any_order`: all of them, as often as listed. Needed with `required_skills`."
        ),
        examples=["in_order"],
    )
    allow_extra: Switch = Field(
        default=True,
        description="With `false`, invocations beyond the required ones lower the score by up to 60 %.",
    )

    at_least_one: ClassVar = {"required_skills": Given.LISTED, "forbidden_skills": Given.LISTED}
    needs: ClassVar = {"required_skills": "mode"}
    misspellings: ClassVar = misspelt(
        {
            "required_skills": ("skills", "required", "expected_skills"),
            "forbidden_skills": ("forbidden", "rejected_skills"),
            "mode": ("matching_mode", "match_mode"),
            "allow_extra": "allow_extras",
        }
    )
    uncertain: ClassVar = frozenset({"skills"})


@register
class SkillInvocationGrader(Grader[SkillInvocationConfig]):
    """Compares the skills that the agent invoked with the required and the forbidden ones.

    **Scoring:** precision, recall and F1 as in `action_sequence`. With `allow_extra: false` and more
    invocations than required, score = F1 × (1 − 0.6 × extra / all invocations). A forbidden skill makes it
    0.0 and failed. `mode` alone decides whether it *passes*: extra skills never fail `in_order` or
    `any_order`, and always fail `exact_match`.

    **Worth knowing:**

    - `/writer` and `plugin:writer` are invocations of `writer`.
    - An agent without a tool for skills invokes one by reading its `SKILL.md` (executor `command`).
    - `forbidden_skills` may be given alone: 1.0 when none of them was invoked.
    - The modes are `exact_match`, `in_order` and `any_order`; those of `action_sequence` are named
      differently.
    """

    type = "skill_invocation"
    title = "Skill invocation"
    other_names = ("skill",)
    config_model = SkillInvocationConfig
    judges_skill_use = True
    example = """\
- type: skill_invocation
  name: prepares_then_deploys
  config:
    mode: in_order
    required_skills:
      - azure-prepare
      - azure-deploy
"""

    def grade(self, context: GradingContext) -> Verdict:
        """Compare the recorded skill names; a run without any is a run with an empty list."""
        config = self.config
        wanted = config.required_skills
        actual = self.invoked(context)
        hits = list(dict.fromkeys(skill for skill in config.forbidden_skills if skill in actual))
        order = _ORDERS[config.mode or "any_order"]
        measure = agreement(wanted, actual) if wanted else Agreement(1.0, 1.0, 1.0)
        in_place = follows(order, wanted, actual) if wanted else True
        score, notes = measure.f1, [] if in_place else [why_not(order, "skills", wanted, actual)]
        extra = len(actual) - len(wanted)
        if wanted and not config.allow_extra and extra > 0:
            score *= 1 - _EXTRA_PENALTY * extra / len(actual)
            notes.append(f"{counted(extra, 'invocation')} beyond the required {len(wanted)}")
        if hits:
            score = 0.0
            notes.append(f"forbidden skills were invoked: {', '.join(hits)}")
        return Verdict(
            score=score,
            passed=in_place and not hits,
            feedback="; ".join(notes) or "Skill invocations matched",
            details={
                **config.model_dump(mode="json"),
                "mode": config.mode or "any_order",
                "actual_skills": actual,
                "forbidden_violations": hits,
                "precision": measure.precision,
                "recall": measure.recall,
                "f1": measure.f1,
            },
            checks=_checks(config, actual, "" if in_place else notes[0], hits),
        )

    def invoked(self, context: GradingContext) -> list[str]:
        """Return the invoked skills by the names that the configuration has for them, else as invoked."""
        known = (*self.config.required_skills, *self.config.forbidden_skills)
        return [
            next((name for name in known if one.is_of(name)), one.name) for one in context.skill_invocations
        ]


def _checks(
    config: SkillInvocationConfig, actual: Sequence[str], complaint: str, hits: Sequence[str]
) -> tuple[Check, ...]:
    checks: list[Check] = []
    if config.required_skills:
        wanted = "\n".join(config.required_skills)
        checks.append(Check.of_texts(("required_skills",), complaint, wanted, "\n".join(actual)))
    for index, skill in enumerate(config.forbidden_skills):
        invoked = skill in hits
        checks.append(
            Check(("forbidden_skills", index), not invoked, f"{skill} was invoked" if invoked else "")
        )
    return tuple(checks)
