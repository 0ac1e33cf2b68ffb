"""A loopback Modal: the SDK's own protocol, served from memory, with a box of this machine for every sandbox."""
