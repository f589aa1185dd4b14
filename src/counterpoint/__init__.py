"""Counterpoint."""
