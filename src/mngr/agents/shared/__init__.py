"""What several agent types use: session files, checksums, unknown screens."""
