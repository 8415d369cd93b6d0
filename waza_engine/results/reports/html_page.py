"""Result pages as one HTML file for a browser: no script, nothing is loaded, light and dark.

The pages are the Markdown that editors show (``result_page.py``). Text of records is code there, and HTML in
it is not interpreted here: no answer becomes markup, a link or a picture.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256

from markdown_it import MarkdownIt

_CLASSES = {"✓": "passed", "✗": "failed", "!": "error"}
_FILTERS = (("all", "All"), ("failed", "Failed"), ("error", "In error"), ("passed", "Passed"))
_MARK = re.compile(r"(<(?:li|h2|strong)>)([✓✗!])(?=[\s<])")
_STYLE = """
:root {
  color-scheme: light dark;
  --pass: #1a7f37; --fail: #c62828; --error: #9a6700; --line: #d0d7de; --code: #f6f8fa;
}
@media (prefers-color-scheme: dark) {
  :root { --pass: #3fb950; --fail: #ff7b72; --error: #d29922; --line: #3d444d; --code: #151b23; }
}
body {
  font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem;
  background: Canvas; color: CanvasText;
}
pre, code { font: 13px/1.45 ui-monospace, monospace; background: var(--code); border-radius: 4px; }
code { padding: 0.1em 0.3em; overflow-wrap: anywhere; }
pre { padding: 0.6rem; overflow-x: auto; }
pre code { padding: 0; }
h1 code, h2 code { background: none; font: inherit; padding: 0; }
details, article + article { border-top: 1px solid var(--line); }
summary { cursor: pointer; }
summary h2 { display: inline-block; font-size: 1.2rem; margin: 0.4rem 0; }
h4 { margin-bottom: 0.3rem; }
label { margin-right: 1rem; }
span.passed { color: var(--pass); }
span.failed { color: var(--fail); }
span.error { color: var(--error); }
#show-failed:checked ~ article details:not(.failed), #show-error:checked ~ article details:not(.error),
#show-passed:checked ~ article details:not(.passed) { display: none; }
"""


def html_page(pages: Iterable[str]) -> str:
    """Return an HTML document of result pages; a choice above them limits it to the tasks of one state."""
    # A browser, unlike an editor, loads pictures from anywhere.
    markdown = MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink"])
    articles = [_article(markdown.render(page)) for page in pages]
    digest = b64encode(sha256(_STYLE.encode()).digest()).decode()
    choices = "".join(
        f'<input type="radio" name="state" id="show-{state}"{" checked" if state == "all" else ""}>'
        f'<label for="show-{state}"> {title}</label>\n'
        for state, title in _FILTERS
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{digest}'">
<title>Evaluation results</title>
<style>{_STYLE}</style>
</head>
<body>
{choices}{"".join(articles)}</body>
</html>
"""


def _article(rendered: str) -> str:
    """Return a page with a part for each task, closed if it passed, and with its state as the class."""
    head, *parts = re.split(r"(?=<h2>)", rendered)
    article = f"<article>\n{head}{''.join(map(_part, parts))}</article>\n"
    return _MARK.sub(lambda found: f'{found[1]}<span class="{_CLASSES[found[2]]}">{found[2]}</span>', article)


def _part(part: str) -> str:
    state = _CLASSES.get(part.removeprefix("<h2>")[:1], "other")
    title, end, rest = part.partition("</h2>")
    is_open = "" if state == "passed" else " open"
    return f'<details class="{state}"{is_open}>\n<summary>{title}{end}</summary>{rest}</details>\n'
