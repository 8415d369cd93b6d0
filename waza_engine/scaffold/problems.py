"""What keeps something new from being made."""


class ScaffoldError(Exception):
    """Something new cannot be made as it is asked for; the text is for the user.

    ``what`` is the sentence alone: an editor has no use for the option of the command line that helps.
    """

    def __init__(self, what: str, on_command_line: str = "") -> None:
        super().__init__(f"{what} {on_command_line}" if on_command_line else what)
        self.what = what
