"""What a reviewer should know of a branch: witnesses, tests that need a fix, weakened tests.

Start reading at evidence.py.
"""
