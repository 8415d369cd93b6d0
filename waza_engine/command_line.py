"""Execute a command line: its streams, its warnings, and how its process ends.

The reader of the output may be gone (``| head -1``), the disk may be full, the terminal may support few
characters, and standard streams may be closed.

The command-line library and those below it have their own wording.

Architecture invariant: light, as ``terminal`` is.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import gc
import io
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from waza_engine.early_interruption import (
    INTERRUPTED,
    ignore_repeated_interruption,
    start_handling_interruptions,
)
from waza_engine.later_patterns import compiled_later
from waza_engine.terminal import complain, complain_lines, written_out

_CHOICES = compiled_later(r"'([^']*)'")
_NAMES = compiled_later(r"'([^']+)'")
_OPTION = compiled_later(r"--?[\w-]+")


def describe_argument_error(message: str) -> str | None:
    """Return an argument error in one sentence, None for other messages of the library."""
    for pattern, words in _SENTENCES.items():
        if found := re.fullmatch(pattern, message, re.DOTALL):
            return words(found)
    return None


def _invalid(found: re.Match[str]) -> str:
    name = _last_name(found[1])
    for pattern, words in _VALUES.items():
        if wrong := re.fullmatch(pattern, found[2], re.DOTALL):
            return f"`{name}` {words(wrong)}."
    return f"`{name}`: {found[2]}"


def _last_name(names: str) -> str:
    """Return the name of an option or an argument; the short one of an option comes first."""
    return (_NAMES.findall(names) or [names])[-1]


def _not_a_choice(found: re.Match[str]) -> str:
    known = ", ".join(f"`{choice}`" for choice in _CHOICES.findall(found[2]))
    return f"is `{found[1]}`, which is not one of {known}"


def _unknown_option(found: re.Match[str]) -> str:
    intended = " or ".join(f"`{name}`" for name in _OPTION.findall(found[2] or ""))
    return f"There is no option `{found[1]}`{f'; did you mean {intended}?' if intended else '.'}"


def _unknown_command(found: re.Match[str]) -> str:
    intended = " or ".join(f"`{name}`" for name in _CHOICES.findall(found[2] or ""))
    return f"There is no command `{found[1]}`{f'; did you mean {intended}?' if intended else '.'}"


_Words = Callable[[re.Match[str]], str]
_VALUES: Mapping[str, _Words] = {
    r".*unable to parse string as an integer": lambda _: "must be a whole number",
    r".*unable to parse string as a number": lambda _: "must be a number",
    r".*greater than or equal to (\S+)": lambda found: f"must be {_plain(found[1])} or more",
    r".*less than or equal to (\S+)": lambda found: f"must be {_plain(found[1])} or less",
    r"is blank; (.*)": lambda found: f"is blank; {found[1]}",
    r".*a finite number": lambda _: "must be a finite number",
    r"'(.*)' is not one of (.*)\.": _not_a_choice,
}
_SENTENCES: Mapping[str, _Words] = {
    r"Invalid value for (.*?): (?:Value error, )?(.*)": _invalid,
    r"Missing (?:argument|option) (.*?)\.(?:\s.*)?": lambda found: f"`{_last_name(found[1])}` is missing.",
    r"No such option: (\S+)(.*)": _unknown_option,
    r"No such command '(.*?)'\.?(.*)": _unknown_command,
    r"Option '(.*)' does not take a value\.": lambda found: f"`{found[1]}` takes no value.",
    r"Option '(.*)' requires an argument\.": lambda found: f"`{found[1]}` needs a value.",
    r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)": lambda found: f"`{found[1]}` is too much here.",
}


def _plain(number: str) -> str:
    return number.removesuffix(".0")


FAILED = 2
"""The exit code when output cannot be written, or after an unexpected error."""

_STANDARD_OUTPUT = 1
_WRITE_ERRORS = {errno.EPIPE, errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EBADF, errno.EINVAL}
_READER_HAS_LEFT = {errno.EPIPE, errno.EINVAL}
_PLAIN = "waza-plain-signs"
_PLAIN_SIGNS = {
    "✓": "+",
    "✗": "x",
    "⚠": "!",
    "◷": "~",
    "–": "-",
    "·": "-",
    "…": "...",
    "→": "->",
    "│": "|",
    "─": "-",
    "▶": ">",
    "↻": "@",
    "‹": "<",
    "›": ">",
    "◐": "o",
    "“": '"',
    "”": '"',
    "’": "'",
    "−": "-",
}


def run_command_line(command: Callable[[], None]) -> None:
    """Execute a command line.

    When the reader of its output has left, the process ends quietly; an unexpected error is printed with its
    traceback. Both end it with ``FAILED``. Ctrl-C ends it quietly, also while its modules are loaded.
    """
    _open_missing_streams()
    _tolerate_narrow_encodings()
    try:
        start_handling_interruptions()
        try:
            command()
        finally:
            # The interpreter would look for garbage once more before it ends, for a tenth of a second.
            gc.freeze()
            sys.stdout.flush()
    except KeyboardInterrupt:
        ignore_repeated_interruption()
        sys.exit(INTERRUPTED)
    except OSError as error:
        if _is_nowhere():
            complain("The current folder is gone; change into one that is there.")
        elif error.filename is not None or error.errno not in _WRITE_ERRORS:
            _print_traceback(error)
        else:
            drop_output()
            complain_of_output(error)
        sys.exit(FAILED)
    except Exception as error:  # noqa: BLE001 - printed, and the process ends
        _print_traceback(error)
        sys.exit(FAILED)


def run_application(
    application: Callable[..., Any], name: str, *, wrong_arguments: int | None = None
) -> None:
    """Execute a typer application, printing its own errors like all others.

    ``wrong_arguments`` is the exit code for these, by default that of the library or of the command.
    """
    import typer

    try:
        code: object = application(prog_name=name, standalone_mode=False)
    except typer.Abort:
        complain("Aborted.")
        code = 1
    except OSError as error:
        # Typer alone writes these files, and leaves the error to us.
        if error.filename is None or "--install-completion" not in sys.argv:
            raise
        why = f"{error.filename}: {error.strerror}"
        complain(f"The completion cannot be installed ({why}); `{name} --show-completion` prints it.")
        code = FAILED
    except Exception as error:
        # Typer's exception for wrong arguments can print itself; the class is not public.
        show, code = getattr(error, "show", None), wrong_arguments or getattr(error, "exit_code", FAILED)
        if show is None:
            raise
        complain_lines(_of_arguments(error) or _shown(show))
    sys.exit(code if isinstance(code, int) else 0)


def _of_arguments(error: Any) -> str:
    """Return the error in the arguments and where to read about them; "" for any other error."""
    words, context = describe_argument_error(error.format_message()), getattr(error, "ctx", None)
    if words is None:
        return ""
    return f"{words}\n" if context is None else f"{words}\nTry {context.command_path} -h for help.\n"


def _shown(show: Callable[..., None]) -> str:
    text = io.StringIO()
    show(file=text)
    return text.getvalue()


def complain_of_output(error: OSError) -> None:
    """Report on standard error that standard output cannot be written, unless its reader has left."""
    if error.errno not in _READER_HAS_LEFT:
        with contextlib.suppress(OSError):
            complain(f"Standard output cannot be written: {error.strerror or error}.")


def drop_output() -> None:
    """Discard pending output: the interpreter would write it when it ends."""
    with contextlib.suppress(OSError, ValueError):
        descriptor = os.open(os.devnull, os.O_WRONLY)
        os.dup2(descriptor, _STANDARD_OUTPUT)
        os.close(descriptor)


def _print_traceback(error: BaseException) -> None:
    with contextlib.suppress(OSError):
        complain_lines("".join(traceback.format_exception(error)))


def _is_nowhere() -> bool:
    """Return whether the current folder was deleted, so that no query about it works."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def _open_missing_streams() -> None:
    """Open empty streams for a process that was started without them: no file may take their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - until the end


def _tolerate_narrow_encodings() -> None:
    """Let a terminal that has no ✓ show a plain character instead of ending the command."""
    codecs.register_error(_PLAIN, _plain_signs)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_PLAIN)


def _plain_signs(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unknown = error.object[error.start : error.end]
    # A letter is escaped: a path with a replacement would be that of another file.
    return "".join(_PLAIN_SIGNS.get(letter) or written_out(letter) for letter in unknown), error.end
