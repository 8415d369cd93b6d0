"""What word processors and other keyboards write for the signs of a program: `“a”`, `≥`, `len（output）`."""

from __future__ import annotations

import re

from waza_engine.later_patterns import compiled_later

_DOUBLE = "“”„‟«»＂"
_SINGLE = "‘’‚‛＇"
_SIGNS = str.maketrans(
    {
        **dict.fromkeys(_DOUBLE, '"'),
        **dict.fromkeys(_SINGLE, "'"),
        **dict.fromkeys("–—−", "-"),
        **dict.fromkeys("\u00a0\u202f\u3000", " "),
        **dict(zip("（）［］｛｝，＞＜＝", "()[]{},><=", strict=True)),
        "≥": ">=",
        "≤": "<=",
        "≠": "!=",
    }
)
_QUOTED = compiled_later(
    r"""(?P<comment>\#[^\r\n]*)
        |(?:\b(?P<prefix>[A-Za-z]{1,2}))?
         (?:(?P<triple>\"{3}|'{3})(?P<long>(?:\\.|(?!(?P=triple))[^\\])*)(?P=triple)
           |(?P<open>[“”„‟«»＂"‘’‚‛＇'])
            (?P<inside>
               (?<=")(?:\\.|[^"\\\r\n])*(?=")
              |(?<=')(?:\\.|[^'\\\r\n])*(?=')
              |(?<=[“”„‟«»＂"])[^“”„‟«»＂\r\n]*(?=[“”„‟«»＂])
              |(?<=[‘’‚‛＇'])[^‘’‚‛＇\r\n]*(?=[‘’‚‛＇])
              |(?<=[“”„‟«»＂])[^"\r\n]*(?=")
              |(?<=[‘’‚‛＇])[^'\r\n]*(?=')
            )(?P<close>.))""",
    re.VERBOSE | re.DOTALL,
)
"""A comment, or a text in quotes of whatever kind."""
LONGEST_CHARACTERS = 1_000
"""Of a longer text, in which every sign may open what never ends, nobody waits for the quotes."""


def python_signs(text: str) -> str:
    """Return the text with a program's signs for those of print; what stands in quotes stays.

    The very text comes back where nobody can tell what stands in quotes, and when it is very long.
    """
    if len(text) > LONGEST_CHARACTERS:
        return text
    written: list[str] = []
    at = 0
    for match in _QUOTED.finditer(text):
        written.append(text[at : match.start()].translate(_SIGNS))
        at = match.end()
        inside = match["inside"]
        if "{" in match[0] and set(match["prefix"] or "") & set("fFtT"):
            # Since Python 3.12 an f-string may hold its own quotes.
            return text
        if inside is None:
            written.append(match[0])
            continue
        quote = match["open"].translate(_SIGNS)
        if match["open"] != quote and quote in inside:
            return text
        written.append(f"{match['prefix'] or ''}{quote}{inside}{quote}")
    written.append(text[at:].translate(_SIGNS))
    return "".join(written)
