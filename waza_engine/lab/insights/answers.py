"""The insight into graders of the answer: strings, patterns, JSON, assertions and the words of a prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from waza_engine.graders.base import GraderError, GradingContext
from waza_engine.graders.code import CodeGrader, evaluator_of
from waza_engine.graders.json_schema import JsonSchemaGrader, fault_in
from waza_engine.graders.keyword import KeywordGrader
from waza_engine.graders.matching.json_schemas import SchemaError, read_schema
from waza_engine.graders.matching.strings import shortened
from waza_engine.graders.programs.input import assertion_context
from waza_engine.graders.regex import RegexGrader
from waza_engine.graders.text import OlderTextGrader, TextGrader
from waza_engine.graders.trigger import TriggerGrader, words
from waza_engine.lab.explaining import explain_pattern, explain_text
from waza_engine.lab.insight import (
    MOST_VALUES,
    Evidence,
    Excerpt,
    Explanation,
    Insight,
    Proposal,
    RulePath,
    insight_into,
)
from waza_engine.lab.proposing import propose_assertions, propose_patterns, propose_texts, schema_of
from waza_engine.lab.samples import Samples, samples_of_texts


@insight_into(TextGrader)
class TextInsight(Insight[TextGrader]):
    """Strings and patterns of `text` in the answer."""

    evidence = frozenset({"answer"})

    def explain(self, context: GradingContext, path: RulePath) -> Explanation | None:
        """Return where a string or a pattern occurs in the answer, or the nearest match."""
        match path:
            case ("contains" | "not_contains" | "contains_cs" | "not_contains_cs" as key, int(index)):
                texts: Sequence[str] = getattr(self.config, key)
                ignores = not key.endswith("_cs")
                return explain_text(texts[index], context.output, ignore_case=ignores)
            case ("regex_match" | "regex_not_match" as key, int(index)):
                patterns: Sequence[str] = getattr(self.config, key)
                return explain_pattern(patterns[index], context.output)
            case _:
                return None

    def propose(self, contexts: Sequence[GradingContext], path: RulePath) -> Iterator[Proposal]:
        """Propose strings as they occur in the answers, and looser patterns."""
        answers = [context.output for context in contexts]
        match path:
            case ("contains" | "contains_cs" as key, int(index)):
                texts: Sequence[str] = getattr(self.config, key)
                yield from propose_texts(path, texts[index], answers, ignore_case=key == "contains")
            case ("regex_match", int(index)):
                yield from propose_patterns(path, self.config.regex_match[index], answers)
            case _:
                pass


_MOST_TOLD = 6
_OF_EACH_TYPE: tuple[Any, ...] = ("x", 7, True, None, [], {"x": 1})


@insight_into(RegexGrader, KeywordGrader)
class OlderTextInsight(Insight[OlderTextGrader[Any]]):
    """The lists of an older form of `text`: those of its successor, with other paths."""

    evidence = TextInsight.evidence

    def explain(self, context: GradingContext, path: RulePath) -> Explanation | None:
        """Explain the rule of the successor."""
        place = self._place(path)
        return None if place is None else TextInsight(self.grader.successor).explain(context, place)

    def propose(self, contexts: Sequence[GradingContext], path: RulePath) -> Iterator[Proposal]:
        """Propose what would be proposed for the successor."""
        place = self._place(path)
        for proposal in () if place is None else TextInsight(self.grader.successor).propose(contexts, place):
            yield replace(proposal, path=path)

    def _place(self, path: RulePath) -> RulePath | None:
        return next((new for new, old in self.grader.paths.items() if old == path), None)


@insight_into(JsonSchemaGrader)
class JsonSchemaInsight(Insight[JsonSchemaGrader]):
    """The schema of `json_schema` and the answer."""

    evidence = frozenset({"json"})

    def samples(self, context: GradingContext) -> Samples:
        """Return JSON of the schema's shape with values of each type, and none at all."""
        try:
            inline = self.config.inline
            schema: Any = (
                inline if inline is not None else read_schema(self.grader.place(context), context.files)
            )
        except (SchemaError, GraderError):
            return Samples(complete=False)
        values: list[Any] = [{}, *(_shaped(schema, value) for value in _OF_EACH_TYPE)]
        texts = dict.fromkeys(json.dumps(value, ensure_ascii=False) for value in values)
        return Samples(tuple(texts), complete='"$ref"' not in json.dumps(schema, default=str))

    def explain(self, context: GradingContext, path: RulePath) -> Explanation | None:
        """Return the positions in the answer that violate the schema, and their values."""
        if path[:1] not in (("schema",), ("schema_file",), ("extract_json",)):
            return None
        try:
            answer = self.grader.parsed(context.output)
        except (ValueError, RecursionError) as error:
            excerpt = None
            if isinstance(error, json.JSONDecodeError):
                excerpt = Excerpt.of(error.doc, error.pos, min(error.pos + 1, len(error.doc)))
            return Explanation("no JSON", (f"the answer is not JSON: {fault_in(error)}",), excerpt=excerpt)
        try:
            problems = self.grader.compiled(context).problems(answer)
        except SchemaError as error:
            raise GraderError(str(error)) from None
        if not problems:
            return Explanation("fits", ("the answer satisfies the schema",), weight=1.0)
        more = (f"and {len(problems) - _MOST_TOLD} more",) if len(problems) > _MOST_TOLD else ()
        place = problems[0].partition(": ")[0]
        sentences = (*(shortened(problem) for problem in problems[:_MOST_TOLD]), *more)
        return Explanation(place, sentences, weight=1 / (1 + len(problems)))

    def propose(self, contexts: Sequence[GradingContext], path: RulePath) -> Iterator[Proposal]:
        """Propose a schema of the answers that are JSON, and to look for JSON in those that are not."""
        if not self.config.extract_json and path[:1] in (("schema",), ("schema_file",), ("extract_json",)):
            yield Proposal("Loosen: look for JSON inside the answer", ("extract_json",), True)
        if self.config.inline is None or path[:1] != ("schema",):
            return
        values: list[Any] = []
        for context in contexts:
            try:
                values.append(self.grader.parsed(context.output))
            except (ValueError, RecursionError):
                continue
        found = schema_of(values)
        if found is not None and found != self.config.inline:
            words = f"Take the shape of the {len(values)} answers that are JSON for the schema"
            yield Proposal(words, ("schema",), found)


