"""Sandboxes at Modal: what is asked of a new one, and what is left of one that ended."""

from typing import Any

from mngr.errors import UsageError
from mngr.hosts.modal.call import sdk
from mngr.hosts.modal.settings import ModalSettings, mebibytes
from mngr.hosts.watchdog import why_ended
from mngr.model.duration import parse_duration
from mngr.model.host import HostSpec
from mngr.sh.codes import Exit

# What the SDK makes of a sandbox whose time was over, and what our own first process would have said.
_TIMED_OUT = 124
_LONGEST_S = 24 * 3600
_REASONS = {
    "TIMEOUT": why_ended(Exit.TIME_OVER),
    "IDLE_TIMEOUT": "Modal ended it because it was idle",
    "KERNEL_OOM_KILL": "it ran out of memory",
    "MEMORY_MANAGER_EVICTION": "Modal evicted it: it used more memory than it asked for",
    "MEMORY_THRASHING_EVICTION": "Modal evicted it: it used more memory than it asked for",
    "INIT_FAILURE": "Modal could not start it",
    "INTERNAL_FAILURE": "Modal had an internal failure",
}


def asked_of(spec: HostSpec, settings: ModalSettings) -> dict[str, Any]:
    """The options of a sandbox in the SDK's words; what is not said is Modal's to choose."""
    cpus, memory = spec.cpus or settings.cpus, spec.memory or settings.memory
    lifetime = spec.timeout or settings.timeout
    lifetime_s = max(1, round(parse_duration(lifetime)))
    if lifetime_s > _LONGEST_S:
        raise UsageError(
            f"a Modal sandbox lives for a day at most, not {lifetime}",
            hint="write --timeout 24h or less; mngr stop and mngr start give it another day, with its files",
        )
    asked: dict[str, Any] = {
        "cpu": (cpus, cpus) if cpus else None,
        "memory": (mebibytes(memory),) * 2 if memory else None,
        "timeout": lifetime_s,
        "region": settings.region or None,
        "block_network": spec.offline,
        "experimental_options": {"enable_exit_snapshot": True} if settings.exit_snapshots else None,
        "outbound_domain_allowlist": None if spec.offline else settings.allow_domains,
        "outbound_cidr_allowlist": None if spec.offline else settings.allow_cidrs,
    }
    return {option: value for option, value in asked.items() if value is not None}


def why_it_ended(sandbox: Any) -> str:
    """Why a sandbox ended, which has; not always by itself."""
    code = sandbox.returncode or 0
    result = getattr(_implementation(sandbox), "result", None)
    try:
        status = str(type(result).GenericStatus.Name(result.status)) if result is not None else ""
    except (AttributeError, ValueError):
        status = ""
    known = _REASONS.get(status.removeprefix("GENERIC_STATUS_"), "")
    return known or why_ended(Exit.TIME_OVER if code == _TIMED_OUT else code) or "its sandbox ended by itself"


async def exit_image(sandbox_id: str, timeout_s: float) -> str:
    """The files that a sandbox had when it ended; empty where Modal kept none."""
    kinds = sdk().exception
    try:
        sandbox = await sdk().Sandbox.from_id.aio(sandbox_id)
        image = await sandbox._experimental_get_exit_snapshot.aio(timeout=timeout_s)
    except (kinds.InvalidError, kinds.NotFoundError, kinds.SnapshotCreationError, kinds.TimeoutError):
        return ""
    return str(image.object_id)


async def forget_image(image: str) -> None:
    """Lets go of a snapshot's files; those of a stopped host go by themselves after a month."""
    if image:
        try:
            await sdk().experimental.image_delete.aio(image)
        except sdk().exception.Error:
            pass


# The SDK says less of a sandbox than it knows: what follows reads or writes its own fields where they are as
# expected, and does without where they are not.


def task_of(sandbox: Any) -> str:
    """The id of its task, where the SDK knows it without asking; else empty."""
    found = getattr(_implementation(sandbox), "_task_id", "")
    return found if isinstance(found, str) else ""


def tell_task(sandbox: Any, task: str) -> None:
    """Spares the call by which the SDK finds out the task of a sandbox that it did not make itself."""
    inner = _implementation(sandbox)
    if task and not getattr(inner, "_task_id", task):
        inner._task_id = task


def forget_task(sandbox: Any) -> bool:
    """Has the SDK ask for the task; False where it would anyway, or did."""
    inner = _implementation(sandbox)
    if not getattr(inner, "_task_id", ""):
        return False
    try:
        inner._task_id = None
    except AttributeError:
        return False
    return True


def _implementation(sandbox: Any) -> Any:
    """The object behind the SDK's wrapper; None where this version keeps it in another attribute."""
    inner = next((value for name, value in vars(sandbox).items() if name.startswith("_sync_original")), None)
    return getattr(inner, "_impl", None)
