"""The library that validates is loaded without the mail of the standard library, and leaves that whole."""

import subprocess
import sys


def _answer(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


_VALID = (
    "import sys\n"
    "from waza_language_server.schema.validators import validator_class\n"
    "valid = validator_class()({'type': 'string'}).is_valid\n"
)


def test_validating_loads_no_mail() -> None:
    program = _VALID + "print(valid('a'), valid(1), 'email.utils' in sys.modules)"
    assert _answer(program) == "True False False"


def test_mail_is_whole_for_whoever_wants_it_later() -> None:
    program = _VALID + "from email.utils import parsedate_to_datetime as read\n"
    program += "print(read('Mon, 02 Nov 2026 10:00:00 +0000').year)"
    assert _answer(program) == "2026"


def test_mail_is_whole_for_whoever_takes_it_while_the_library_is_loaded() -> None:
    program = (
        "import sys\n"
        "from waza_language_server.schema import validators\n"
        "with validators._dates_as_written():\n"
        "    from email import message\n"
        "text = message.Message()\n"
        "text.add_header('Content-Disposition', 'attachment', filename='a b.txt')\n"
        "import email.utils\n"
        "print(text.get_filename(), email.utils.formataddr(('', 'a@b')))"
    )
    assert _answer(program) == "a b.txt a@b"


def test_mail_that_is_there_already_stays_in_its_place() -> None:
    program = "import email.utils as before\n" + _VALID + "print(sys.modules['email.utils'] is before)"
    assert _answer(program) == "True"
