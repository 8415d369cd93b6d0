"""Reports outside of an editor: the HTML page, CSV, the places and answers of JUnit, GitHub's annotations."""

import csv
import io
import json
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.command_line import engine
from tests.engine.suites import GREETS, run, task, write_suite
from tests.hostile_text import HOSTILE, hidden_in, replaced

TAGS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "input",
        "label",
        "article",
        "details",
        "summary",
        "span",
    ),
    *("h1", "h2", "h3", "h4", "p", "ul", "li", "code", "pre", "strong", "em", "hr"),
}
PROMPTS = "should_trigger_prompts:\n- {prompt: write it}\nshould_not_trigger_prompts:\n- {prompt: no}\n"


class _Elements(HTMLParser):
    """Collects the elements of a page, and the text that is no style."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite with a recorded run: a task that passes, and one that fails."""
    path = write_suite(tmp_path / "evals", {"a": task("a"), "b": task("b", prompt="Bye")}, graders=GREETS)
    run(path)
    return path


def page_of(*arguments: object) -> _Elements:
    found = engine("report", *arguments, "-f", "html")
    assert "Traceback" not in found.stderr, found
    return _Elements(found.stdout)


def test_a_page_has_the_sections_of_the_editors_page_by_state(suite: Path) -> None:
    page = page_of(suite)
    states = [(values["class"], "open" in values) for tag, values in page.found if tag == "details"]
    assert states == [("failed", True), ("passed", False)]
    choices = [values["id"] for tag, values in page.found if tag == "input"]
    assert choices == ["show-all", "show-failed", "show-error", "show-passed"]
    assert "Mock response for: Bye" in page.text
    style = engine("report", suite, "-f", "html").stdout
    assert "prefers-color-scheme: dark" in style
    assert "#show-failed:checked ~ article details:not(.failed)" in style


def test_a_page_has_all_suites(suite: Path, tmp_path: Path) -> None:
    run(write_suite(tmp_path / "more", {"a": task("a")}, graders=GREETS))
    target = tmp_path / "page.html"
    assert engine("report", tmp_path, "-f", "html", "-o", target).returncode == 1
    page = _Elements(target.read_text("utf-8"))
    assert [tag for tag, _ in page.found].count("article") == 2


def test_nothing_of_a_record_becomes_markup_a_request_or_a_formula(suite: Path, tmp_path: Path) -> None:
    run_file = next((suite.parent / ".waza" / "results").glob("*.json"))
    document = json.loads(run_file.read_text("utf-8"))
    text = f"</code></pre><script>alert(1)</script><img src=x onerror=y>{HOSTILE}"
    planted = tmp_path / "planted.json"
    kept = {"timestamp": document["timestamp"]}
    planted.write_text(json.dumps({**replaced(document, text), **kept}), "utf-8")
    page = page_of(planted)
    assert {tag for tag, _ in page.found} <= TAGS
    names = {name for _, values in page.found for name in values}
    assert names <= {
        "lang",
        "charset",
        "name",
        "content",
        "http-equiv",
        "class",
        "type",
        "id",
        "checked",
        "for",
    }
    assert hidden_in(page.text) == set()
    cells = engine("report", planted, "-f", "csv").stdout
    assert hidden_in(cells) == set()
    document["tasks"][0]["runs"][0]["validations"]["greets"]["feedback"] = "=HYPERLINK(1)"
    planted.write_text(json.dumps(document), "utf-8")
    rows = list(csv.DictReader(io.StringIO(engine("report", planted, "-f", "csv").stdout)))
    assert "'=HYPERLINK(1)" in [row["feedback"] for row in rows]


def test_csv_has_a_row_for_each_verdict(suite: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(engine("report", suite, "-f", "csv").stdout)))
    found = [(row["task"], row["verdict"], row["grader"], row["passed"], row["score"]) for row in rows]
    assert found == [("a", "passed", "greets", "True", "1.0"), ("b", "failed", "greets", "False", "0.0")]


def test_junit_has_the_place_and_the_answer_of_each_case(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    monkeypatch.setenv("SOME_API_KEY", "zq81-of-nobody")
    (suite.parent / "trigger_tests.yaml").write_text(f"skill: writer\n{PROMPTS}", "utf-8")
    secret = f"say zq81-of-nobody {'x' * 5000}<b>\\x07"
    (suite.parent / "tasks" / "a.yaml").write_text(
        f'id: a\nname: A\ninputs: {{prompt: "{secret}"}}\n', "utf-8"
    )
    file = tmp_path / "report.xml"
    engine("run", suite, "--reporter", f"junit:{file}")
    written = file.read_bytes()
    assert written == engine("report", suite, "-f", "junit").stdout.encode()
    cases = list(ElementTree.fromstring(written).iter("testcase"))
    places = [(case.get("name"), case.get("file"), case.get("line")) for case in cases]
    assert places[:4] == [
        ("a", "evals/tasks/a.yaml", "1"),
        ("b", "evals/tasks/b.yaml", "1"),
        ("write it", "evals/trigger_tests.yaml", "3"),
        ("no", "evals/trigger_tests.yaml", "5"),
    ]
    answer = cases[0].findtext("system-out") or ""
    assert answer.startswith("Mock response for: say *** xxx")
    assert "more characters)" in answer
    assert len(answer) < 4_100
    assert hidden_in(answer) == set()
    assert (cases[1].findtext("system-out") or "").startswith("Mock response for: Bye")


def test_annotations_and_the_summary_are_written_once_a_job(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    for name, value in {
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": tmp_path,
        "GITHUB_STEP_SUMMARY": summary,
        "RUNNER_TEMP": tmp_path,
    }.items():
        monkeypatch.setenv(name, str(value))
    ran = engine("run", suite, "-f", "github")
    assert "::error file=evals/" in ran.stdout
    text = summary.read_text("utf-8")
    reported = engine("report", suite, "-f", "github")
    assert (reported.returncode, reported.stdout, summary.read_text("utf-8")) == (1, "", text)
    # Another run is written again.
    engine("run", suite, "-f", "github")
    assert summary.read_text("utf-8") != text
    monkeypatch.delenv("RUNNER_TEMP")
    assert "::error file=evals/" in engine("report", suite, "-f", "github").stdout
