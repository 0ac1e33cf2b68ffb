"""Which errors of a model are final, by what the programs of agents say of them."""

from typing import Any

import pytest

from mngr.model.model_error import model_error

pytestmark = pytest.mark.accept("M19")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (
            {"error": "authentication_failed", "message": "Not logged in · Please run /login"},
            "authentication",
        ),
        ({"error": "billing_error", "message": "Credit balance is too low"}, "billing"),
        ({"error": "model_not_found"}, "model"),
        ({"error": "oauth_org_not_allowed"}, "permission"),
        (
            {"error": "invalid_request", "message": "Your key belongs to a disabled organization"},
            "permission",
        ),
        ({"error": "unexpected status 401 Unauthorized: no such key"}, "authentication"),
        ({"error": "unexpected status 403 Forbidden: no"}, "permission"),
        ({"error": "Payment Required", "status": 402}, "billing"),
        ({"error": "429 You exceeded your current quota, check your plan"}, "billing"),
        ({"error": "rate_limit", "message": "429 invalid api key"}, "rate_limit"),
        ({"error": "429 error:message:slow down"}, "rate_limit"),
        ({"error": "overloaded"}, "rate_limit"),
        ({"error": "unexpected status 529"}, "rate_limit"),
        ({"error": "unknown", "message": "You've hit your limit · resets 2pm (UTC)"}, "rate_limit"),
        ({"error": "server_error", "message": "API Error: 500"}, "other"),
        ({"error": "unexpected status 503: see rfc 404"}, "other"),
        ({"error": "stream disconnected before completion"}, "other"),
        ({"error": 7, "status": "401"}, "other"),
        ({}, "other"),
    ],
)
def test_the_kind_of_an_error(data: dict[str, Any], kind: str) -> None:
    error = model_error(data)
    assert (error.kind, error.is_final) == (kind, kind not in ("rate_limit", "other"))
    assert error.message


def test_the_message_is_one_printable_line() -> None:
    error = model_error({"error": "billing_error", "message": "no\x1b[2J\n credit\u202e " + "x" * 2000})
    assert error.message.startswith("no[2J credit x")
    assert len(error.message) == 500
