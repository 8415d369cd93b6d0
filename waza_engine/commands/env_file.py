"""Keys of model providers from a file: the variables of the environment that a suite lacks, and no others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from waza_engine.files import FileError, read_text
from waza_engine.masking import keep_secret
from waza_engine.runs.loading.suite import SuiteError
from waza_engine.spec.loading import load_eval_file
from waza_engine.spec.problems import SuiteFileError

_LONGEST = 1_000_000
_LINE = re.compile(r"""(?:export\s+)?([A-Za-z_]\w*)\s*=\s*("[^"]*"|'[^']*'|\S*)(?:\s+#.*)?""", re.ASCII)
# A suite that names one of these as its key could redirect requests, or change what programs do.
_NEVER = re.compile(
    r"PATH|HOME|SHELL|(?:PYTHON|NODE_|LD_|DYLD_|GIT_|SSL_|NPM_).*|"
    r".*_(?:PROXY|URL|URI|HOST|ENDPOINT|BASE|ADDRESS)",
    re.IGNORECASE,
)


def read_keys(file: Path, eval_files: Iterable[Path]) -> None:
    """Set the missing keys of the suites' providers from a file of lines ``NAME=value``; they are masked.

    Raises ``SuiteError`` when the file cannot be read. A suite that cannot be read names no key here: its
    run reports why.
    """
    values = dict(_values(file))
    for name in dict.fromkeys(_key_names(eval_files)):
        if values.get(name) and not os.environ.get(name) and not _NEVER.fullmatch(name):
            os.environ[name] = values[name]
            keep_secret(values[name])


def _values(file: Path) -> Iterator[tuple[str, str]]:
    try:
        text = read_text(file, _LONGEST)
    except (OSError, FileError) as error:
        why = getattr(error, "strerror", None) or error
        raise SuiteError(f"`--env-file {file}` cannot be read: {why}.") from None
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        found = _LINE.fullmatch(stripped)
        if found is None:
            raise SuiteError(f"{file}, line {number}: write `NAME=value`.")
        value = found[2]
        yield found[1], value[1:-1] if value[:1] in ("'", '"') else value


def _key_names(eval_files: Iterable[Path]) -> Iterator[str]:
    for eval_file in eval_files:
        try:
            provider = load_eval_file(eval_file)[0].config.provider
        except SuiteFileError:
            continue
        if provider is not None and provider.api_key_env.strip():
            yield provider.api_key_env.strip()
