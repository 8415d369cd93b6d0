"""What keeps something new from being made."""


class ScaffoldError(Exception):
    """Something new cannot be made as it is asked for; the text is for the user."""
