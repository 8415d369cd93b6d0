"""Checks before anything is paid."""
