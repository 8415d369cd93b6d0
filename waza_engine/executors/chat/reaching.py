"""Check whether a provider answers and accepts the key, by listing its models, which costs nothing."""

from __future__ import annotations

import openai

from waza_engine.executors.base import ExecutorError
from waza_engine.executors.chat.errors import never_connected, no_connection
from waza_engine.executors.chat.wire import Connection

SECONDS = 5.0


def check_endpoint(connection: Connection) -> None:
    """Return if the server answers at all, unless it rejects the key.

    Servers need not have such a list, and keys may be too narrow for it. Raises ``ExecutorError``.
    """
    endpoint = connection.endpoint
    try:
        connection.probe(SECONDS)
    except openai.AuthenticationError as error:
        if endpoint.key and "scope" not in error.response.text:
            host, variable = f"`{endpoint.host}`", endpoint.key_variable
            raise ExecutorError(f"{host} does not accept the key in `{variable}`") from None
    except Exception as error:  # noqa: BLE001 - it may be slow, or know one address only: the first call tells
        if never_connected(error):
            raise ExecutorError(str(no_connection(error, endpoint)), transient=True) from None
