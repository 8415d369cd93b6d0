"""The codes of Vally's files."""

from __future__ import annotations

from waza_language_server.analysis.codes.code import Code

_STIMULUS = "stimuli:\n  - name: greets\n    prompt: Greet me.\n    graders: [{type: completed}]\n"

VALLY_CODES = (
    Code(
        "vally-version",
        "Form of another Vally version",
        "error",
        "Vally's format changes with its versions: newer ones refuse some keys, values and forms, older ones "
        "do not know others. A comment such as `# vally: 0.16` chooses the version, in the file or in "
        "`.vally.yaml`; else it is that of the nearest `package.json`, or the newest that takes the whole "
        "file. Forms that only newer versions refuse are hints.",
        f"# vally: 0.16\nconfig:\n  runs: 3\n{_STIMULUS}",
        f"# vally: 0.16\ndefaults:\n  runs: 3\n{_STIMULUS}",
        kind="vally_eval",
    ),
    Code(
        "duplicate-stimulus",
        "Duplicate name of a stimulus",
        "error",
        "Vally joins results by the name of the stimulus, so every name occurs once in a file.",
        f"{_STIMULUS}  - name: greets\n    prompt: Greet them.\n    graders: [{{type: completed}}]\n",
        f"{_STIMULUS}  - name: greets-them\n    prompt: Greet them.\n    graders: [{{type: completed}}]\n",
        no_fix="Only the author knows a better name.",
        kind="vally_eval",
    ),
    Code(
        "vally-environment",
        "Unknown environment",
        "error",
        "The name of an environment must be one of the nearest `.vally.yaml`.",
        f"environment: dotnett\n{_STIMULUS}",
        f"environment: dotnet\n{_STIMULUS}",
        kind="vally_eval",
        files={".vally.yaml": "environments:\n  dotnet:\n    commands: [dotnet restore]\n"},
    ),
)
