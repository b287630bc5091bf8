"""Hostile input and surroundings."""
import input_changes


def cases():
    yield from input_changes.cases()
