"""`mngr-result`, the program on an agent's PATH: modules that travel to any host as one executable zip file.

They need Python 3.8 and the standard library, nothing else. `config.json` in the zip says what this agent's test is.
Start reading at __main__.py.
"""
