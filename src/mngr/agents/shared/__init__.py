"""What several agent types use: session files, checksums, screens that nobody knows."""
