"""The suite of the pages on the Python API and on pytest."""

from pathlib import Path

SUITE = """\
name: greeter-eval
skill: greeter
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks: ["tasks/*.yaml"]
graders:
  - {type: text, name: says_hello, config: {contains: [hello]}}
  - {type: text, name: polite, config: {contains: [please]}}
"""


def write_greeter(directory: Path, suite: str = SUITE, **prompts: str) -> Path:
    """Write an eval file and a task for each prompt; return the folder."""
    (directory / "tasks").mkdir(parents=True)
    (directory / "eval.yaml").write_text(suite, "utf-8")
    for name, prompt in prompts.items():
        task = f"id: {name}\nname: {name.capitalize()}\ninputs: {{prompt: {prompt}}}\n"
        (directory / "tasks" / f"{name}.yaml").write_text(task, "utf-8")
    return directory
