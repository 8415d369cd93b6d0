"""Eval files of any size: valid graders of five common types, one in a hundred with a misspelt key."""

_HEAD = """\
name: benchmark-suite
skill: benchmark
version: "1.0"
config:
  trials_per_task: 1
  timeout_seconds: 60
  executor: mock
  model: gpt-4o
metrics:
  - name: task_completion
    weight: 1.0
    threshold: 0.5
tasks:
  - "tasks/*.yaml"
graders:
"""

_GRADERS = (
    """\
  - type: text
    name: text_{n}
    config:
      contains:
        - "deployed to {n}"
      regex_match: ["https?://.+"]
""",
    """\
  - type: code
    name: code_{n}
    config:
      assertions:
        - "len(output) > {n}"
        - "'azure' in output.lower()"
""",
    """\
  - type: behavior
    name: behavior_{n}
    config:
      max_tool_calls: 10
      max_duration_ms: 60000
      forbidden_tools: [rm]
""",
    """\
  - type: file
    name: file_{n}
    config:
      must_exist:
        - out/{n}.txt
      must_not_exist: [tmp]
""",
    """\
  - type: action_sequence
    name: sequence_{n}
    config:
      matching_mode: in_order_match
      expected_actions: [bash, edit]
""",
)


def eval_file(graders: int) -> str:
    """Return an eval file with this many graders; grader 50, 150, 250 … has a misspelt key."""
    parts = [_HEAD]
    for number in range(graders):
        grader = _GRADERS[number % len(_GRADERS)].format(n=number)
        if number % 100 == 50:
            grader = grader.replace("config:", "confg:")
        parts.append(grader)
    return "".join(parts)


def last_mistake(graders: int) -> int:
    """Return the 0-based line of the last misspelt key, -1 when there is none."""
    lines = eval_file(graders).split("\n")
    return max((number for number, line in enumerate(lines) if line.startswith("    confg:")), default=-1)


def edit_line(graders: int) -> int:
    """Return the 0-based line of the ``name:`` of the grader in the middle, where the benchmark types."""
    wanted = graders // 2
    lines = eval_file(graders).split("\n")
    names = [number for number, line in enumerate(lines) if line.startswith("    name: ")]
    return names[wanted]
