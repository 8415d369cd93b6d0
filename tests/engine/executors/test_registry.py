from pathlib import Path

import pytest

from waza_engine.executors.executor import ExecutorError, ExecutorSettings
from waza_engine.executors.executor_types import create_executor
from waza_engine.spec.eval_config import EvalConfig
from waza_engine.spec.executors import EXECUTORS


def test_an_unknown_name_is_answered_with_those_that_suites_may_write(tmp_path: Path) -> None:
    settings = ExecutorSettings(tmp_path, EvalConfig(trials_per_task=1, timeout_seconds=9, executor="mok"))
    with pytest.raises(ExecutorError) as raised:
        create_executor("mok", settings)
    known = str(raised.value).partition("write one of ")[2]
    assert sorted(known.replace("`", "").split(", ")) == sorted(EXECUTORS)
