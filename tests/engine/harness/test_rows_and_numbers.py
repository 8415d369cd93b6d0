"""Rows, statistics and views by the acceptance cases of the format; nothing here starts a program."""

import io
import json
import random
from array import array
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import Finished, harness
from tests.engine.harness.scenarios import capture, lines, prompt
from waza_engine.harness.calibration import snippet
from waza_engine.harness.comparison.compared_rows import CaptureRecord, TrialsRecord
from waza_engine.harness.comparison.comparison_report import (
    latency_statistics,
    percentile,
    score_distribution,
)
from waza_engine.harness.comparison.strategies import bootstrap, iterations, weighted
from waza_engine.harness.row_grading import Tally
from waza_engine.harness.row_values import has_failed, score_in
from waza_engine.harness.summary import fixed, shortened_lines


def carried_out(folder: Path, command: str, **files: str) -> Finished:
    """Carry out a command after writing files: `one` is written to `one.jsonl`."""
    for name, content in files.items():
        (folder / f"{name}.jsonl").write_text(content, "utf-8")
    return harness(*command.split(), cwd=folder)


class TestPrompts:
    def test_blank_lines_a_byte_order_mark_and_windows_line_ends_are_fine(self, tmp_path: Path) -> None:
        text = '\ufeff{"id": "a", "input": "x"}\r\n   \r\n\r\n\u00a0\n{"id": "b", "input": ["Hi", "Bye"]}'
        ended = carried_out(tmp_path, "balance p.jsonl", p=text)
        assert json.loads(ended.stdout)["totalCases"] == 2

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            (
                '{"id": 1, "input": ["a", 2], "hint": null}',
                "`id` must be a string; `hint` must be a string; `input` must be a string",
            ),
            ('{"id": "a"}', "`input` must be a string or a list of strings"),
            (
                '{"id": "a", "input": }',
                "this is not JSON (column 22): a value is due",
            ),
            ("[1]", "the line must be a JSON object"),
            ('{"id": "a", "input": "x", "timeout": true}', "`timeout` must be a number of milliseconds"),
            ('{"id": "a", "input": NaN}', "this is not JSON: it has no `NaN`; write `null`"),
            (
                '{"id": "a", "input": "1e999", "metadata": {"d": 1e999}}',
                "column 49: the number is too large; write a smaller one, or put it in double quotes",
            ),
            (
                f'{{"id": "a", "input": "x", "timeout": {"9" * 5_000}}}',
                "column 38: the number has 5,000 digits, at most 4,300 can be read; put it in double quotes",
            ),
            ('{"id": "a", "input": ' + "[" * 5_000, "the JSON cannot be read: it is nested too deeply"),
        ],
    )
    def test_a_line_that_is_no_prompt_is_named(self, tmp_path: Path, line: str, said: str) -> None:
        ended = carried_out(tmp_path, "balance p.jsonl", p=f'{{"id": "z", "input": ""}}\n\n{line}\n')
        assert (ended.returncode, ended.stdout) == (1, "")
        assert ended.stderr.startswith(f"p.jsonl:3: {said}")

    def test_the_older_name_of_the_hint_and_unknown_keys_are_noted(self, tmp_path: Path) -> None:
        row = prompt("a", "x", expected="4", metdata={})
        ended = carried_out(tmp_path, "balance p.jsonl", p=lines(row, row))
        assert ended.returncode == 0
        assert "p.jsonl:1: `expected` is the older name of `hint`" in ended.stderr
        assert "p.jsonl:1: `metdata` has no effect" in ended.stderr
        assert "p.jsonl:2: the id `a` is taken by p.jsonl:1" in ended.stderr

    def test_an_empty_file_has_no_prompts(self, tmp_path: Path) -> None:
        assert json.loads(carried_out(tmp_path, "balance p.jsonl", p="").stdout)["totalCases"] == 0


