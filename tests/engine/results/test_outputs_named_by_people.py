"""Results and reports replace no file of a suite."""

from pathlib import Path

import pytest

from waza_engine.results.writing.store import ResultsError, check_writable, opened_output, write_output


@pytest.mark.parametrize("name", ["eval.yaml", "tasks/a.yml", "evals.json"])
def test_no_file_of_a_suite_is_replaced(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("written by a person", "utf-8")
    for write in (
        lambda: write_output(path, b"{}"),
        lambda: opened_output(path),
        lambda: check_writable(path),
    ):
        with pytest.raises(ResultsError, match="is a file of a suite; name another file"):
            write()
    assert path.read_text("utf-8") == "written by a person"
    write_output(tmp_path / "report.html", b"<p>")
    write_output(tmp_path / "report.html", b"<p>")
