"""Everything by which a repository can make git run a program: planted by hand, so that planting springs none."""

import os
from pathlib import Path

from mngr import process

_HOOKS = (
    *("post-checkout", "post-index-change", "reference-transaction", "pre-push", "post-merge", "post-commit"),
    *("pre-receive", "update", "post-receive", "post-update", "pre-auto-gc", "post-rewrite", "pre-commit"),
    *("proc-receive", "push-to-checkout", "fsmonitor-watchman", "pre-merge-commit", "prepare-commit-msg"),
)


class Traps:
    """Programs that write down their names; `sprung` is what ran."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder, self._ledger = folder, folder / "sprung"

    @property
    def sprung(self) -> list[str]:
        return sorted(set(self._ledger.read_text().split())) if self._ledger.exists() else []

    def program(self, name: str) -> str:
        """A program that notes its name; a filter's copies its input, so that git goes on."""
        path = self._folder / name
        then = "exec cat" if "clean" in name or "smudge" in name else "exit 1"
        path.write_text(f"#!/bin/sh\necho {name} >>'{self._ledger}'\n{then}\n")
        path.chmod(0o755)
        return str(path)

    def hooks(self, name: str) -> str:
        folder = self._folder / f"hooks-{name}"
        folder.mkdir()
        for hook in _HOOKS:
            (folder / hook).symlink_to(self.program(f"{name}-hook-{hook}"))
        return str(folder)

    def config(self, name: str, *, rewritten: str = "") -> str:
        """Git configuration in which every program is a trap. What begins with `rewritten` becomes a trap's address."""

        def trap(what: str) -> str:
            return self.program(f"{name}-{what}")

        lines = [
            "[core]",
            *(f"\t{key} = {trap(key)}" for key in ("fsmonitor", "sshCommand", "pager", "editor", "askPass")),
            *(f"\t{key} = {trap(key)}" for key in ("alternateRefsCommand", "gitProxy")),
            f"\thooksPath = {self.hooks(name)}",
            '[filter "trap"]',
            *(f"\t{key} = {trap(f'filter-{key}')}" for key in ("clean", "smudge", "process")),
            '[filter "plain"]',
            *(f"\t{key} = {trap(f'plain-{key}')}" for key in ("clean", "smudge")),
            '[diff "trap"]',
            *(f"\t{key} = {trap(f'diff-{key}')}" for key in ("textconv", "command")),
            f"[diff]\n\texternal = {trap('diff-external')}",
            '[merge "trap"]',
            f"\tdriver = {trap('merge-driver')}",
            f"[gpg]\n\tprogram = {trap('gpg')}",
            "[commit]\n\tgpgSign = true\n[push]\n\tgpgSign = if-asked\n[merge]\n\tverifySignatures = true",
            f"[credential]\n\thelper = {trap('credential')}",
            f"[uploadpack]\n\tpackObjectsHook = {trap('packObjectsHook')}",
            f"[alias]\n\tstatus = !{trap('alias')}\n\tadd = !{trap('alias')}",
            '[protocol]\n\tallow = always\n[protocol "ext"]\n\tallow = always',
            '[remote "trap"]',
            f"\turl = ext::{trap('remote')}\n\tpromisor = true\n\tfetch = +refs/*:refs/*",
            "[submodule]\n\trecurse = true\n[fetch]\n\trecurseSubmodules = true",
            "[status]\n\tsubmoduleSummary = true",
        ]
        if rewritten:
            lines += [f'[url "ext::{trap("rewritten")} %S "]', f"\tinsteadOf = {rewritten}"]
        return "\n".join(lines) + "\n"


ATTRIBUTES = "* filter=trap diff=trap merge=trap\n*.txt filter=plain\n"


def embed_repository(work_dir: Path) -> Path:
    """A repository inside the work dir, known to the outer one as a submodule, and changed since."""
    inner = work_dir / "embedded"
    inner.mkdir()
    for words in (("init", "-q", "-b", "main"), ("commit", "-q", "--allow-empty", "-m", "inner")):
        git(inner, *words)
    (inner / "a.txt").write_text("one\n")
    (inner / "b").write_text("one\n")
    git(inner, "add", ".")
    git(inner, "commit", "-q", "-m", "files")
    (work_dir / ".gitmodules").write_text(
        '[submodule "embedded"]\n\tpath = embedded\n\turl = ./embedded\n\tignore = none\n\tupdate = merge\n'
    )
    git(work_dir, "add", "-A")
    git(work_dir, "commit", "-q", "-m", "an embedded repository")
    (inner / "a.txt").write_text("two\n")
    (inner / "b").write_text("two\n")
    return inner


def spring_load(traps: Traps, work_dir: Path, git_dir: Path, *, config: str, rewritten: str) -> None:
    """Plants every trap in a work dir whose repository the agent owns; its last commit is there by now."""
    inner = work_dir / "embedded"
    for path in (work_dir, inner):
        (path / ".gitattributes").write_text(ATTRIBUTES)
    (work_dir / "a.txt").write_text("changed\n")
    (work_dir / "file").write_text("changed\n")
    with open(git_dir / config, "a") as file:
        file.write(traps.config("own", rewritten=rewritten))
        file.write(f"[include]\n\tpath = {traps._folder}/more\n")
    (traps._folder / "more").write_text(traps.config("included"))
    with open(inner / ".git/config", "a") as file:
        file.write(traps.config("embedded"))
    for path in (git_dir, inner / ".git"):
        os.makedirs(path / "info", exist_ok=True)
        (path / "info/attributes").write_text(ATTRIBUTES)
        os.makedirs(path / "hooks", exist_ok=True)
        for hook in _HOOKS:
            (path / "hooks" / hook).unlink(missing_ok=True)
            (path / "hooks" / hook).symlink_to(traps.program(f"planted-{hook}"))


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "advice.addEmbeddedRepo=false")
    return process.run(("git", *who, "-C", str(folder), *words)).check(f"git {words[0]}").text.strip()