class TestFiles:
    @pytest.mark.parametrize(
        ("command", "said"),
        [
            ("balance none.jsonl", "none.jsonl cannot be read: the file does not exist."),
            ("balance .", ". cannot be read: this is a directory, not a file."),
            ("summarize p.jsonl", "p.jsonl:1: `input` and `output` must be strings; this is not a capture."),
            ("grade p.jsonl -g none.py", "Grader not found: "),
            ("grade p.jsonl", "`--grader` is missing."),
            ("balance p.jsonl --threshold high", "`--threshold` must be a number."),
            ("balance p.jsonl --nothing", "There is no option `--nothing`"),
            ("capture p.jsonl -s none.json", "none.json"),
            ("capture -s none.json", "Name the file of the prompts, or read them with --stdin, not both."),
            ("capture p.jsonl -s a.json --resume", "--resume needs --output"),
            ("capture p.jsonl -s a.json --fail-under 1", "--fail-under needs --grader"),
            ("run p.jsonl", "One of --schema, --simple and --shell is needed."),
            ("run p.jsonl --simple echo", "`--simple` needs `{}`"),
            ("compare p.jsonl", "Name at least two files to compare."),
            ("compare p.jsonl p2:p.jsonl", "p.jsonl:1 is neither a capture nor trials"),
            ("schemas Nothing", "There is no schema `Nothing`"),
            ("nothing", "There is no command `nothing`."),
        ],
    )
    def test_wrong_options_and_files_end_with_1_and_one_sentence(
        self, tmp_path: Path, command: str, said: str
    ) -> None:
        ended = carried_out(tmp_path, command, p=lines(prompt("a", "x")))
        assert (ended.returncode, ended.stdout) == (1, "")
        assert said in ended.stderr.splitlines()[0]

    def test_without_a_command_the_help_is_shown(self, tmp_path: Path) -> None:
        ended = carried_out(tmp_path, "")
        assert (ended.returncode, "validate-refs" in ended.stdout) == (0, True)

    @pytest.mark.parametrize(
        "command",
        [
            "capture one.jsonl -s a.json -o one.jsonl",
            "trials one.jsonl -s a.json -o one.jsonl --append",
            "capture one.jsonl -s one.jsonl -o a.jsonl/../one.jsonl --resume",
            "run one.jsonl --simple {} -o one.jsonl",
            "format one.jsonl -o one.jsonl",
            "summarize one.jsonl -o one.jsonl",
            "calibrate one.jsonl -o one.jsonl",
            "balance one.jsonl -o one.jsonl",
            "compare one.jsonl two.jsonl -o two.jsonl",
            "compare one.jsonl two.jsonl -f markdown -o two.jsonl",
            "format one.jsonl -o link.jsonl",
        ],
    )
    def test_an_output_that_is_its_own_input_is_refused(self, tmp_path: Path, command: str) -> None:
        rows = lines(capture("a", 1.0), capture("b", 0.0))
        (tmp_path / "a.jsonl").mkdir()
        (tmp_path / "one.jsonl").touch()
        (tmp_path / "link.jsonl").hardlink_to(tmp_path / "one.jsonl")
        ended = carried_out(tmp_path, command, one=rows, two=rows)
        assert (ended.returncode, ended.stdout) == (1, "")
        assert "is read by this command; name another file" in ended.stderr.splitlines()[-1]
        assert {(tmp_path / name).read_text("utf-8") for name in ("one.jsonl", "two.jsonl")} == {rows}

    def test_a_row_of_a_failed_agent_has_not_passed(self) -> None:
        tally = Tally()
        tally.add(passed=True)
        tally.add(passed=True, failed=True)
        assert (tally.passed, tally.total) == (1, 2)
        failed: list[dict[str, Any]] = [{"errors": ["3"]}, {"error": "3"}, {"metadata": {"timedOut": True}}]
        assert all(map(has_failed, failed))
        others: list[dict[str, Any]] = [{"errors": []}, {"toolErrors": True}, {"metadata": {"exitCode": 7}}]
        assert not any(map(has_failed, others))

    @pytest.mark.parametrize(
        "score", [{"pass": "yes", "score": 1}, {"pass": True, "score": 7}, {"pass": True}, 1]
    )
    def test_a_score_that_is_no_verdict_is_not_counted(self, score: object) -> None:
        assert score_in({"score": score}) is None

    def test_outside_of_the_group_its_files_are_recognized(self, tmp_path: Path) -> None:
        from tests.command_line import engine

        (tmp_path / "prompts.jsonl").write_text(lines(prompt("a", "x")), "utf-8")
        (tmp_path / "rows.jsonl").write_text(lines(capture("a", 1.0), capture("b", 0.0)), "utf-8")
        run = engine("run", "prompts.jsonl", cwd=tmp_path)
        assert run.returncode != 0
        assert "`waza-engine harness capture`" in run.stderr
        assert "1 of 2 tasks passed" in engine("report", "rows.jsonl", cwd=tmp_path).stdout
        assert engine("compare", "rows.jsonl", "rows.jsonl", cwd=tmp_path).returncode == 0


