"""The only room that speaks LSP."""
