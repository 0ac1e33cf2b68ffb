"""The command `mngr boxes`."""

from mngr.plugin import Call, HostRef, verb
from mngr_box.provider import BoxProvider


@verb("boxes", examples="mngr boxes\nmngr boxes --json")
def command(call: Call) -> None:
    """The boxes on this machine, running and stopped."""
    call.output.check(HostRef)
    boxes = BoxProvider(call.manager.host_dir).hosts()
    call.output.many(boxes, lambda: "\n".join(f"{box.name}\t{box.state}" for box in boxes))