class TestStatistics:
    def test_percentiles_are_not_interpolated(self) -> None:
        tens = range(10, 101, 10)
        assert [percentile(tens, share) for share in (0.5, 0.25, 0.8, 0.9)] == [60, 30, 90, 100]
        assert percentile([], 0.5) == 0

    def test_latencies(self) -> None:
        found = latency_statistics([500, 100, 300, 200, 400])
        assert [found[key] for key in ("min", "max", "mean", "p50")] == [100, 500, 300, 300]
        assert set(latency_statistics([]).values()) == {0}

    def test_the_distribution_has_five_bins(self) -> None:
        assert list(score_distribution([0, 0.2, 0.4, 0.6, 0.8, 1]).values()) == [1, 1, 1, 1, 2]

    def test_bootstrap(self) -> None:
        draw = random.Random(1)
        assert bootstrap([], draw, 100).median == 0
        one = bootstrap([0.75], draw, 100)
        assert (one.lower, one.median, one.upper) == (0.75, 0.75, 0.75)
        narrow, wide = bootstrap([0.4, 0.5, 0.6], draw, 1000), bootstrap([0.0, 0.5, 1.0], draw, 1000)
        assert narrow.lower <= narrow.median <= narrow.upper
        assert wide.upper - wide.lower > narrow.upper - narrow.lower

    @pytest.mark.parametrize(
        ("written", "used"), [("50", 1000), ("invalid", 1000), ("100", 100), ("5000", 5000)]
    )
    def test_iterations(self, monkeypatch: pytest.MonkeyPatch, written: str, used: int) -> None:
        monkeypatch.setenv("COMPARE_BOOTSTRAP_ITERATIONS", written)
        assert iterations() == used

    @pytest.mark.parametrize(("value", "shown"), [(0.0625, "0.063"), (0.5875, "0.588"), (1.0, "1.000")])
    def test_a_tie_is_rounded_up(self, value: float, shown: str) -> None:
        assert fixed(value, 3) == shown


def terminal() -> io.TextIOWrapper:
    return Terminal(io.BytesIO(), encoding="utf-8", write_through=True)


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def scores(ended: Finished) -> dict[str, float]:
    return json.loads(ended.stdout)["headToHead"]["prompts"][0]["scores"]


def trials(*pairs: tuple[float | None, float | None], passed: int = 3, k: int = 5) -> str:
    entry = {"output": "o", "trajectory": [], "duration": 1}
    return lines(
        *(
            {
                "id": f"p{at}",
                "input": "q",
                "k": k,
                **({} if most is None else {"passAtK": most, "passExpK": least}),
                "trials": [{**entry, "trialNum": number + 1, "pass": number < passed} for number in range(k)],
            }
            for at, (most, least) in enumerate(pairs)
        )
    )


