"""Names of rubrics that do not come with the engine: a single word that is not a path is a name."""

from __future__ import annotations

from collections.abc import Iterator

from waza_engine.files import shown
from waza_engine.spec.program_files import is_rubric_path
from waza_engine.spelling import listed
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import GraderView
from waza_language_server.analysis.suggestions import suggestion


def rubric_names(view: GraderView) -> Iterator[Problem]:
    """Yield the unknown names of rubrics; for `llm` graders a word is the rubric itself."""
    for node, shape in view.located:
        if shape.kind != "rubric" or node.kind != "scalar" or not _is_name(node.value):
            continue
        known = [example for example in shape.examples if isinstance(example, str) and _is_name(example)]
        name = node.value.strip()
        if not known or name in known:
            continue
        meant, fixes = suggestion(view.file.tree, node, known)
        advice = f"did you mean `{meant}`?" if meant else f"write a path, a text, or {listed(known)}."
        message = f"There is no rubric called `{shown(name)}`; {advice}"
        yield Problem("value-not-allowed", node.span, message, "error", fixes)


def _is_name(written: str) -> bool:
    text = written.strip()
    return bool(text) and not any(each.isspace() for each in text) and not is_rubric_path(text)
