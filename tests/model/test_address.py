"""Addresses: `[NAME][@[HOST][.PROVIDER]][:PATH]`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr.errors import UsageError
from mngr.model.address import Address, parse_address

PROVIDERS = ("local", "docker", "modal", "ssh")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("", Address()),
        ("foo", Address("foo")),
        ("foo@box", Address("foo", "box")),
        ("foo@.modal", Address("foo", "", "modal")),
        ("@.docker", Address("", "", "docker")),
        ("foo@box.ssh", Address("foo", "box", "ssh")),
        ("foo@box.example.com", Address("foo", "box.example.com")),
        ("foo@10.0.0.5", Address("foo", "10.0.0.5")),
        ("foo@10.0.0.5.ssh:/srv/a b", Address("foo", "10.0.0.5", "ssh", "/srv/a b")),
        ("foo:/srv/x:y", Address("foo", path="/srv/x:y")),
    ],
)
def test_reads_every_form(text: str, address: Address) -> None:
    assert parse_address(text, PROVIDERS) == address
    assert str(address) == text


@pytest.mark.parametrize(
    "text", ["foo@.modla", "foo@", "foo:", "-foo", "foo-", "a b", "a" * 64, "foo@b x", "fo\no", "@@"]
)
def test_refuses_what_is_no_address_with_a_hint(text: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_address(text, PROVIDERS)
    assert error.value.hint


def test_names_the_nearest_provider() -> None:
    with pytest.raises(UsageError, match='no provider "modla"') as error:
        parse_address("foo@.modla", PROVIDERS)
    assert '"modal"' in error.value.hint


@pytest.mark.accept("Q7")
@given(st.text())
def test_any_text_is_an_address_or_a_usage_error(text: str) -> None:
    try:
        address = parse_address(text, PROVIDERS)
    except UsageError:
        return
    assert parse_address(str(address), PROVIDERS) == address