def of_trials(pass_at_k: float, pass_exp_k: float) -> TrialsRecord:
    return TrialsRecord(0, 5, pass_at_k, pass_exp_k, b"", array("d"), array("d"))


def of_capture(score: float | None) -> CaptureRecord:
    """Return a capture without times."""
    known = {"tool_errors": False, "timed_out": False, "completed": True, "steps": 0, "richness": "minimal"}
    return CaptureRecord(0, score, score is not None, None, None, **known)  # type: ignore[arg-type]


class TestCompare:
    def test_weights_of_captures(self, tmp_path: Path) -> None:
        ended = carried_out(
            tmp_path,
            "compare a:one.jsonl b:two.jsonl c:three.jsonl",
            one=lines(capture("p", 0.9)),
            two=lines(capture("p", 0.7, 800)),
            three=lines(capture("p", 0.5, 500, toolErrors=True)),
        )
        assert scores(ended) == pytest.approx({"a": 0.8, "b": 0.716667, "c": 0.45}, abs=1e-6)

    def test_a_missing_duration_is_long_and_a_missing_score_is_0(self, tmp_path: Path) -> None:
        rows = [{**capture("p", score), "timing": {}} for score in (None, 0.8)]
        ended = carried_out(tmp_path, "compare one.jsonl two.jsonl", one=lines(rows[0]), two=lines(rows[1]))
        # An empty `timing` has no total, which is 0 milliseconds for the harness as well.
        assert scores(ended)["two"] - scores(ended)["one"] == pytest.approx(0.4)

    def test_weights_come_from_the_environment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in {"QUALITY": "0", "LATENCY": "1", "RELIABILITY": "0"}.items():
            monkeypatch.setenv(f"COMPARE_{name}", value)
        fast, slow = lines(capture("p", 0.0, 0)), lines(capture("p", 1.0, 2000))
        assert scores(carried_out(tmp_path, "compare one.jsonl two.jsonl", one=fast, two=slow))["one"] == 1.0

    @pytest.mark.parametrize(
        ("pair", "score"),
        [((0.9, 0.8), 0.86), ((0.7, 0.7), 0.76), ((0.5, 0.2), 0.42), ((0.9, 0.3), 0.56), ((1, 1), 1.0)],
    )
    def test_weights_of_trials(self, pair: tuple[float, float], score: float) -> None:
        assert weighted()("p", {"one": of_trials(*pair)}).scores["one"] == pytest.approx(score)

    def test_consistency_alone_prefers_the_steady_run(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in {"CAPABILITY": "0", "RELIABILITY": "0", "CONSISTENCY": "1"}.items():
            monkeypatch.setenv(f"COMPARE_{name}", value)
        found = weighted()("p", {"steady": of_trials(0.8, 0.8), "flaky": of_trials(0.9, 0.3)})
        assert found.winner == "steady"
        # pass^k above pass@k is impossible; its flakiness is 0, not negative.
        assert weighted()("p", {"odd": of_trials(0.2, 0.9)}).scores["odd"] == 1.0

    def test_a_capture_without_times_is_slow_and_without_a_verdict_worth_0(self) -> None:
        runs = {name: of_capture(score) for name, score in (("ungraded", None), ("graded", 0.8))}
        found = weighted()("p", runs).scores
        assert found == pytest.approx({"ungraded": 0.227273, "graded": 0.627273}, abs=1e-6)

    def test_capability_and_flakiness_of_trials(self, tmp_path: Path) -> None:
        files = {
            "one": trials((1.0, 1.0), (0.5, 0.5), (0.8, 0.8)),
            "two": trials((0.9, 0.9), (0.9, 0.1), (0.7, 0.5)),
        }
        report = json.loads(carried_out(tmp_path, "compare one.jsonl two.jsonl", **files).stdout)
        capability = report["capability"]["one"]
        assert [round(capability[f"{key}PassAtK"], 4) for key in ("avg", "median", "p25", "p75")] == [
            0.7667,
            0.8,
            0.5,
            1.0,
        ]
        flakiness = report["flakiness"]["two"]
        assert (flakiness["flakyPromptCount"], flakiness["topFlakyPrompts"][0]["id"]) == (2, "p1")

    @pytest.mark.parametrize("strategy", ["weighted", "statistical"])
    def test_trials_without_a_verdict_have_no_numbers_of_one(self, tmp_path: Path, strategy: str) -> None:
        command = f"compare one.jsonl two.jsonl -s {strategy}"
        files = {"one": trials((None, None)), "two": trials((None, None))}
        report = json.loads(carried_out(tmp_path, command, **files).stdout)
        assert sorted(report) == ["headToHead", "meta", "perPrompt", "performance"]
        assert [report["perPrompt"][0][key] for key in ("passAtK", "flakiness")] == [{}, {}]
        assert [pairs[0]["ties"] for pairs in report["headToHead"].values()] == [0, 0, 0]
        files = {"one": trials((0.9, 0.5), (None, None)), "two": trials((None, None), (None, None))}
        report = json.loads(carried_out(tmp_path, command, **files).stdout)
        assert [report["capability"]["one"][key] for key in ("avgPassAtK", "ungradedCount")] == [0.9, 1]
        assert "two" not in report["capability"]
        assert report["perPrompt"][0]["capabilityWinner"] is None
        assert [pairs[0]["aWins"] for pairs in report["headToHead"].values()] == [0, 0, 0]

    def test_statistical(self, tmp_path: Path) -> None:
        one, two = lines(capture("p", 0.80)), lines(capture("p", 0.81))
        command = "compare one.jsonl two.jsonl -s statistical --seed 3"
        report = json.loads(carried_out(tmp_path, command, one=one, two=two).stdout)
        found = report["headToHead"]["prompts"][0]
        assert (found["winner"], "statistically significant" in found["reasoning"]) == ("two", True)
        assert report["quality"]["one"]["confidenceIntervals"]["avgScore"] == [0.8, 0.8]
        report = json.loads(carried_out(tmp_path, command, one=one, two=one).stdout)
        assert "significant" not in report["headToHead"]["prompts"][0]["reasoning"]
        files = {"one": trials((0.0, 0.0), passed=0), "two": trials((1.0, 1.0), passed=5)}
        report = json.loads(carried_out(tmp_path, command, **files).stdout)
        assert "clear separation" in report["perPrompt"][0]["reasoning"]

    def test_a_seed_repeats_the_intervals(self, tmp_path: Path) -> None:
        files = {name: lines(*(capture(f"p{at}", at / 9) for at in range(10))) for name in ("one", "two")}
        command = "compare one.jsonl two.jsonl -s statistical --seed"
        reports = [
            json.loads(carried_out(tmp_path, f"{command} {seed}", **files).stdout) for seed in (1, 1, 2)
        ]
        qualities = [report["quality"]["one"]["confidenceIntervals"] for report in reports]
        assert qualities[0] == qualities[1] != qualities[2]

    def test_captures_and_trials_are_not_compared(self, tmp_path: Path) -> None:
        files = {"one": trials((1.0, 1.0)), "two": lines(capture("p", 1.0))}
        ended = carried_out(tmp_path, "compare one.jsonl two.jsonl", **files)
        assert (ended.returncode, "the same kind of rows" in ended.stderr) == (1, True)

    def test_markdown_has_the_same_numbers(self, tmp_path: Path) -> None:
        files = {"one": lines(capture("p", 0.9)), "two": lines(capture("p", 0.4, 2000))}
        carried_out(tmp_path, "compare one.jsonl two.jsonl -o report.md", **files)
        report = (tmp_path / "report.md").read_text("utf-8")
        assert "| `two` | 0.400 | 0.0% | 0 | 1 |" in report
        assert "| `one` | `two` | 1 | 0 | 0 |" in report


class TestViews:
    @pytest.mark.parametrize("score", [None, 1.0])
    def test_a_terminal_obeys_no_answer_and_a_pipe_gets_its_bytes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, score: float | None
    ) -> None:
        rows = lines(capture("a", score, output="\x1b]0;title\x07é"))
        assert "\x1b]0;title\x07é" in carried_out(tmp_path, "format one.jsonl -f csv", one=rows).stdout
        monkeypatch.setattr("tests.command_line._standard_stream", terminal)
        shown = carried_out(tmp_path, "format one.jsonl -f csv", one=rows).stdout
        assert ("\\x1b]0;title\\x07é" in shown, "\x1b" in shown) == (True, False)

    def test_a_snippet_has_five_steps(self) -> None:
        assert snippet(list(range(1, 11))) == [1, 2, 6, 9, 10]
        assert snippet([1, 2, 3, 4, 5]) == [1, 2, 3, 4, 5]

    def test_long_content_is_shortened_in_its_middle(self) -> None:
        text = "\n".join(map(str, range(20)))
        assert "14 lines omitted" in shortened_lines(text, 3, 3)
        assert shortened_lines("1\n2\n3", 2, 1) == "1\n2\n3"

    def test_a_summary_names_the_tools(self, tmp_path: Path) -> None:
        calls = [
            {"type": "tool_call", "name": name, "status": "completed", "timestamp": 1}
            for name in ("Read", "Write")
        ]
        row = capture("a", None, trajectory=calls, timing={"start": 1000, "end": 1500})
        ended = carried_out(tmp_path, "summarize one.jsonl", one=lines(row))
        assert (json.loads(ended.stdout)["toolCalls"], json.loads(ended.stdout)["duration"]) == (
            ["Read", "Write"],
            500,
        )

    def test_a_summary_in_markdown_cannot_leave_its_place(self, tmp_path: Path) -> None:
        row = capture("a", 0.5, output="![x](http://example.org)\n## Other", input="<b>bold</b>")
        ended = carried_out(tmp_path, "summarize one.jsonl -m", one=lines(row))
        assert "**Output:** `![x](http://example.org) ## Other`" in ended.stdout
        assert "**Input:** `<b>bold</b>`" in ended.stdout

    @pytest.mark.parametrize("count", [0, 2, 99])
    def test_a_sample_of_failures(self, tmp_path: Path, count: int) -> None:
        rows = lines(*(capture(f"p{at}", at % 2) for at in range(8)), capture("ungraded", None))
        ended = carried_out(tmp_path, f"calibrate one.jsonl --sample {count} --seed 1", one=rows)
        assert ended.stdout.count("## Sample ") == min(count, 4)
        assert "`p1`" not in ended.stdout

    def test_passes_are_sampled_on_request(self, tmp_path: Path) -> None:
        rows = lines(*(capture(f"p{at}", at % 2) for at in range(8)))
        ended = carried_out(tmp_path, "calibrate one.jsonl --include-passes", one=rows)
        assert ended.stdout.count("## Sample ") == 8

    def test_without_a_failure_no_file_is_written(self, tmp_path: Path) -> None:
        ended = carried_out(tmp_path, "calibrate one.jsonl -o report.md", one=lines(capture("a", 1.0)))
        assert (ended.returncode, (tmp_path / "report.md").exists()) == (0, False)

    @pytest.mark.parametrize(
        ("counts", "threshold", "rare"),
        [((80, 20), 50, ["b"]), ((70, 30), 50, []), ((70, 30), 80, ["b"]), ((50, 30, 20), 50, [])],
    )
    def test_categories_below_their_share_are_named(
        self, tmp_path: Path, counts: tuple[int, ...], threshold: int, rare: list[str]
    ) -> None:
        rows = [
            prompt(f"{name}{at}", "q", metadata={"category": name})
            for name, count in zip("abc", counts, strict=False)
            for at in range(count)
        ]
        ended = carried_out(tmp_path, f"balance p.jsonl -t {threshold}", p=lines(*rows))
        assert json.loads(ended.stdout)["underrepresented"] == rare
