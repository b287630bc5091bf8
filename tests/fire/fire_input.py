"""Hostile input and surroundings."""
import input_bombs
import input_changes
import input_controls
import input_memory
import input_places
import input_surroundings


def cases():
    for module in (input_places, input_surroundings, input_changes, input_controls, input_bombs, input_memory):
        yield from module.cases()
