"""Errors of scaffolding."""


class ScaffoldError(Exception):
    """The requested file cannot be created; the message is for the user.

    ``what`` is the sentence alone: an editor has no use for the option of the command line that helps.
    """

    def __init__(self, what: str, on_command_line: str = "") -> None:
        super().__init__(f"{what} {on_command_line}" if on_command_line else what)
        self.what = what
