"""The verbs as typed Python functions."""

import inspect
import subprocess
import sys
from typing import get_type_hints

import msgspec
import pytest

import mngr
from mngr.actions.create.request import CreateFields, CreateSpec

pytestmark = pytest.mark.accept("K3")

VERBS = (
    "create list_agents plan_connect message wait exec_in capture transcript events pull push stop start destroy "
    "rename label clone migrate create_snapshot list_snapshots restore_snapshot destroy_snapshot find_garbage "
    "remove_garbage choose_agents examine usage diff"
).split()


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_is_a_documented_function_with_types_and_a_manager(name: str) -> None:
    verb = getattr(mngr, name)
    assert inspect.getdoc(verb), name
    signature = inspect.signature(verb)
    assert "manager" in signature.parameters
    assert signature.return_annotation is not inspect.Signature.empty


def test_every_public_name_is_there() -> None:
    assert set(mngr.__all__) <= set(dir(mngr))
    for name in mngr.__all__:
        assert getattr(mngr, name) is not None


def test_create_takes_as_keywords_what_its_record_has_as_fields() -> None:
    hints = get_type_hints(CreateSpec)
    fields = {field.name: hints[field.name] for field in msgspec.structs.fields(CreateSpec)}
    # A list may be given as a single word.
    keywords = {
        name: tuple[str, ...] if hint == str | tuple[str, ...] else hint
        for name, hint in get_type_hints(CreateFields).items()
    }
    assert {"name": str, **keywords} == fields


def test_importing_the_package_loads_none_of_it() -> None:
    script = "import sys, mngr; print(sorted(name for name in sys.modules if name.startswith('mngr')))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['mngr']"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="hovercraft"):
        mngr.hovercraft  # noqa: B018
