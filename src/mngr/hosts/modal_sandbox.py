"""Sandboxes at Modal: what is asked of a new one, and what is left of one that ended."""

from typing import Any

from mngr.hosts.keeper import why_ended
from mngr.hosts.modal_call import sdk
from mngr.hosts.modal_settings import ModalSettings, mebibytes
from mngr.model.duration import parse_duration
from mngr.model.host import HostSpec

# What the SDK makes of a sandbox whose time was over, and what our own first process would have said.
_TIMED_OUT, _TIME_IS_OVER = 124, 40


def asked_of(spec: HostSpec, settings: ModalSettings) -> dict[str, Any]:
    """The options of a sandbox in the SDK's words; what is not said is Modal's to choose."""
    cpus, memory = spec.cpus or settings.cpus, spec.memory or settings.memory
    asked: dict[str, Any] = {
        "cpu": (cpus, cpus) if cpus else None,
        "memory": (mebibytes(memory),) * 2 if memory else None,
        "timeout": max(1, round(parse_duration(spec.timeout or settings.timeout))),
        "region": settings.region or None,
        "block_network": spec.offline,
        "experimental_options": {"enable_exit_snapshot": True} if settings.exit_snapshots else None,
        "outbound_domain_allowlist": None if spec.offline else settings.allow_domains,
        "outbound_cidr_allowlist": None if spec.offline else settings.allow_cidrs,
    }
    return {option: value for option, value in asked.items() if value is not None}


async def why_it_ended(sandbox_id: str) -> str:
    """Why a sandbox ended by itself; empty where there is none: it was stopped, or never ran."""
    if not sandbox_id:
        return ""
    try:
        code = (await sdk().Sandbox.from_id.aio(sandbox_id)).returncode
    except sdk().exception.NotFoundError:
        return "Modal does not know it any more"
    return why_ended(_TIME_IS_OVER if code == _TIMED_OUT else code or 0) or "its sandbox ended by itself"


async def exit_image(sandbox_id: str, timeout_s: float) -> str:
    """The files that a sandbox had when it ended by itself; empty where Modal kept none."""
    kinds = sdk().exception
    try:
        sandbox = await sdk().Sandbox.from_id.aio(sandbox_id)
        image = await sandbox._experimental_get_exit_snapshot.aio(timeout=timeout_s)
    except (kinds.InvalidError, kinds.NotFoundError, kinds.SnapshotCreationError):
        return ""
    return str(image.object_id)


async def forget_image(image: str) -> None:
    """Lets go of a snapshot's files; those of a stopped host go by themselves after a month."""
    if image:
        try:
            await sdk().experimental.image_delete.aio(image)
        except sdk().exception.Error:
            pass
