"""jot: a list of things to do. `store` keeps it, `cli` is the command, `board` shows it on the whole screen."""
