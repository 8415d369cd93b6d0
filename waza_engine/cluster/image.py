"""The recipe of a container image for workers and the scheduler: the same versions as on this machine."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Iterator

from waza_engine.version import __version__

_RECIPE = """\
# An image for the scheduler and the workers of `waza-engine run --cluster`: the versions of this machine.
# Add what your agents and graders need. Keys come from the environment of the container, not from the image.
FROM python:{python}-slim

# hadolint ignore=DL3008
RUN apt-get update \\
    && apt-get install --yes --no-install-recommends git nodejs \\
    && rm -rf /var/lib/apt/lists/* \\
    && useradd --uid 1000 --create-home waza
RUN pip install --no-cache-dir {packages}

USER 1000
WORKDIR /home/waza

# The certificates of `waza-engine cluster certificates` are mounted at /certificates.
ENTRYPOINT ["waza-engine"]
CMD ["worker", "tls://scheduler:8786", "--tls", "/certificates"]
"""


def image_recipe() -> str:
    """Return a Dockerfile."""
    packages = " ".join(f'"{each}"' for each in _packages())
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return _RECIPE.format(python=python, packages=packages)


def _packages() -> Iterator[str]:
    yield f"waza-language-server[agents,scale]=={__version__}"
    for name in ("dask", "distributed", "obstore"):
        yield f"{name}=={importlib.metadata.version(name)}"
    points = importlib.metadata.entry_points(group="waza_engine.graders")
    yield from sorted({f"{point.dist.name}=={point.dist.version}" for point in points if point.dist})
