"""A secret is found in connections, with codes inside, and split over lines, messages and events."""

import json
from base64 import b64encode
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from waza_engine.masking import (
    DelayedMaskedStream,
    MaskedStream,
    is_secret_name,
    masked,
    read_environment,
)
from waza_engine.runs.events.stream import EventStream, RunEvent
from waza_engine.terminal import json_text, visible_lines

KEY = "sk-Proj_4f8Qz7LmN2xR9vT6wY3b"
SIGNS = 'p"a/s\\s&w ö9rd'


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as environment:
        environment.setenv("SOME_API_KEY", KEY)
        read_environment()
        yield
    read_environment()


def visible_part(text: str) -> str:
    """Return the characters of the key that are still to be read, in order."""
    kept = "".join(character for character in text if character.isalnum() or character in "-_")
    return max((KEY[:end] for end in range(len(KEY) + 1) if KEY[:end] in kept), key=len)


COLOURED = [
    f"\x1b[31m{KEY[:5]}\x1b[0m{KEY[5:]}\x1b[m",
    "".join(f"\x1b[38;5;{at}m{character}" for at, character in enumerate(KEY)),
    f"{KEY[:10]}\x1b[K\x1b[1;4m{KEY[10:]}",
    f"{KEY[:10]}\x9b31m{KEY[10:]}",
    f"{KEY[:10]}\x1b]8;;http://a\x07{KEY[10:]}\x1b]8;;\x1b\\",
    f"{KEY[:10]}\\u001b[31m{KEY[10:]}",
    f"{KEY[:10]}\\x1b[31m{KEY[10:]}",
    f"{KEY[:10]}\u200b{KEY[10:14]}\u2060{KEY[14:]}",
]
SPLIT = [
    f"{KEY[:13]}\n{KEY[13:]}",
    f"{KEY[:9]}\r\n    {KEY[9:18]}  \n\n\t{KEY[18:]}",
    f"{KEY[:13]}\\n{KEY[13:]}",
    "\n".join(KEY),
    f"{KEY[:13]}\u2028{KEY[13:]}",
]


@pytest.mark.parametrize("text", [*COLOURED, *SPLIT], ids=ascii)
def test_a_secret_with_something_between_its_characters_is_found(text: str) -> None:
    for shown in (masked(f"<{text}>"), visible_lines(f"<{text}>")):
        assert visible_part(shown) == ""
        assert shown.startswith("<")
        assert shown.endswith(">")
        assert "***" in shown


@pytest.mark.parametrize("text", [*COLOURED, *SPLIT], ids=ascii)
def test_it_is_found_in_json_too(text: str) -> None:
    found = json.loads(json_text({"output": f"<{text}>", "n": 1}))
    assert visible_part(found["output"]) == ""
    assert found["n"] == 1


@pytest.mark.parametrize("cuts", [(13,), (9, 18), (1, 2, 3, 27), tuple(range(1, len(KEY)))])
def test_a_secret_that_is_split_over_messages_is_found_in_a_record(cuts: tuple[int, ...]) -> None:
    ends = (0, *cuts, len(KEY))
    parts = [KEY[start:end] for start, end in pairwise(ends)]
    events = [
        {"type": "message", "data": {"content": part}, "at": number} for number, part in enumerate(parts)
    ]
    events = [
        {"type": "message", "data": {"content": "it is "}},
        *events,
        {"type": "end", "data": {"content": "."}},
    ]
    found: Any = json.loads(json_text({"runs": [{"transcript": events}], "id": "sk-Proj"}))
    contents = [event["data"]["content"] for event in found["runs"][0]["transcript"]]
    assert contents == ["it is ", *("***" for _ in parts), "."]
    assert [event["type"] for event in found["runs"][0]["transcript"]][-1] == "end"
    assert found["id"] == "sk-Proj"


@pytest.mark.parametrize("cut", range(1, len(KEY)))
def test_of_a_secret_that_is_split_over_events_no_more_than_its_first_part_is_told(cut: int) -> None:
    told: list[RunEvent] = []
    stream = EventStream("r", told.append, lambda: None)
    for trial in (1, 2):
        stream.send("output", task="t", trial=trial, message=f"it is {KEY[:cut]}")
    stream.send("graded", task="t", trial=1)
    stream.send("output", task="t", trial=1, message=f"{KEY[cut:]} and more")
    stream.send("output", task="t", trial=2, message="done")
    first, _, _, second, other = told
    assert second.message == "*** and more"
    assert other.message == "done"
    assert len(visible_part(first.message or "")) < 16


def test_a_stream_of_tokens_tells_no_secret() -> None:
    stream = MaskedStream()
    told = "".join(
        stream.masked(part) for part in ("it is ", *(KEY[at : at + 3] for at in range(0, 28, 3)), ".")
    )
    assert len(visible_part(told)) < 28
    assert KEY not in told


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from((KEY, KEY[:7], KEY[7:], KEY[:1], "a ", "\n"))), st.integers(1, 9))
def test_a_delayed_stream_tells_everything_but_secrets(parts: list[str], size: int) -> None:
    text = "".join(parts)
    stream = DelayedMaskedStream()
    told = "".join(stream.masked(text[at : at + size]) for at in range(0, len(text), size)) + stream.rest()
    assert KEY not in told
    if masked(text) == text and KEY not in "".join(text.split()):
        assert told == text


@pytest.mark.parametrize("cut", range(1, len(KEY)))
@pytest.mark.parametrize("between", ["", "\n"])
def test_a_delayed_stream_tells_no_part_of_a_split_secret(cut: int, between: str) -> None:
    stream = DelayedMaskedStream()
    assert stream.masked(f"it is {KEY[:cut]}{between}") == "it is "
    assert visible_part(stream.masked(f"{KEY[cut:]} and more") + stream.rest()) == ""


