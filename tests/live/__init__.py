"""Recorded answers judged again as a suite is edited."""
