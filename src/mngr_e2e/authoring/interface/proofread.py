"""Is a drafted command one that the program has? Asked of bash and of the program's own help, before a person is."""

import re
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from mngr_e2e.authoring.interface.help_pages import Help, is_known_option
from mngr_e2e.authoring.interface.programs import Programs
from mngr_e2e.authoring.rules import KNOWN_COMMAND, KNOWN_OPTION, VALID_SHELL, RuleFinding
from mngr_e2e.tutorial.blocks import Block
from mngr_e2e.tutorial.lint import SCENERY, simple_commands
from mngr_e2e.tutorial.syntax import syntax_problem
from mngr_lib.suggest import did_you_mean

_BUILT_IN = frozenset(
    "[ [[ : alias bg break case continue declare dirs disown do done elif else esac eval exit fc fg fi for function "
    "getopts hash help history if in jobs let local logout popd printf pushd pwd read readonly return select shift "
    "shopt test then time times trap type typeset ulimit umask unalias unset until wait while ! { }".split()
)
_REDIRECTS = re.compile(r"[<>]+&?|&>+|>[|]")
_HOLES = re.compile(r"[$`<>{}*?]")


class Proof(Struct, frozen=True):
    """What is wrong with a block, and what could not be checked."""

    findings: tuple[RuleFinding, ...] = ()
    notes: tuple[str, ...] = ()


class Proofreader:
    """Judges blocks. `under_test` are the programs whose help is asked; `familiar` those a person used already."""

    def __init__(self, programs: Programs, under_test: Iterable[str], familiar: Iterable[str] = ()) -> None:
        self._programs = programs
        self._under_test, self._familiar = frozenset(under_test), frozenset(familiar)

    def read(self, block: Block, where: str, subject: str = "") -> Proof:
        problem = block.problem or syntax_problem("\n".join(block.lines))
        if problem:
            what = re.sub(r"^line \d+: ", "", problem)
            broken = RuleFinding(
                VALID_SHELL, where, f"not valid shell: {problem}", subject, self.command_of(block), what
            )
            return Proof((broken,))
        findings: list[RuleFinding] = []
        notes: list[str] = []
        for words in (words for command in block.commands for words in simple_commands(command)):
            found = self._call(words)
            findings += [replace(finding, where=where, subject=subject) for finding in found.findings]
            notes += found.notes
        return Proof(tuple(dict.fromkeys(findings)), tuple(dict.fromkeys(notes)))

    def command_of(self, block: Block) -> str:
        """The command that a block is about, down to where the program's own commands end."""
        calls = [words for command in block.commands for words in simple_commands(command)]
        own = [words for words in calls if words[0].rpartition("/")[2] in self._under_test]
        own += [words for words in calls if words[0] not in SCENERY]
        words = next(iter([*own, *calls]), [block.title])
        path: tuple[str, ...] = (words[0].rpartition("/")[2],)
        for word in words[1:] if path[0] in self._under_test else ():
            if word.startswith("-") or self._programs.descend(path, word) is None:
                break
            path = (*path, word)
        return " ".join(path)

    def _call(self, words: Sequence[str]) -> Proof:
        program = words[0].rpartition("/")[2]
        if program not in self._under_test:
            if self._is_there(words[0], program):
                return Proof()
            problem = f"no program {program} is installed here"
            return Proof((RuleFinding(KNOWN_COMMAND, "", problem, command=program, what="no such program"),))
        known = self._programs.help((program,))
        if known is None:
            return Proof(notes=(f"not checked: nothing tells what {program} can do",))
        plain = (
            word
            for before, word in pairwise(words)
            if not (_REDIRECTS.fullmatch(before) or _REDIRECTS.fullmatch(word))
        )
        return self._follow(program, known, plain)

    def _is_there(self, word: str, program: str) -> bool:
        simple = not _HOLES.search(word) and "/" not in word and "=" not in word
        known = program in _BUILT_IN or program in SCENERY or program in self._familiar
        return not simple or known or bool(shutil.which(program))

    def _follow(self, program: str, known: Help, words: Iterable[str]) -> Proof:
        """Goes down the commands as the words name them, then looks at the options."""
        path: tuple[str, ...] = (program,)
        helps = [known]
        options: list[str] = []
        is_value = may_be_value = False
        for word in words:
            if word == "--":
                break
            if word.startswith("-") and word != "-" and (not is_value or is_known_option(word, helps)):
                may_be_value = not helps[-1].tells_options
                options += [] if may_be_value else [word]
                is_value = word in frozenset().union(*(one.valued for one in helps))
                continue
            if is_value or not helps[-1].commands or _HOLES.search(word):
                is_value = False
                continue
            below = self._programs.descend(path, word)
            if below is None and may_be_value:
                may_be_value = False
                continue
            if below is None:
                fallback = self._programs.fallback(path)
                if fallback.refuses:
                    name = " ".join(path)
                    hint = did_you_mean(word, helps[-1].commands, else_hint=f"see: {name} --help", form="{}")
                    return Proof(
                        findings=(
                            RuleFinding(
                                KNOWN_COMMAND,
                                "",
                                f'{name} has no command "{word}"; {hint}',
                                command=name,
                                what=word,
                            ),
                        )
                    )
                if fallback.help is None:
                    return Proof(notes=(f'not checked: what {" ".join(path)} does with "{word}"',))
                helps = [*helps, replace(fallback.help, commands=frozenset())]
                continue
            path, helps = (*path, word), [*helps, below]
        if not helps[-1].text:
            return Proof(notes=(f"options not checked: {' '.join(path)} --help tells nothing",))
        unknown = [word for word in options if not _HOLES.search(word) and not is_known_option(word, helps)]
        name, findings = " ".join(path), list[RuleFinding]()
        for option in (word.split("=", 1)[0] for word in unknown):
            hint = did_you_mean(option, helps[-1].options, else_hint=f"see: {name} --help", form="{}")
            text = f"{name} has no option {option}; {hint}"
            findings.append(RuleFinding(KNOWN_OPTION, "", text, command=name, what=option))
        return Proof(findings=tuple(findings))


def programs_used(blocks: Iterable[Block]) -> Counter[str]:
    """How often each program is called in a tutorial, scenery and the shell's own words left out."""
    calls = (words for block in blocks for command in block.commands for words in simple_commands(command))
    names = (words[0].rpartition("/")[2] for words in calls)
    return Counter(
        name for name in names if name not in SCENERY and name not in _BUILT_IN and not _HOLES.search(name)
    )


def program_under_test(blocks: Sequence[Block]) -> str:
    """The program that a tutorial is about: the one its own blocks call most; "" when they call none."""
    used = programs_used(block for block in blocks if not block.is_draft)
    return used.most_common(1)[0][0] if used else ""