ENCODED = [
    *(b64encode(f"{before}{KEY}:more".encode()).decode() for before in ("", "u", "it", "pwd")),
    quote(SIGNS, safe=""),
    json.dumps(SIGNS)[1:-1],
]


@pytest.mark.parametrize("encoded", ENCODED)
def test_a_delayed_stream_tells_no_encoded_secret(monkeypatch: pytest.MonkeyPatch, encoded: str) -> None:
    monkeypatch.setenv("OTHER_TOKEN", SIGNS)
    read_environment()
    whole = masked(encoded)
    assert "***" in whole
    for cut in range(1, len(encoded)):
        stream = DelayedMaskedStream()
        told = stream.masked(f"it is {encoded[:cut]}") + stream.masked(f"{encoded[cut:]} ") + stream.rest()
        # Up to four characters of base64 are of the text before the secret.
        assert 0 <= len(told.replace("***", "")) - len(f"it is {whole} ".replace("***", "")) <= 4
        assert "***" in told


@pytest.mark.parametrize(
    "text",
    [
        f"{KEY[:13]}\nother {KEY[13:]}",
        f"{KEY[:13]} {KEY[13:]}",
        f"{KEY[:13]}",
        "a\nb\nc",
        "\x1b[31mred\x1b[0m\n\x1b[1mbold\x1b[0m",
        "C:\\new\\readme",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert masked(text) == text
    assert json.loads(json_text({"a": [text, {"b": text}]})) == {"a": [text, {"b": text}]}


@pytest.mark.parametrize(
    ("name", "is_secret"),
    [
        ("DB_PASS", True),
        ("db_pass", True),
        ("MYSQL_PWD", True),
        ("SENTRY_DSN", True),
        ("DSN", True),
        ("PWD", False),
        ("OLDPWD", False),
        ("BYPASS", False),
        ("GIT_ASKPASS", False),
        ("COMPASS", False),
        ("PASS_RATE", False),
        ("DSN_HOST", False),
    ],
)
def test_names_of_passwords_and_connections_are_secret(name: str, is_secret: bool) -> None:
    assert is_secret_name(name) is is_secret


CONNECTIONS = [
    "postgres://me:S3cr3t-pass@db:5432/x",
    "mysql+pymysql://me:S3cr3t-pass@db/x",
    "redis://:S3cr3t-pass@cache:6379/0",
    "amqps://me:S3cr3t-pass@queue/vhost?heartbeat=1",
    "mongodb://me:S3cr3t-pass@one:27017,two:27017/db",
    "me:S3cr3t-pass@db.example:5432/x",
    "me:S3cr3t-pass@localhost",
    "Server=db;Database=x;User Id=me;Password=S3cr3t-pass;Encrypt=yes",
    "Server=db; Uid=me; Pwd='S3cr3t-pass'; ",
    'Driver={ODBC};PWD={S3cr3t-pass};UID="me"',
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=S3cr3t-pass",
    "Endpoint=sb://a.example/;SharedAccessKeyName=Root;SharedAccessKey=S3cr3t-pass",
    "host=db user=me password=S3cr3t-pass dbname=x",
    "jdbc:postgresql://db/x?user=me&password=S3cr3t-pass&ssl=true",
    "--user me --password=S3cr3t-pass --host db",
]


@pytest.mark.parametrize("connection", CONNECTIONS)
def test_the_password_of_a_connection_is_secret_whatever_its_variable_is_called(
    connection: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHERE_IT_IS", connection)
    read_environment()
    assert "S3cr3t-pass" not in masked(f"connects to {connection} as me")
    assert masked("<S3cr3t-pass>") == "<***>"
    assert masked("db.example localhost me db 27017 Root") == "db.example localhost me db 27017 Root"


@pytest.mark.parametrize(
    ("value", "text", "is_secret"),
    [
        ("postgres://me:p%40ss%2Fw0rd@db/x", "p@ss/w0rd", True),
        ("postgres://me:p@ss-w0rd@db/x", "p@ss-w0rd", True),
        ("Server=db;Password=my pass w0rd;User=me", "my pass w0rd", True),
        ("registry.example/app:1.2.3-alpine@sha256:0123456789ab", "1.2.3-alpine", False),
        ("https://app.example:8443?mail=somebody@mail.example", "8443?mail=somebody", False),
        ("git@code.example:org/repository.git", "org/repository", False),
        ("Server=db;Password=${DB_PASSWORD};", "${DB_PASSWORD}", False),
        ("npm:some-package2@1.2.3", "some-package2", False),
        ("keyboard=german-layout-1;monkey=german-layout-2", "german-layout-1", False),
    ],
)
def test_the_password_is_known_as_it_is_meant_and_other_values_have_none(
    value: str, text: str, is_secret: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHERE_IT_IS", value)
    read_environment()
    assert masked(f"it is {text}") == ("it is ***" if is_secret else f"it is {text}")


@pytest.mark.parametrize("run", ["\\", " ", "\\u001b]", " \\", "\\e]"])
def test_a_long_run_of_what_may_stand_between_does_not_hide_a_split_secret(run: str) -> None:
    text = f"{KEY[:14]}\n{KEY[14:]} {run * (300_000 // len(run))}x"
    assert visible_part(masked(text)) == ""


def test_a_secret_of_signs_is_found_in_a_long_run_of_backslashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_TOKEN", "!@#$%^&*()+=")
    read_environment()
    text = "\\" * 300_000
    assert masked(f"{text} !@#$%^&*()+= {text}") == f"{text} *** {text}"
