"""The files that decided a run, as they stand in its document."""

from __future__ import annotations

from waza_engine.results.json_values import Block, Json, block_of, given, text_of, texts_of, whole
from waza_engine.results.record import InputFile, RunInputs


def inputs_document(inputs: RunInputs) -> Json:
    """Return the files by their paths, and the name of what keeps their texts; nothing for no files."""
    files = {
        file.path: {"sha256": file.sha256, "size": file.size, **given(tasks=list(file.tasks))}
        for file in inputs.files
    }
    return given(files=files, texts=inputs.texts)


def inputs_of(block: Block) -> RunInputs:
    """Return what a document says of them."""
    files = block_of(block, "files")
    return RunInputs(
        tuple(
            InputFile(
                path=path,
                sha256=text_of(block_of(files, path).get("sha256")),
                size=whole(block_of(files, path).get("size")),
                tasks=texts_of(block_of(files, path).get("tasks")),
            )
            for path in files
        ),
        text_of(block.get("texts")),
    )
