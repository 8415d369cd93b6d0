# The engine and the linter: docker run --rm -v "$PWD:/work" IMAGE run
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY docs docs
COPY server server
COPY waza_engine waza_engine
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
# `--changed-since` and the commit of a record need git, of any version.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*
COPY --from=build /wheels /wheels
RUN python -m pip install --no-cache-dir /wheels/*.whl && useradd --create-home --uid 1000 waza
# By number, so that a cluster can tell that it is not root.
USER 1000
WORKDIR /work
ENTRYPOINT ["waza-engine"]
CMD ["run"]
