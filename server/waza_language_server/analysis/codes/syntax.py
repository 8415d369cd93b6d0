"""The codes of the YAML text itself."""

from __future__ import annotations

from waza_language_server.analysis.codes.code import Code

_TASK = "id: t\nname: T\ninputs:\n  prompt: Go\n"

SYNTAX_CODES = (
    Code(
        "yaml-syntax",
        "The text is not YAML",
        "error",
        "A file that cannot be read stops the run.",
        'id: t\nname: T\ninputs:\n  prompt: "Go\ntags: [a]\n',
        'id: t\nname: T\ninputs:\n  prompt: "Go"\ntags: [a]\n',
    ),
    Code(
        "yaml-indentation",
        "A line is indented in a way that fits nothing above it",
        "error",
        "Indentation says what belongs to what; a file in which it does not add up stops the run.",
        "id: t\nname: T\ninputs:\n    prompt: Go\n  context: {}\n",
        "id: t\nname: T\ninputs:\n    prompt: Go\n    context: {}\n",
    ),
    Code(
        "yaml-tab",
        "A line is indented with a tab",
        "error",
        "YAML allows spaces only; a file with such a line stops the run.",
        "id: t\nname: T\ninputs:\n  prompt: Go\n\tcontext: {}\n",
        "id: t\nname: T\ninputs:\n  prompt: Go\n  context: {}\n",
    ),
    Code(
        "yaml-escape",
        "YAML does not know this escape",
        "error",
        "In double quotes a backslash starts an escape such as `\\n`. A pattern with backslashes "
        "belongs in single quotes.",
        _TASK + 'graders:\n  - type: text\n    name: c\n    config:\n      regex_match:\n        - "\\d+"\n',
        _TASK + "graders:\n  - type: text\n    name: c\n    config:\n      regex_match:\n        - '\\d+'\n",
    ),
    Code(
        "duplicate-key",
        "The same key stands twice in one mapping",
        "error",
        "A run refuses the file, since it cannot tell which value is meant.",
        "id: t\nname: T\nid: u\ninputs:\n  prompt: Go\n",
        "id: t\nname: T\ninputs:\n  prompt: Go\n",
    ),
    Code(
        "several-documents",
        "The file holds several documents",
        "error",
        "Only the first document of a file is read: the tasks behind the second `---` never run.",
        _TASK + "---\ntags: [a]\n",
        _TASK + "\ntags: [a]\n",
    ),
    Code(
        "unknown-anchor",
        "An alias has no anchor before it",
        "error",
        "`*name` repeats what stands at `&name` further up; without that the run stops.",
        "id: t\nname: T\ninputs:\n  prompt: *text\n",
        "id: t\nname: T\ninputs:\n  prompt: text\n",
        "Whether an anchor is missing or plain text was meant is for the author to say.",
    ),
    Code(
        "too-many-aliases",
        "Aliases multiply the file into too many values",
        "error",
        "A few lines of anchors and aliases can stand for billions of values. A run refuses such a file, and "
        "the editor looks no further into it.",
        "id: t\nname: T\ninputs:\n  prompt: Go\n  context:\n"
        + "    a: &a [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(
            f"    {name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
            for before, name in ("ab", "bc", "cd", "de")
        ),
        "id: t\nname: T\ninputs:\n  prompt: Go\n  context:\n    a: &a [x, x]\n    b: [*a, *a]\n",
        "Which of the values are meant is for the author to say.",
    ),
    Code(
        "control-character",
        "An invisible character disturbs the reading",
        "warning",
        "YAML readers refuse such characters or take them for a line break.",
        "id: t\nname: T\ninputs:\n  prompt: Go\u2028on\n",
        "id: t\nname: T\ninputs:\n  prompt: Goon\n",
    ),
    Code(
        "too-deep",
        "Lists and mappings are nested too deeply",
        "error",
        "No suite needs so many levels; the rest of the value is not read.",
        "id: t\nname: T\ninputs:\n  prompt: Go\n  context: {a: " + "[" * 200 + "]" * 200 + "}\n",
        "id: t\nname: T\ninputs:\n  prompt: Go\n  context: {a: []}\n",
        "What was meant cannot be guessed.",
    ),
    Code(
        "not-text",
        "The file is not text",
        "error",
        "A binary file, or one too large to be a suite, is not read.",
        "\0" * 8 + "\1\2\3",
        "id: t\nname: T\ninputs:\n  prompt: Go\n",
        "There is nothing to repair in a file that is not text.",
    ),
    Code(
        "empty-file",
        "The file is empty",
        "error",
        "A run cannot read an empty file.",
        "# nothing yet\n",
        "id: t\nname: T\ninputs:\n  prompt: Go\n",
        "What the file should hold is for the author to say; completion offers the keys.",
    ),
)
