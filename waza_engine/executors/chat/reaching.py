"""Whether a provider answers and takes the key: asked for its list of models, which costs nothing."""

from __future__ import annotations

import httpx

from waza_engine.executors.base import ExecutorError
from waza_engine.executors.chat.errors import no_connection
from waza_engine.executors.chat.provider import Endpoint

SECONDS = 5.0
_UNAUTHORIZED = 401


def check_endpoint(endpoint: Endpoint) -> None:
    """Return when somebody answers, whatever it is, but for a key that is refused.

    Servers need not have such a list, and keys may be too narrow for it. Raises ``ExecutorError``.
    """
    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    try:
        response = httpx.get(f"{endpoint.base_url.rstrip('/')}/models", headers=headers, timeout=SECONDS)
    except httpx.ConnectError as error:
        raise ExecutorError(str(no_connection(error, endpoint)), transient=True) from None
    except httpx.HTTPError:
        # It may be slow, or know this address only: the first call tells.
        return
    if response.status_code == _UNAUTHORIZED and endpoint.key and "scope" not in response.text:
        host, variable = f"`{endpoint.host}`", endpoint.key_variable
        raise ExecutorError(f"{host} does not accept the key in `{variable}`")
