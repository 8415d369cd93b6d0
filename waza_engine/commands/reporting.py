"""``waza-engine report``: the results of a run for a CI system or a pull request."""

from __future__ import annotations

import sys
from pathlib import Path

from waza_engine.results.formats import Block
from waza_engine.results.recordings import RecordingError, read_recording
from waza_engine.results.store import ResultsError, write_atomically

WRITTEN, NOT_WRITTEN = 0, 2
FORMATS = ("junit", "markdown")


def report_command(results: Path, output_format: str, output: Path | None) -> int:
    """Write the report of a result file to a file or to standard output; return the exit code."""
    try:
        content = report_of(read_recording(results).document, output_format)
        if output is not None:
            write_atomically(output, content)
            return WRITTEN
    except (RecordingError, ResultsError) as error:
        sys.stderr.write(f"{error}\n")
        return NOT_WRITTEN
    sys.stdout.buffer.write(content)
    sys.stdout.flush()
    return WRITTEN


def report_of(document: Block, output_format: str) -> bytes:
    """Return the report of a result document; ``output_format`` is one of ``FORMATS``."""
    if output_format == "junit":
        from waza_engine.results.junit import junit_report

        return junit_report(document)
    from waza_engine.results.markdown import markdown_report

    return markdown_report(document).encode("utf-8", "replace")
