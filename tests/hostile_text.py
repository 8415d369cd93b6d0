"""What a stranger may write anywhere in a suite, and how to see whether any of it is obeyed."""

import unicodedata
from collections.abc import Iterator
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

LINES = "\n::error::forged\n##[add-mask]forged\n# heading\n![i](http://127.0.0.1:9/z.png)"
HOSTILE_LINE = (
    "zzz![i](http://127.0.0.1:9/x.png) [l](command:workbench.action.quit) <img src='http://127.0.0.1:9/y'> "
    "<http://127.0.0.1:9> http://127.0.0.1:9 www.example.com a@b.example @team #1 $(bell) **b** <!-- c --> "
    "``` `d` a|b \\| [bold]e[/] [link=http://127.0.0.1:9]f[/] ##[error]g "
    "\x1b]0;title\x07\x1b[2J\x1b]52;c;cHduZWQ=\x07\x9b31m\x9d0;t\x9c\x7f\u202e\u2066\u200b\u200f\ufeff\u2028\x85"
    " \\"
)
HOSTILE = HOSTILE_LINE + LINES
"""Escapes for terminals, marks of direction, Markdown, HTML, markup of rich, icons, build commands."""

_MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_CODE = {"code_inline", "fence", "code_block"}


def replaced(value: Any, text: str) -> Any:
    """Return a JSON value in which every text is another one; keys, which are names, get it appended."""
    match value:
        case str():
            return text
        case list():
            return [replaced(item, text) for item in value]
        case dict():
            return {key: replaced(item, text) for key, item in value.items()}
        case _:
            return value


def hidden_in(text: str) -> set[str]:
    """Return the characters of a text that cannot be seen; line breaks, tabs and joiners are fine."""
    return {
        character
        for character in text
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        and character not in "\n\t\u200c\u200d"
    }


def outside_of_code(markdown: str) -> str:
    """Return everything of a Markdown text that a renderer would not show as code."""
    return "\n".join(f"{token.type}: {token.content} {token.attrs}" for token in rendered(markdown)
                     if token.type not in _CODE)  # fmt: skip


def rendered(markdown: str) -> Iterator[Token]:
    """Yield the leaves of a Markdown text."""
    for token in _MARKDOWN.parse(markdown):
        if token.type == "inline":
            yield from token.children or ()
        else:
            yield token
