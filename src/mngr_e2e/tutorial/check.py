"""Every command block has a test that cites it, and every citation is a block: read, nothing run."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from mngr_e2e.tutorial.blocks import Block, load_text, read_blocks
from mngr_e2e.tutorial.citations import Case, Citation, TestSources, Unreadable, load_tests
from mngr_e2e.tutorial.lint import known_verbs, runs_a_command_of
from mngr_e2e.tutorial.nearest import Difference, Finder, first_difference
from mngr_e2e.tutorial.syntax import syntax_problem


class Stale(Struct, frozen=True):
    """A citation that is no block of the tutorial, with the block it may have meant."""

    node_id: str
    path: str
    line: int
    text: str
    nearest: Block | None = None
    difference: Difference | None = None
    advice: str = ""


class Duplicate(Struct, frozen=True):
    """Blocks with the same text."""

    id: str
    title: str
    first_lines: tuple[int, ...]


class LintFinding(Struct, frozen=True):
    """A test that cites a block and runs no command of it."""

    node_id: str
    path: str
    line: int
    block_id: str
    problem: str


class Outdated(Struct, frozen=True):
    """A block with a command or option that the program does not have, as its own help or its reference tells."""

    block_id: str
    first_line: int
    problem: str


class Link(Struct, frozen=True):
    """A test and a block that it cites."""

    block_id: str
    node_id: str
    path: str
    line: int


class Report(Struct, frozen=True):
    """What the check found. `is_green` when every command block is cited and every citation can be read and fits."""

    tutorial: str
    blocks: tuple[Block, ...]
    tests: int
    uncovered: tuple[Block, ...] = ()
    stale: tuple[Stale, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    problems: tuple[str, ...] = ()
    duplicates: tuple[Duplicate, ...] = ()
    lint: tuple[LintFinding, ...] = ()
    links: tuple[Link, ...] = ()
    outdated: tuple[Outdated, ...] = ()

    @property
    def is_green(self) -> bool:
        return not (self.uncovered or self.stale or self.unreadable or self.problems)

    @property
    def gaps(self) -> tuple[Block, ...]:
        return tuple(block for block in self.blocks if block.kind == "gap")


def check(tutorial_path: str, test_paths: Iterable[str]) -> Report:
    """Compares a tutorial with its tests. A path that does not exist is a FileNotFoundError."""
    text = load_text(tutorial_path)
    blocks = read_blocks(text)
    report = compare(tutorial_path, blocks, load_tests(test_paths))
    found = [block.problem for block in blocks if block.problem] or [syntax_problem(text)]
    problems = tuple(problem for problem in found if problem)
    return replace(report, problems=problems)


def compare(tutorial: str, blocks: Sequence[Block], tests: TestSources) -> Report:
    """The check itself, from what was read."""
    found = _Matcher(blocks)
    links, stale, lint = [], [], []
    verbs = known_verbs(blocks)
    for case in tests.cases:
        for citation in case.citations:
            block = found.block(citation)
            if block is None:
                stale.append(found.explain(case, citation))
                continue
            links.append(Link(block.id, case.node_id, case.path, citation.line))
            if block.kind == "command" and not runs_a_command_of(block, case.runs, verbs):
                proxies = [run for run in case.runs if run and "--help" in run]
                what = (
                    "runs only --help instead of"
                    if proxies and len(proxies) == len(case.runs)
                    else "never runs"
                )
                problem = f"{what} a command of its block: {block.title}"
                lint.append(LintFinding(case.node_id, case.path, citation.line, block.id, problem))
    cited = {link.block_id for link in links}
    return Report(
        tutorial=tutorial,
        blocks=tuple(blocks),
        tests=len(tests.cases),
        uncovered=tuple(block for block in blocks if block.kind == "command" and block.id not in cited),
        stale=tuple(stale),
        unreadable=tests.unreadable,
        duplicates=find_duplicates(blocks),
        lint=tuple(lint),
        links=tuple(links),
    )


def find_duplicates(blocks: Sequence[Block]) -> tuple[Duplicate, ...]:
    """Command blocks that stand there more than once; a test cannot say which of them it means."""
    places: dict[str, list[Block]] = {}
    for block in blocks:
        if block.kind == "command":
            places.setdefault(block.id, []).append(block)
    return tuple(
        Duplicate(same[0].id, same[0].title, tuple(block.first_line for block in same))
        for same in places.values()
        if len(same) > 1
    )


class _Matcher:
    """Citations to blocks; near ones are looked for only when a citation fits none."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks
        self._by_text = {block.text: block for block in reversed(blocks)}
        self._flat = {_flat(block.text): block for block in reversed(blocks)}
        self._finder: Finder | None = None

    def block(self, citation: Citation) -> Block | None:
        exact = self._by_text.get(citation.text)
        return self._flat.get(_flat(citation.text)) if exact is None and citation.is_flush else exact

    def explain(self, case: Case, citation: Citation) -> Stale:
        self._finder = self._finder or Finder(self._blocks)
        text = citation.text
        near, advice = self._finder.nearest(text), ""
        if near and "\\" in near.text and near.text.replace("\\\n", " ").split() == text.split():
            advice = 'the block holds a backslash: cite it in a raw string, r"""…"""'
        elif near and near.text in text:
            advice = "a citation is one whole block, not several"
        return Stale(
            node_id=case.node_id,
            path=case.path,
            line=citation.line,
            text=text,
            nearest=near,
            difference=first_difference(near, text) if near else None,
            advice=advice,
        )


def _flat(text: str) -> str:
    return "\n".join(line.lstrip() for line in text.split("\n"))
