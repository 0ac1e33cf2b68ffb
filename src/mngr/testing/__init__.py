"""What the author of a plugin tests with: conformance suites, and a provider with faults."""
