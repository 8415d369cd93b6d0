"""A report: a function from a result document to text, its kind, and its case."""

from tests.extending.addition import Addition, Lines

ONE_LINE = Addition(
    files={
        "waza_engine/results/reports/one_line.py": '''\
"""A run in one line, for a chat."""

from waza_engine.results.json_values import Block, block_of


def one_line_report(document: Block) -> str:
    """Return the line of a result document in today's layout."""
    summary = block_of(document, "summary")
    return f"{document.get('eval_name')}: {summary.get('succeeded')} of {summary.get('total_tests')}\\n"
'''
    },
    lines=(
        Lines(
            "waza_engine/commands/shared_options.py",
            '    MARKDOWN = "markdown", "Markdown for a pull request"',
            '    ONE_LINE = "one-line", "one line for a chat"\n',
        ),
        Lines(
            "waza_engine/commands/reporting.py",
            "    match output_format:",
            """\
        case ReportKind.ONE_LINE:
            from waza_engine.results.reports.one_line import one_line_report

            return "".join(one_line_report(run.document) for run in runs).encode("utf-8", "replace")
""",
        ),
    ),
)
