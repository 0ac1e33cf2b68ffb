"""The commands, one file each, and here their table, which help shows without importing a command."""

SECTIONS: dict[str, dict[str, str]] = {
    "Agents": {
        "create": "make a working copy and start an agent in it",
        "list": "who is there, and what each is doing",
        "connect": "attach this terminal to an agent",
        "message": "send text to agents, with a receipt",
        "wait": "wait until agents are done, idle, or anything else",
        "exec": "run a command where an agent works",
        "stop": "end agents' processes, keep their work",
        "start": "start stopped agents again",
        "destroy": "remove agents and what belongs to them",
    },
    "Their work": {
        "capture": "an agent's terminal as text",
        "transcript": "an agent's conversation",
        "events": "what happened to an agent",
        "diff": "what an agent changed, commits and uncommitted work",
        "usage": "tokens and what they cost",
        "pull": "fetch an agent's commits or files",
        "push": "send commits or files to an agent",
        "clone": "a second agent with the same work and conversation",
        "migrate": "an agent goes on, on another host",
        "snapshot": "checkpoints: create, list, restore, destroy",
    },
    "Housekeeping": {
        "rename": "give an agent another name",
        "label": "set and remove labels",
        "cleanup": "stop or destroy agents by filter and age",
        "gc": "remove what no agent owns",
        "config": "list, get, set, unset, edit, path, explain, trust",
        "plugin": "what plugins add",
        "doctor": "what is missing here, and how to fix it",
        "completion": "tab completion for bash, zsh and fish",
        "help": "help on a command or a topic",
    },
}
COMMANDS = {name: line for section in SECTIONS.values() for name, line in section.items()}
ALIASES = {
    "c": "create",
    "run": "create",
    "ls": "list",
    "ps": "list",
    "conn": "connect",
    "attach": "connect",
    "msg": "message",
    "x": "exec",
    "logs": "capture",
    "kill": "stop",
    "rm": "destroy",
    "mv": "rename",
}
