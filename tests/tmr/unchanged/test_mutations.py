"""Seeded changes of the example project: no test that one of them breaks is skipped.

`MNGR_TEST_MUTATIONS` says how many changes; the acceptance line asks for 200. Each change stands alone on the base.
"""

import os
import random
from pathlib import Path
from textwrap import dedent

import pytest
from msgspec.structs import replace
from tests.support.world import LEAN_FLAGS, World
from tests.tmr.project import PYTHON, Project
from tests.tmr.unchanged.mutations import mutate

from mngr.process import run as run_program
from mngr_tmr.collect.collect import collect
from mngr_tmr.example.make import make_example
from mngr_tmr.model.dependencies import VerifiedPass
from mngr_tmr.model.run import RunOptions
from mngr_tmr.unchanged.changes import changes_between, files_that_name
from mngr_tmr.unchanged.decide import why_run
from mngr_tmr.verify.verify import measure_base

pytestmark = pytest.mark.slow

SEED = int(os.environ.get("MNGR_TEST_SEED", "7"))
MUTATIONS = int(os.environ.get("MNGR_TEST_MUTATIONS", "8"))
FIXES = {
    "pantry/shelf.py": (
        ('{"amount": 1, "price": price}', '{"amount": amount, "price": price}'),
        ('left = amount - shelf[name]["amount"]', 'left = shelf[name]["amount"] - amount'),
    ),
    "pantry/money.py": (("str(round(worth))", 'f"{worth * RATES[currency]:.2f}"'),),
}
MORE = {
    "bin/units": '#!/bin/sh\nhere=$(dirname -- "$0")/..\nsort "$here/data/units.txt" | head -n 1\n',
    "data/units.txt": "kg\ng\n",
    "data/shops/corner.txt": "open\n",
    "data/shops/market.txt": "closed\n",
    "late_1.py": "FACTOR = 1000\n",
    "late_2.py": "import late_1\n\n\ndef grams(kg):\n    return kg * late_1.FACTOR\n",
    "docs/shops.md": "Shops\n",
    "docs/units.md": "Units\n",
    "tests/test_units.py": """
        import os
        import subprocess
        import sys

        ROOT = os.path.dirname(os.path.dirname(__file__))

        def test_the_smallest_unit():
            program = os.path.join(ROOT, "bin", "units")
            assert subprocess.run([program], stdout=-1, check=True).stdout == b"g\\n"

        def test_grams_of_a_kilogram():
            code = f"import sys; sys.path.insert(0, {ROOT!r}); import late_2; print(late_2.grams(2))"
            assert subprocess.run([sys.executable, "-c", code], stdout=-1, check=True).stdout == b"2000\\n"

        def test_kinds_of_units_in_process():
            from late_2 import grams
            assert grams(3) == 3000
    """,
    "tests/test_shops.py": """
        import os
        import subprocess

        ROOT = os.path.dirname(os.path.dirname(__file__))

        def test_there_are_two_shops():
            assert len(os.listdir(os.path.join(ROOT, "data", "shops"))) == 2

        def test_one_shop_is_open():
            found = subprocess.run(["grep", "-rl", "open", "data/shops"], cwd=ROOT, stdout=-1, check=True)
            assert found.stdout == b"data/shops/corner.txt\\n"

        def test_shops_have_a_page():
            assert os.path.getsize(os.path.join(ROOT, "docs", "shops.md")) == 6
    """,
    "conftest.py": "import os, sys\nsys.path.insert(0, os.path.dirname(__file__))\n",
}


class MutatedExample:
    """The example with its worst bugs fixed and a few programs more; its tests are measured once."""

    def __init__(self, project: Project) -> None:
        self.project, self.manager = project, project.manager
        self.repo = Path(make_example(str(project.world.folder / "pantry")).repo)
        for name, pairs in FIXES.items():
            for old, new in pairs:
                path = self.repo / name
                path.write_text(path.read_text().replace(old, new))
        for name, text in MORE.items():
            path = self.repo / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text))
        (self.repo / "bin/units").chmod(0o755)
        base = self.commit()
        options = RunOptions(verify_runs=1, verify_deadline_s=300.0)
        draft = project.run("tests", base=base, tutorial="tutorial.sh", options=options)
        draft = replace(draft, repo=str(self.repo), pytest=("pytest", *LEAN_FLAGS))
        found = collect(draft, manager=self.manager)
        self.run = replace(draft, tasks=found.tasks)
        self.environment = found.environment
        self.passes = {
            test: VerifiedPass("r1", base, "", one.dependencies)
            for test, one in measure_base(self.run, manager=self.manager).items()
            if one.verdict == "passed" and one.dependencies
        }

    def git(self, *words: str) -> str:
        return self.project.world.git_in(self.repo, *words)

    def commit(self) -> str:
        self.git("add", "--all")
        self.git("-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "-m", "a change")
        return self.git("rev-parse", "HEAD").strip()

    def skipped_at(self, commit: str) -> list[str]:
        """The tests that a run at this commit would skip, by what they depend on alone."""
        changes = changes_between(str(self.repo), self.run.base, commit)
        names = {os.path.basename(change.path) for change in changes or ()}
        named = files_that_name(str(self.repo), self.run.base, names)
        return [
            test
            for test, one in self.passes.items()
            if not why_run(one, changes, named, conditions="", environment=self.environment)
        ]

    def not_passing(self, tests: list[str]) -> str:
        """What pytest says of these tests in the checkout as it is; empty when all pass."""
        words = ("-q", "-p", "no:cacheprovider", *LEAN_FLAGS, *tests)
        env = {**self.project.world.env, "PYTHONDONTWRITEBYTECODE": "1"}
        ran = run_program([str(PYTHON / "pytest"), *words], cwd=str(self.repo), env=env, timeout_s=300)
        return "" if ran.code == 0 else ran.text[-2000:]


@pytest.fixture
def example(tmp_path: Path) -> MutatedExample:
    return MutatedExample(Project(World(tmp_path)))


@pytest.mark.accept("O11")
def test_no_test_that_a_change_breaks_is_skipped(example: MutatedExample) -> None:
    assert len(example.passes) >= 16
    counts = {"changes": 0, "some skipped": 0, "skips": 0}
    for number in range(MUTATIONS):
        example.git("checkout", "-q", "--detach", "-f", example.run.base)
        rng, what = random.Random(f"{SEED} {number}"), ""
        while not example.git("status", "--porcelain"):
            what = mutate(example.repo, rng)
        skipped = example.skipped_at(example.commit())
        counts["changes"] += 1
        if skipped:
            counts["some skipped"] += 1
            counts["skips"] += len(skipped)
            assert not (problem := example.not_passing(skipped)), f"seed {SEED} {number}: {what}\n{problem}"
    print(counts)
    assert counts["some skipped"] >= MUTATIONS // 8, counts
