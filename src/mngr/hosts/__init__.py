"""Where commands run. A `Host` is five methods; tmux, git and files are written once, above it.

May import registry, store, config, process, model. Start with `protocol.py`; `local.py` is the smallest
example, `conformance/` what every host and provider must pass.
"""
