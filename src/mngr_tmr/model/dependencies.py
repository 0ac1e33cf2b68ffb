"""What a test depends on, as far as its runs showed, and what follows from it: passes that still hold, and skips."""

from collections.abc import Mapping

from msgspec import Struct

from mngr_tmr.model.usage import NO_USAGE, AgentUsage


class Dependencies(Struct, frozen=True, omit_defaults=True):
    """Paths from the top of the repository.

    `files` were read by the test, its fixtures and the programs that it starts, `folders` listed by them, `searched` by
    pytest while it collected. `everything` says why it is not known what was read: then all files count but those of
    other tests. `environment` is a digest of the Python and the distributions that it ran with.
    """

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    everything: str = ""
    environment: str = ""


class VerifiedPass(Struct, frozen=True):
    """A test that passed in all its runs at `commit`, with its agent's work or where its agent found none to do.

    `run` is the run of that agent, `conditions` a digest of its prompt and of how tests are run; `usage` and `worked_s`
    are what the agent used.
    """

    run: str
    commit: str
    conditions: str
    dependencies: Dependencies
    usage: AgentUsage = NO_USAGE
    worked_s: float = 0.0


class SkippedTask(Struct, frozen=True):
    """A task without an agent, since nothing it depends on changed since `since`, and what an agent used there."""

    since: str
    usage: AgentUsage = NO_USAGE
    worked_s: float = 0.0

    @property
    def reason(self) -> str:
        return f"nothing it reads changed since {self.since}"


class DependencyTable(Struct, frozen=True):
    """The dependencies of many tests, by node id, where each path is written once: a number stands for a path.

    Each entry has the numbers of files, folders and searched folders, then the texts.
    """

    paths: tuple[str, ...] = ()
    tests: dict[str, tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], str, str]] = {}

    def unpacked(self) -> dict[str, Dependencies]:
        """A number that stands for no path is an IndexError."""

        def paths(numbers: tuple[int, ...]) -> tuple[str, ...]:
            return tuple(self.paths[number] for number in numbers)

        return {
            test: Dependencies(paths(files), paths(folders), paths(searched), everything, environment)
            for test, (files, folders, searched, everything, environment) in self.tests.items()
        }


def packed(dependencies: Mapping[str, Dependencies]) -> DependencyTable:
    numbers: dict[str, int] = {}

    def numbered(paths: tuple[str, ...]) -> tuple[int, ...]:
        return tuple(numbers.setdefault(path, len(numbers)) for path in paths)

    tests = {
        test: (
            numbered(one.files),
            numbered(one.folders),
            numbered(one.searched),
            one.everything,
            one.environment,
        )
        for test, one in dependencies.items()
    }
    return DependencyTable(tuple(numbers), tests)
