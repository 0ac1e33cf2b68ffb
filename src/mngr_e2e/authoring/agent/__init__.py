"""One agent at work: its copy of the repository, its prompts, and rounds of correction. Start at `conversation.py`."""