def _shaped(schema: Any, value: Any) -> Any:
    """Return an object with a schema's properties, filled with ``value`` where it defines no more."""
    if not isinstance(schema, Mapping):
        return value
    block = cast("Mapping[str, Any]", schema)
    properties, items = block.get("properties"), block.get("items")
    if isinstance(properties, Mapping) and properties:
        known = cast("Mapping[str, Any]", properties)
        return {str(name): _shaped(of, value) for name, of in known.items()}
    return [_shaped(items, value)] if isinstance(items, Mapping) else value


_SHORT = 40
_WORD = re.compile(r"[A-Za-z_]\w*")
_TEXT = re.compile(r"""(['"`])(?P<text>(?:\\.|(?!\1).)+)\1""", re.DOTALL)
_READS: Mapping[str, Evidence] = {
    "output": "answer",
    "transcript": "transcript",
    "errors": "transcript",
    "tool_calls": "tool calls",
    "duration_ms": "duration",
}


@insight_into(CodeGrader)
class CodeInsight(Insight[CodeGrader]):
    """The assertions of `code`."""

    evidence = frozenset({"answer", "transcript", "tool calls", "duration"})

    def reads(self) -> frozenset[Evidence] | None:
        """Return the names that the assertions use; without any they might as well read everything."""
        words = set(_WORD.findall("\n".join(self.config.assertions)))
        return frozenset(_READS[word] for word in words & _READS.keys()) or self.evidence

    def samples(self, context: GradingContext) -> Samples:
        """Return the strings in the assertions, and strings that match their patterns."""
        del context
        return samples_of_texts(
            found.group("text") for text in self.config.assertions for found in _TEXT.finditer(text)
        )

    def explain(self, context: GradingContext, path: RulePath) -> Explanation | None:
        """Return the values of an assertion's parts, and the clause that decided."""
        match path:
            case ("assertions", int(index)):
                pass
            case _:
                return None
        assertions, names = self.config.assertions[: index + 1], assertion_context(context)
        with evaluator_of(context.assertions) as evaluator:
            result = evaluator.explain(assertions, names, self.config.language)
        if result.outcome.error:
            sentence = result.outcome.error
        elif result.decided:
            sentence = f"{'true' if result.outcome.passed else 'not true'}: `{result.decided}` decides"
        else:
            sentence = "true" if result.outcome.passed else "not true"
        numbers = (value for _, value in result.values if value not in ("True", "False"))
        observed = "error" if result.outcome.error else shortened(next(numbers, ""), _SHORT)
        weight = 1.0 if result.outcome.error else 0.0
        return Explanation(observed, (sentence,), result.values[:MOST_VALUES], weight=weight)

    def propose(self, contexts: Sequence[GradingContext], path: RulePath) -> Iterator[Proposal]:
        """Propose limits as they were observed, and strings and tools as the agent writes them; in Python."""
        match path:
            case ("assertions", int(index)) if self.config.language == "python":
                # A name that an assertion binds may hide one of the record.
                if any(":=" in assertion for assertion in self.config.assertions):
                    return
                names = [assertion_context(context) for context in contexts]
                tools = [[call.name for call in context.tool_calls or ()] for context in contexts]
                yield from propose_assertions(path, self.config.assertions[index], names, tools)
            case _:
                pass


@insight_into(TriggerGrader)
class TriggerInsight(Insight[TriggerGrader]):
    """The words of the prompt and of the skill of `trigger`."""

    evidence = frozenset({"prompt"})

    def explain(self, context: GradingContext, path: RulePath) -> Explanation | None:
        """Return the relevance of the prompt, and which of its words the skill has."""
        if path[:1] not in (("threshold",), ("mode",), ("skill_path",)):
            return None
        verdict = self.grader.grade(context)
        mine, known = words(context.prompt), self.grader.skill(context).keywords
        shared, missing = ", ".join(sorted(mine & known)), ", ".join(sorted(mine - known))
        return Explanation(
            f"{verdict.details['relevance']:.2f}",
            (verdict.feedback,),
            (
                ("words of the prompt that the skill has", shortened(shared) or "none"),
                ("words that it has not", shortened(missing) or "none"),
                ("best `USE FOR:` phrase", f"{verdict.details['phrase_score']:.2f}"),
            ),
            weight=-abs(verdict.details["relevance"] - self.config.threshold),
        )
