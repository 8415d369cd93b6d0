"""The codes of the YAML or JSON text itself."""

from __future__ import annotations

from waza_language_server.analysis.codes.code import Code

_TASK = "id: t\nname: T\ninputs:\n  prompt: Go\n"

_CASE = """{
  "skill_name": "csv",
  "evals": [
    {
      "id": 1,
      "prompt": "Sum",
      "assertions": ["It names the total."]
    }
  ]
}
"""

SYNTAX_CODES = (
    Code(
        "yaml-syntax",
        "Invalid YAML",
        "error",
        "A run stops if it cannot parse a file.",
        'id: t\nname: T\ninputs:\n  prompt: "Go\ntags: [a]\n',
        'id: t\nname: T\ninputs:\n  prompt: "Go"\ntags: [a]\n',
    ),
    Code(
        "yaml-indentation",
        "Inconsistent indentation",
        "error",
        "The indentation of the line matches no block above it; a run stops at such a file.",
        "id: t\nname: T\ninputs:\n    prompt: Go\n  context: {}\n",
        "id: t\nname: T\ninputs:\n    prompt: Go\n    context: {}\n",
    ),
    Code(
        "yaml-tab",
        "Indentation with a tab",
        "error",
        "YAML allows only spaces in indentation; a run stops at such a file.",
        "id: t\nname: T\ninputs:\n  prompt: Go\n\tcontext: {}\n",
        "id: t\nname: T\ninputs:\n  prompt: Go\n  context: {}\n",
    ),
    Code(
        "yaml-escape",
        "Invalid escape sequence",
        "error",
        "In double quotes, a backslash starts an escape sequence such as `\\n`. Write a pattern with "
        "backslashes in single quotes.",
        _TASK + 'graders:\n  - type: text\n    name: c\n    config:\n      regex_match:\n        - "\\d+"\n',
        _TASK + "graders:\n  - type: text\n    name: c\n    config:\n      regex_match:\n        - '\\d+'\n",
    ),
    Code(
        "json-syntax",
        "Invalid JSON",
        "error",
        "A run stops if it cannot parse a file. The other cases are checked as usual. "
        "VS Code reports invalid JSON itself, so it is not reported there a second time.",
        _CASE.replace('"Sum",', '"Sum"'),
        _CASE,
        kind="evals_json",
    ),
    Code(
        "duplicate-key",
        "Duplicate key",
        "error",
        "A run refuses the file, because it cannot know which value is intended.",
        "id: t\nname: T\nid: u\ninputs:\n  prompt: Go\n",
        "id: t\nname: T\ninputs:\n  prompt: Go\n",
    ),
    Code(
        "several-documents",
        "Several documents in one file",
        "error",
        "A run reads only the first document of a file: the tasks after the second `---` never run.",
        _TASK + "---\ntags: [a]\n",
        _TASK + "tags: [a]\n",
    ),
    Code(
        "unknown-anchor",
        "Alias without an anchor",
        "error",
        "`*name` repeats the value marked `&name` further up; without it the run stops.",
        "id: t\nname: T\ninputs:\n  prompt: *text\n",
        "id: t\nname: T\ninputs:\n  prompt: text\n",
        "Only the author knows whether an anchor is missing or plain text is intended.",
    ),
    Code(
        "too-many-aliases",
        "Aliases expand to too many values",
        "error",
        "A few lines of anchors and aliases can expand to billions of values. A run refuses such a file, and "
        "the editor does not analyse it further.",
        "id: t\nname: T\ninputs:\n  prompt: Go\n  context:\n"
        + "    a: &a [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(
            f"    {name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
            for before, name in ("ab", "bc", "cd", "de")
        ),
        "id: t\nname: T\ninputs:\n  prompt: Go\n  context:\n    a: &a [x, x]\n    b: [*a, *a]\n",
        "Only the author knows which values are intended.",
    ),
    Code(
        "control-character",
        "Invisible control character",
        "warning",
        "YAML parsers refuse such characters or read them as line breaks.",
        "id: t\nname: T\ninputs:\n  prompt: Go\u2028on\n",
        "id: t\nname: T\ninputs:\n  prompt: Goon\n",
    ),
    Code(
        "too-deep",
        "Nesting too deep",
        "error",
        "Deeper levels are not read.",
        "id: t\nname: T\ninputs:\n  prompt: Go\n  context: {a: " + "[" * 200 + "]" * 200 + "}\n",
        "id: t\nname: T\ninputs:\n  prompt: Go\n  context: {a: []}\n",
        "The intended value cannot be guessed.",
    ),
    Code(
        "not-text",
        "Not a text file",
        "error",
        "Binary files, and files that are too large for a suite, are not read.",
        "\0" * 8 + "\1\2\3",
        "id: t\nname: T\ninputs:\n  prompt: Go\n",
        "A file that is not text cannot be repaired.",
    ),
    Code(
        "empty-file",
        "Empty file",
        "error",
        "A run refuses an empty file.",
        "# nothing yet\n",
        "id: t\nname: T\ninputs:\n  prompt: Go\n",
        "Only the author knows the content; completion offers the keys.",
    ),
)
