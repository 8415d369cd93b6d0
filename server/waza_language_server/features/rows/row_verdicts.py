"""The verdicts of captures and trials, next to their lines and as a summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from waza_engine.checkpoint import checkpoint
from waza_engine.counting import cut
from waza_engine.harness.row_values import complete_capture, is_capture, number_in, score_in
from waza_engine.harness.summary import summary_lines
from waza_engine.markdown import code, sentence
from waza_engine.number_formats import format_score
from waza_engine.results.json_values import Block, blocks_of, text_of
from waza_engine.scoring.pass_estimates import PassEstimates, pass_estimates

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.text.span import Span

_SHOWN_CHARACTERS = 100


def records(document: Document, part: Span | None = None) -> Iterator[Node]:
    """Yield the records of a document that are in a part of its text."""
    root = document.tree.root
    for record in root.each_item() if root is not None and root.kind == "sequence" else ():
        checkpoint()
        if part is not None and record.span.start > part.end:
            return
        if record.kind == "mapping" and (part is None or record.span.end >= part.start):
            yield record


def id_of(record: Node) -> str:
    """Return the id of a record, "" without one."""
    written = record.get("id")
    return text_of(written.to_python()) if written is not None else ""


def record_hints(document: Document, part: Span | None) -> Iterator[tuple[int, str, str]]:
    """Yield an offset, a label and an explanation in Markdown for each graded record."""
    for record in records(document, part):
        estimates = _estimates(_block(record)) if document.kind == "trials" else None
        score = _score(record) if document.kind == "captures" else None
        if estimates is not None:
            label = f"{format_score(estimates.rate.rate)} · {estimates.label}"
            text = f"{estimates.passed} of {estimates.total} trials passed: {estimates.words}"
            yield record.span.end, label, sentence(text)
        elif score is not None:
            reason = text_of(score.get("reasoning"))
            yield record.span.end, _verdict(score), sentence(reason or "It gives no reason.")


def record_summary(document: Document, offset: int) -> tuple[Span, str] | None:
    """Return the span of the record at an offset and its summary in Markdown, None outside of records."""
    for record in records(document):
        if record.span.start <= offset <= record.span.end:
            lines = _lines(_block(record), is_trials=document.kind == "trials")
            return (record.span, "\n".join(lines).removesuffix("\n---\n").strip()) if lines else None
    return None


def failures(document: Document) -> int:
    """Return the number of captures that did not pass."""
    scores = map(_score, records(document))
    return sum(1 for score in scores if score is not None and not score["pass"])


def _lines(block: Block, *, is_trials: bool) -> list[str]:
    if not is_trials:
        return summary_lines({"id": "", **complete_capture(block)}) if is_capture(block) else []
    estimates = _estimates(block)
    lines = [f"## {code(text_of(block.get('id')))}", ""]
    if estimates is not None:
        lines += [f"{estimates.passed} of {estimates.total} trials passed: {estimates.words}", ""]
    for number, trial in enumerate(blocks_of(block.get("trials")), 1):
        verdict = f"{_verdict(trial)} " if isinstance(trial.get("pass"), bool) else ""
        text = text_of(trial.get("reasoning")) or text_of(trial.get("output"))
        lines.append(f"{number}. {verdict}{code(cut(text, _SHOWN_CHARACTERS))}")
    return lines


def _estimates(block: Block) -> PassEstimates | None:
    """Return the estimates from graded trials, None when they are not all graded."""
    verdicts = [trial.get("pass") for trial in blocks_of(block.get("trials"))]
    if not verdicts or not all(isinstance(verdict, bool) for verdict in verdicts):
        return None
    return pass_estimates(sum(verdict is True for verdict in verdicts), len(verdicts))


def _score(record: Node) -> Block | None:
    written = record.get("score")
    return None if written is None else score_in({"score": written.to_python()})


def _verdict(score: Mapping[str, Any]) -> str:
    return f"{'✓' if score.get('pass') is True else '✗'} {format_score(number_in(score, 'score'))}"


def _block(record: Node) -> Block:
    return cast("Block", record.to_python())
