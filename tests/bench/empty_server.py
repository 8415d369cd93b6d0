"""A pygls server that does nothing, to compare our start with."""

from pygls.lsp.server import LanguageServer

LanguageServer("empty", "0").start_io()
