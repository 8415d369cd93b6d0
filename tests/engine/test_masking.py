"""Which values are secret, and in which spellings they are found."""

import base64
import json
import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus
from xml.sax.saxutils import escape, quoteattr

import pytest

from tests.patience import ON_A_BUSY_MACHINE
from waza_engine.masking import keep_secret, keep_settings_secret, masked, masked_json, read_environment
from waza_engine.terminal import LogFormatter, json_text

KEY = "sk-Proj_4f8Qz7LmN2xR9vT6wY3b"
AWKWARD = "p\"a\\s/w<o>r&d'+=% ü\U0001f511\t4711"


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as environment:
        environment.setenv("SOME_API_KEY", KEY)
        environment.setenv("DB_PASSWORD", AWKWARD)
        read_environment()
        yield
    read_environment()


def in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


SPELLINGS: tuple[Callable[[str], str], ...] = (
    str,
    in_json,
    lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    lambda text: in_json(in_json(in_json(text))),
    lambda text: in_json(text).replace("/", "\\/").replace("<", "\\u003c").replace("&", "\\u0026"),
    quote,
    lambda text: quote(text, safe=""),
    quote_plus,
    lambda text: quote(quote(text)),
    escape,
    lambda text: quoteattr(text)[1:-1],
)


@pytest.mark.parametrize("secret", [KEY, AWKWARD])
@pytest.mark.parametrize("spelled", SPELLINGS)
def test_a_secret_is_found_however_it_is_escaped(secret: str, spelled: Callable[[str], str]) -> None:
    assert masked(f"before {spelled(secret)} after") == "before *** after"


@pytest.mark.parametrize("secret", [KEY, AWKWARD])
@pytest.mark.parametrize("before", ["", "x", "xy", "user:"])
@pytest.mark.parametrize("after", ["", "z", "zz"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode, base64.encodebytes])
def test_a_secret_is_found_in_base64_wherever_it_begins(
    secret: str, before: str, after: str, encode: Callable[[bytes], bytes]
) -> None:
    encoded = encode((before + secret + after).encode()).decode()
    shown = masked(f"<{encoded}>")
    assert "***" in shown
    # At most the characters stay that it shares with what stands around it.
    assert len(shown) - len("<***>") <= 4 * (len(before) // 3 + len(after) // 3 + 2) + 3


def test_a_piece_that_was_cut_off_is_found() -> None:
    assert masked(f"…{KEY[-20:]} is wrong") == "…*** is wrong"
    assert masked(f"wrong: {KEY[:20]}…") == "wrong: ***…"
    assert masked(f"{KEY[:12]}…") == f"{KEY[:12]}…", "so little of it tells nothing"


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("GITHUB_TOKEN", "ghp_0123456789", "ghp_0123456789"),
        ("aws_secret_access_key", "/wJalrXUtnFEMI/K7MDENG", "/wJalrXUtnFEMI/K7MDENG"),
        ("DATABASE_URL", "postgres://me:s3cretpass@db/x", "s3cretpass"),
        ("DEPLOY_CREDENTIALS", "  abc12345 \n", "abc12345"),
        ("GH_PAT", "github_pat_1234", "github_pat_1234"),
        ("PGPASSWORD", "hunter2hunter", "hunter2hunter"),
        (
            "SIGNING_KEY",
            "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n-----END KEY-----",
            "MIIEvQIBADANBgkqhkiG9w0B",
        ),
        ("PORT_KEY", "1", ""),
        ("USE_TOKEN", "true", ""),
        ("MY_PLACEHOLDER_KEY", "not-needed", ""),
        ("A_PASSWORD", "completed", ""),
        ("MAX_OUTPUT", "abcdefgh-12345678", ""),
        ("KEYBOARD", "abcdefgh-12345678", ""),
    ],
)
def test_credentials_of_the_environment_are_secret_and_other_words_stay(
    name: str, value: str, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    read_environment()
    assert masked(f"<{secret or value}>") == ("<***>" if secret else f"<{value}>")


def test_the_path_of_a_key_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "key-123.json"))
    read_environment()
    assert masked(f"reads {tmp_path}/key-123.json") == f"reads {tmp_path}/key-123.json"


def test_headers_and_keys_that_a_suite_names_are_secret() -> None:
    keep_secret("named-by-a-provider")
    keep_settings_secret(
        {"Authorization": "Bearer abc123-of-a-header", "X-Api-Key": "x-api-77", "Accept": "text/html"}
    )
    assert masked("named-by-a-provider abc123-of-a-header x-api-77 text/html") == "*** *** *** text/html"


def test_json_stays_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUOTE_KEY", 'n"x-98765')
    monkeypatch.setenv("PIN_PASSWORD", "12345678")
    monkeypatch.setenv("FIELD_TOKEN", "final_output_of")
    read_environment()
    value = {
        KEY: [AWKWARD, f"say {KEY}!"],
        "final_output_of": 'a\n"x-98765',
        "n": [12345678, 1.5, 912345678, True],
        "line": 'x\nn"x-98765',
    }
    for text in (masked_json(json.dumps(value)), json_text(value, indent=2)):
        assert json.loads(text) == {
            "***": ["***", "say ***!"],
            "final_output_of": 'a\n"x-98765',
            "n": ["***", 1.5, "9***", True],
            "line": "x\n***",
        }


def test_json_without_a_secret_is_as_it_was() -> None:
    text = json.dumps({"a": "b"}, indent=3)
    assert masked_json(text) is text


def test_the_log_has_no_secrets() -> None:
    record = logging.LogRecord("x", logging.ERROR, "x.py", 1, "bad key %s", (KEY,), None)
    assert LogFormatter("%(message)s").format(record) == "bad key ***"


def test_masking_costs_little() -> None:
    keep_secret(*(f"secret-number-{number}-of-ten-keys" for number in range(10)))
    text = json.dumps({"output": "The quick brown fox jumps over the lazy dog 0123456789. " * 200_000})
    began = time.process_time()
    assert masked_json(text) is text
    # 11 MB take 0.12 s.
    assert time.process_time() - began < 1 * ON_A_BUSY_MACHINE
