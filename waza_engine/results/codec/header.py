"""The header of a result file or journal, before the first task. Light, no models."""

from __future__ import annotations

import waza_engine
from waza_engine.later_patterns import compiled_later
from waza_engine.results.json_values import Block, Json, block_of, given, moment, text_of, texts_of, whole
from waza_engine.results.record import RunHeader
from waza_engine.vocabulary import Commit

SCHEMA_VERSION = "1.4"


def header_document(header: RunHeader) -> Json:
    """Return the part of the document that is known before the first task."""
    engine = {
        "name": "waza-engine",
        "version": waza_engine.__version__,
        "eval_file": header.eval_file,
        **given(
            tasks=list(header.tasks),
            graders=list(header.graders),
            settings=dict(header.settings),
            inputs=header.inputs,
            commit=commit_document(header.commit),
        ),
    }
    return {
        "schemaVersion": SCHEMA_VERSION,
        "eval_id": header.run_id,
        "skill": header.skill,
        "eval_name": header.eval_name,
        "timestamp": header.started.isoformat(),
        "config": {
            "runs_per_test": header.trials_per_task,
            "model_id": header.model,
            "engine_type": header.executor,
            "timeout_sec": header.timeout_seconds,
            **given(judge_model=header.judge_model),
        },
        "metadata": {"engine": engine},
    }


def header_of(document: Block) -> RunHeader:
    """Return a document's header, with the earliest moment if its start is missing."""
    config, engine = block_of(document, "config"), engine_block(document)
    return RunHeader(
        run_id=text_of(document.get("eval_id")),
        started=moment(document.get("timestamp")),
        eval_file=text_of(engine.get("eval_file")),
        eval_name=text_of(document.get("eval_name")),
        skill=text_of(document.get("skill")),
        executor=text_of(config.get("engine_type")),
        model=text_of(config.get("model_id")),
        judge_model=text_of(config.get("judge_model")),
        trials_per_task=whole(config.get("runs_per_test")),
        timeout_seconds=whole(config.get("timeout_sec")),
        tasks=texts_of(engine.get("tasks")),
        graders=texts_of(engine.get("graders")),
        settings=block_of(engine, "settings"),
        inputs=text_of(engine.get("inputs")),
        commit=commit_in(engine),
        regraded="regraded" in engine,
    )


def engine_block(document: Block) -> Block:
    """Return this engine's own part of a document."""
    return block_of(block_of(document, "metadata"), "engine")


_HASH = compiled_later(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def commit_document(commit: Commit | None) -> Json | None:
    """Return a commit as an object: ``hash``, and ``dirty`` if known."""
    if commit is None:
        return None
    return {"hash": commit.hash, **({} if commit.dirty is None else {"dirty": commit.dirty})}


def commit_in(block: Block) -> Commit | None:
    """Return the ``commit`` of an object, None if it is missing or not a hash."""
    found = block_of(block, "commit")
    name, dirty = text_of(found.get("hash")), found.get("dirty")
    return Commit(name, dirty if isinstance(dirty, bool) else None) if _HASH.fullmatch(name) else None
