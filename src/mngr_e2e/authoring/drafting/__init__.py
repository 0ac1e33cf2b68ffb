"""Examples that an agent writes under the gaps of a tutorial, and their review by a person. Start at `draft.py`."""
