"""TOML files, environment and `-S` words become one frozen `Config` in which each value remembers its source.

It may import process, model and errors.
Start with `layers.py`, then read in `trust.py` what a stranger's repository may set.
"""
