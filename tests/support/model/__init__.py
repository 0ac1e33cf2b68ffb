"""A scripted model on loopback: it speaks the APIs that coding agents speak, and says what a test wrote down.

Start with `script.py`, which is what a test writes; `server.py` is what it runs. Standard library only.
"""

from tests.support.model.script import Asked, Fault, Reply, Script, Tokens, ToolCall
from tests.support.model.server import Model

__all__ = ["Asked", "Fault", "Model", "Reply", "Script", "Tokens", "ToolCall"]
