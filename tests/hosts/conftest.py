"""Makes failures inside the shipped conformance suite readable."""

import pytest

pytest.register_assert_rewrite("mngr.hosts.conformance")
