"""Driving an agent with a command line, as an adapter file describes it: the parts of ``command``."""
