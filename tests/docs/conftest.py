"""`echo` is a project that tests here copy; its tests are run there."""

collect_ignore = ["echo"]
