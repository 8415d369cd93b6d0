"""An executor: one file of its name, a row that says what it is, and a section of the documentation."""

from tests.extending.addition import Addition, Lines

ECHO = Addition(
    files={
        "waza_engine/executors/loud_echo.py": '''\
"""The executor ``loud-echo``: it answers with the prompt in capital letters."""

from waza_engine.executors.executor import Cancellation, ExecutionRequest, ExecutionResponse, ExecutorSettings
from waza_engine.executors.executor_types import register


@register
class LoudEchoExecutor:
    """Answers with the prompt itself."""

    name = "loud-echo"
    answers_triggers = False
    has_model = False
    costs = False
    reports_cost = False
    library = ""
    warnings: tuple[str, ...] = ()

    def __init__(self, settings: ExecutorSettings) -> None:
        del settings

    def execute(self, request: ExecutionRequest, cancellation: Cancellation) -> ExecutionResponse:
        """Return the prompt in capital letters."""
        del cancellation
        return ExecutionResponse(output=request.prompt.upper())

    def close(self) -> None:
        """Do nothing: nothing was started."""
'''
    },
    lines=(
        Lines(
            "waza_engine/spec/executors.py",
            "EXECUTORS: Mapping[str, ExecutorKind] = MappingProxyType(\n    {",
            '        "loud-echo": ExecutorKind("the prompt comes back in capital letters."),\n',
        ),
        Lines(
            "docs/executors.md",
            "# Choose an executor: agents, models, recordings",
            "\n## loud-echo\n\nAnswers with the prompt, louder.\n",
        ),
    ),
)
