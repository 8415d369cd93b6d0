"""The former module of ``GraderConfig``: packages of graders may still import it from here."""

from waza_engine.graders.base import GraderConfig as GraderConfig
