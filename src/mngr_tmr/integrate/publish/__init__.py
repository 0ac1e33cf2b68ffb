"""The pull request: its text, the push, and the call of `gh`. Start reading at push.py."""
