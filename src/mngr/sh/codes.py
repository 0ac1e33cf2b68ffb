"""The exit codes of our shell programs. A program names one as `$EXIT_NAME`; `program.load` gives it the number."""


class Exit:
    """How a shell program of ours ended, other than with 0 or with the code of a command that failed in it.

    Plain numbers and no enum: making one of so many would be a hundredth of the time of `list`.
    """

    TAKEN = 17
    """The name that was to be claimed, of an agent, a session or a snapshot, has another owner."""
    HOLDS_HOST_DIR = 18
    """The work dir that a snapshot was to hold has the host dir in it."""
    TIME_OVER = 40
    """A host made for agents ended: its time was over. Containers keep this code and the next two."""
    IDLE = 41
    """A host made for agents ended: no agent worked for its idle timeout."""
    LEASE_OVER = 42
    """A host made for agents ended: no manager looked at it for as long as its lease."""
    NO_FILE = 44
    """There is no file at the path that was to be read."""
    OCCUPIED = 65
    """The work dir is there already and not empty."""
    NOT_RECEIVED = 66
    """A mirror could not take in the commits."""
    NO_RECORDING = 68
    """The agent has no recording."""
    STILL_RUNS = 69
    """OpenCode runs, and so its database is not copied: its plugin has to do that."""
    NO_TMUX = 70
    """The host has no tmux."""
    NO_DIRECTORY = 72
    """The directory to work in is not there. Run files leave this code and the next one, in `exit.json`."""
    NOT_WRITTEN = 73
    """A run file could not write which process it is: its program never ran."""
    NOT_OURS = 74
    """The work dir was not made by mngr."""
    NO_REPOSITORY = 75
    """The work dir has no `.git`."""
    NOT_CHECKED_OUT = 76
    """A mirror took in the commits and could not check them out."""
    UNREADABLE = 77
    """Git cannot read the repository."""
    OTHER_REPOSITORY = 78
    """The `.git` of a work dir leads to another repository than the one that was made for the agent."""
    INDEX_LOCKED = 79
    """Another git of the agent holds the lock of its index."""
    SAVED_SCREEN = 80
    """A capture comes from the screen that was kept when the session ended."""
    GONE = 81
    """The agent's session is gone, or its process has ended."""
    DEAD = 82
    """The process in a pane ended before anything was pasted."""
    CHANGED = 83
    """The terminal's settings are no longer those for which the message was encoded."""
    HELD = 84
    """Other senders hold the pane for too long."""
    NOT_UP = 85
    """OpenCode has not come up."""
    NOT_TAKEN = 86
    """The plugin did not take the request, and never will."""
    NO_ANSWER = 87
    """The plugin took the request and left no answer in time."""


NUMBERS = {name: number for name, number in vars(Exit).items() if name.isupper()}
"""The number of each name."""
