"""The forms of a report: page, terminal, Markdown, JUnit, `summary.json` and `mngr tmr status`."""
