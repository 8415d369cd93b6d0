"""The judge of a run: a model asked through an executor, in a session of its own or in the agent's.

Every call goes through the given executor, so the cost of judges is counted like everything else.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from waza_engine.counting import in_seconds
from waza_engine.executors.executor import (
    Cancellation,
    ExecutionRequest,
    Executor,
    ExecutorError,
    ExecutorSettings,
)
from waza_engine.executors.executor_types import create_executor
from waza_engine.graders.judge import (
    JudgeError,
    JudgeQuestion,
    LostJudgeError,
    UnusableReplyError,
)
from waza_engine.graders.judging.replies import quoted_reply
from waza_engine.runs.limits.cancellation import RunCancellation, TooSlowError, call_bounded

_GRACE_SECONDS = 2.0
_NO_MODEL = (
    "the executor `{}` has no model that could judge; name one that has with `--judge-executor`, "
    "for example `--judge-executor openai`"
)


@dataclass(frozen=True, slots=True)
class ExecutorJudge:
    """A judge that asks an executor. ``model`` is used when the grader names none.

    ``shared`` is true when the executor is the agent's, whose sessions can be continued. ``reasoning_effort``
    applies to questions that name none.
    """

    executor: Executor
    model: str
    cancellation: Cancellation
    shared: bool = True
    reasoning_effort: str = ""

    def ask(self, question: JudgeQuestion) -> str:
        """Return the text of the answer.

        Raises:
            JudgeError: when there is no answer, also when it takes too long.
            CancelledRunError: immediately, when the run is cancelled.

        """
        if not self.executor.has_model:
            raise JudgeError(_NO_MODEL.format(self.executor.name))
        if question.session and not self.shared:
            raise JudgeError(
                f"`continue_session` needs the executor of the agent, and `--judge-executor "
                f"{self.executor.name}` is another one; leave out one of the two"
            )
        with _place(question.workspace) as workspace:
            return self._ask(question, workspace)

    def _ask(self, question: JudgeQuestion, workspace: Path) -> str:
        request = ExecutionRequest(
            prompt=question.prompt,
            workspace=workspace,
            model=question.model or self.model,
            tools=tuple(question.tools),
            session=question.session or None,
            ephemeral=True,
            reasoning_effort=question.reasoning_effort or self.reasoning_effort,
            timeout_seconds=question.timeout_seconds,
        )
        seconds = question.timeout_seconds
        # The call is ended with the run, and also when its own time is over.
        ending = RunCancellation()
        withdraw = self.cancellation.on_request(ending.request)
        try:
            response = call_bounded(
                lambda: self.executor.execute(request, ending), seconds + _GRACE_SECONDS, self.cancellation
            )
        except TooSlowError:
            raise LostJudgeError(f"the judge did not answer within {in_seconds(seconds)}") from None
        except ExecutorError as error:
            raise LostJudgeError(f"the judge gave no answer: {error}") from None
        finally:
            withdraw()
            ending.request()
        if response.error:
            raise LostJudgeError(f"the judge gave up: {response.error}")
        if response.cut:
            # The missing end of the answer may contradict its beginning.
            why = "the judge's answer was cut: the model's limit of tokens was reached"
            raise UnusableReplyError(f"{why}; it ends with {quoted_reply(response.output[-160:])}")
        if response.refusal:
            raise UnusableReplyError(f"the judge refused to answer: {quoted_reply(response.refusal)}")
        return response.output


def judge_executor(
    name: str | None, agent: Executor, settings: ExecutorSettings, wrapped: Callable[[Executor], Executor]
) -> Executor:
    """Return the executor of the judges: that of the agent unless another one is named.

    ``wrapped`` adds the run's meter to a new executor. Raises ``ExecutorError`` for one that cannot be
    created, or has no model.
    """
    found = agent if name in (None, agent.name) else wrapped(create_executor(name or "", settings))
    if name is not None and not found.has_model:
        raise ExecutorError(f"`--judge-executor {name}` has no model, so it cannot judge; `openai` can")
    return found


@contextmanager
def _place(workspace: Path | None) -> Generator[Path]:
    """Yield the directory of the judge: an empty temporary one when the trial's workspace is not there."""
    if workspace is not None:
        yield workspace
        return
    # Files that a judge keeps open there must not break the grader.
    with tempfile.TemporaryDirectory(prefix="waza-judge-", ignore_cleanup_errors=True) as directory:
        yield Path(directory)
