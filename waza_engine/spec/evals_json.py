"""``evals.json`` and trigger lists, the eval files of agent skills.

Sources: the guide to evaluating skills (agentskills.io), which writes ``assertions`` and finds files beside
``evals.json``; the schemas of Anthropic's skill-creator, which write ``expectations`` and find files in the
skill's folder; public files, which add typed objects among the assertions.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, RootModel, Tag, model_validator

from waza_engine.spec.block import Block, Given, misspelt
from waza_engine.spec.fields import (
    Alternatives,
    AnyMap,
    InsidePath,
    ListOf,
    ListOfBlocks,
    PlainText,
    RequiredText,
    Text,
    TextOrBlock,
    kind,
    matching,
)

_WRITTEN: dict[str, Any] = {"type": ["string", "number", "boolean"], "pattern": r"\S"}
_NEEDED = {
    "content": ("pattern", "`pattern`, the regular expression that must be found"),
    "must_not": ("pattern", "`pattern`, the regular expression that must not be found"),
    "file_exists": ("path", "`path`, the file that must exist"),
}
_SENTENCE = "`description`, the sentence to judge, or a `type`"


def _rule(when: dict[str, Any], keys: tuple[str, ...], message: str) -> dict[str, Any]:
    then = {"anyOf": [_with(key) for key in keys], "x-waza-at-least-one": list(keys)}
    return {"if": when, "then": then, "x-waza-message": message}


def _with(key: str) -> dict[str, Any]:
    return {"required": [key], "properties": {key: _WRITTEN}}


class AssertionObject(Block):
    """An assertion with a type is checked without a judge; one without a type is a sentence to judge."""

    misspellings: ClassVar = misspelt(
        {
            "description": ("text", "assertion"),
            "pattern": ("regex", "value"),
            "path": "file",
            "name": "id",
            "type": "kind",
        }
    )
    uncertain: ClassVar = frozenset({"value"})
    rules: ClassVar = (
        *(
            _rule(
                {"required": ["type"], "properties": {"type": {"const": name}}},
                (key,),
                f"`{name}` needs {what}",
            )
            for name, (key, what) in _NEEDED.items()
        ),
        _rule(
            {"properties": {"type": {"type": "null"}}},
            ("description", "name"),
            f"write {_SENTENCE}",
        ),
    )

    name: Text = Field(default="", description="The name of the assertion.", examples=["has-topic"])
    description: Text = Field(
        default="",
        description="The assertion in one sentence. Without a `type` a judge model checks it.",
        examples=["The answer names the topic of the order."],
    )
    type: Literal["content", "must_not", "file_exists"] | None = Field(
        default=None,
        description=(
            "`content`: `pattern` is found in the answer, or in the file `path`; `must_not`: it is not. "
            "`file_exists`: the workspace has the file `path` after the run."
        ),
    )
    pattern: Annotated[Text, kind("regex")] = Field(
        default="", description="A regular expression.", examples=["(?i)orders?-topic"]
    )
    path: Annotated[InsidePath, kind("path.workspace")] | None = Field(
        default=None, description="A file in the workspace of the agent.", examples=["out/report.md"]
    )

    @model_validator(mode="after")
    def _check_type(self) -> AssertionObject:
        if self.type is None:
            if not (self.description.strip() or self.name.strip()):
                raise ValueError(f"write {_SENTENCE}")
            return self
        key, what = _NEEDED[self.type]
        if not (getattr(self, key) or "").strip():
            raise ValueError(f"`{self.type}` needs {what}")
        return self

    @property
    def sentence(self) -> str:
        """The assertion as a sentence: what a report shows of it."""
        return self.description or self.name or f"{self.type}: {self.pattern or self.path}"


class CaseFile(Block):
    """An input file with its content."""

    misspellings: ClassVar = misspelt({"path": ("name", "file"), "content": ("text", "contents")})

    path: Annotated[Text, matching(r"^(?![/\\~])(?=.*\S)", "must be a relative path")] = Field(
        description="The path of the file in the workspace.", examples=["orders.csv"]
    )
    content: Text = Field(description="The content of the file.", examples=["id,total\n1,20\n"])


Assertions = ListOfBlocks[Annotated[TextOrBlock[RequiredText, AssertionObject], Alternatives("prompt.text")]]


class EvalCase(Block):
    """One case: a prompt, and the expected behavior of the agent."""

    at_least_one: ClassVar = {
        "assertions": Given.LISTED,
        "expectations": Given.LISTED,
        "expected_output": Given.WRITTEN,
    }
    misspellings: ClassVar = misspelt(
        {
            "id": "eval_id",
            "prompt": ("query", "input", "question"),
            "expected_output": ("expected", "expected_result", "expectedOutput"),
            "assertions": ("expected_behavior", "assertion", "asserts", "checks"),
            "expectations": "expectation",
            "files": ("file", "input_files"),
            "name": ("title", "eval_name"),
        }
    )
    uncertain: ClassVar = frozenset({"expected", "expected_behavior", "checks", "input"})

    id: RequiredText = Field(description="The number or name of the case, unique in the file.", examples=[1])
    prompt: Annotated[RequiredText, kind("prompt.text")] = Field(
        description="The words of a user.", examples=["Summarize orders.csv as a chart."]
    )
    expected_output: Text = Field(
        default="",
        description="A good result in words, for the judge. Without assertions it is the assertion.",
        examples=["A bar chart with one bar a month."],
    )
    files: ListOfBlocks[Annotated[TextOrBlock[RequiredText, CaseFile], Alternatives("path.suite")]] = Field(
        default=(),
        description="Input files, relative to the skill's folder or to the folder of this file.",
        examples=[["evals/files/orders.csv"]],
    )
    assertions: Assertions = Field(
        default=(),
        description=(
            "The claims that must be true of the result. A judge model checks sentences; "
            "objects with a `type` are checked without one."
        ),
        examples=[["The chart has labels on both axes."]],
    )
    expectations: Assertions = Field(
        default=(),
        description="The same as `assertions`, as skill-creator calls them.",
        examples=[["The chart has labels on both axes."]],
    )
    name: Text = Field(default="", description="A short name, for reports.", examples=["orders-chart"])
    slug: Text = Field(default="", description="A short name, for files.", examples=["orders-chart"])
    description: Text = Field(default="", description="The subject of the case, for readers.")
    case_set: Text = Field(default="", description="The group of the case.", examples=["train"])
    tags: Annotated[tuple[Text, ...], ListOf("tag")] = Field(
        default=(), description="Words for selecting cases with `--tags`.", examples=[["smoke"]]
    )
    metadata: AnyMap = Field(default_factory=dict[str, Any], description="Free facts about the case.")

    @property
    def all_assertions(self) -> tuple[str | AssertionObject, ...]:
        """The assertions and expectations, each once."""
        return tuple(dict.fromkeys((*self.assertions, *self.expectations)))


class EvalsFile(Block):
    """The cases that test a skill."""

    misspellings: ClassVar = misspelt(
        {"skill_name": ("skill", "name", "skillName"), "evals": ("cases", "tests", "test_cases")}
    )
    uncertain: ClassVar = frozenset({"name"})

    skill_name: Annotated[RequiredText, kind("skill.name")] = Field(
        description="The skill, as its SKILL.md names it.", examples=["csv-charts"]
    )
    evals: Annotated[ListOfBlocks[EvalCase], Field(min_length=1)] = Field(
        description="The cases.",
        examples=[
            [{"id": 1, "prompt": "Summarize orders.csv.", "assertions": ["The answer names the total."]}]
        ],
    )
    schema_version: Text = Field(default="", description="The version of the format, for readers.")
    version: Text = Field(default="", description="The version of the cases, for readers.")
    description: Text = Field(default="", description="The subject of the cases, for readers.")
    schema_: Text = Field(default="", description="The JSON Schema for editors.", alias="$schema")
    metadata: AnyMap = Field(default_factory=dict[str, Any], description="Free facts about the file.")


class TriggerQuery(Block):
    """A prompt, and whether the agent should use the skill for it."""

    misspellings: ClassVar = misspelt(
        {
            "query": ("question", "text", "input"),
            "should_trigger": ("shouldTrigger", "should_activate", "trigger", "expected"),
        }
    )
    uncertain: ClassVar = frozenset({"expected", "trigger"})
    at_least_one: ClassVar = {"query": Given.WRITTEN, "prompt": Given.WRITTEN}

    query: Annotated[PlainText, kind("prompt.text")] = Field(
        default="", description="The words of a user.", examples=["Make a chart of these orders"]
    )
    prompt: Annotated[PlainText, kind("prompt.text")] = Field(
        default="", description="Another name of `query`.", examples=["Make a chart of these orders"]
    )
    should_trigger: Annotated[bool, Field(strict=True)] = Field(
        description="`true` if the agent should use the skill for this prompt, else `false`.", examples=[True]
    )
    id: Text = Field(default="", description="The name of the prompt, for readers.")
    reason: Text = Field(default="", description="Why it should (or should not) trigger, for readers.")
    note: Text = Field(default="", description="A remark for readers.")
    category: Text = Field(default="", description="The group of the prompt, for readers.")

    @property
    def words(self) -> str:
        """The prompt, whichever key holds it."""
        return self.query or self.prompt


class TriggerQueries(Block):
    """The object form of a trigger list."""

    misspellings: ClassVar = misspelt({"skill_name": "skill", "evals": ("queries", "cases")})

    skill_name: Annotated[Text, kind("skill.name")] = Field(
        default="", description="The skill; that of the folder when it is left out.", examples=["csv-charts"]
    )
    description: Text = Field(default="", description="The subject of the prompts, for readers.")
    evals: Annotated[ListOfBlocks[TriggerQuery], Field(min_length=1)] = Field(
        description="The prompts.", examples=[[{"prompt": "Make a chart", "should_trigger": True}]]
    )


def _list_or_block(value: object) -> str:
    return "list" if isinstance(value, list | tuple) else "block"


class TriggerList(
    RootModel[
        Annotated[
            Annotated[
                Annotated[tuple[TriggerQuery, ...], Field(min_length=1), ListOf(texts=False)], Tag("list")
            ]
            | Annotated[TriggerQueries, Tag("block")],
            Discriminator(_list_or_block),
            Alternatives(),
        ]
    ]
):
    """Prompts that should, and prompts that should not, make the agent use a skill."""

    unknown_keys: ClassVar[Literal["warning", "error"]] = "warning"
    misspellings: ClassVar = TriggerQuery.misspellings

    @property
    def queries(self) -> tuple[TriggerQuery, ...]:
        """The prompts of either form."""
        return self.root if isinstance(self.root, tuple) else self.root.evals

    @property
    def skill_name(self) -> str:
        """The skill that the file names, "" for none."""
        return "" if isinstance(self.root, tuple) else self.root.skill_name
