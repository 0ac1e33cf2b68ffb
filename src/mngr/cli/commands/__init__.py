"""The commands, one file each; `command_table.py` lists them."""
