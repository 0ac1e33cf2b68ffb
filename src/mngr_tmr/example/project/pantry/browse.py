"""The shelf on the whole screen; q leaves."""

import curses

from pantry import shelf


def browse():
    curses.wrapper(_show)


def _show(screen):
    curses.curs_set(0)
    items = sorted(shelf.load().items())
    chosen = 0
    while True:
        screen.erase()
        screen.addstr(0, 0, "Pantry", curses.A_BOLD)
        for row, (name, item) in enumerate(items):
            mark = curses.A_REVERSE if row == chosen else curses.A_NORMAL
            screen.addstr(row + 2, 2, f"{name:<20}{item['amount']:>4}", mark)
        key = screen.getch()
        if key in (ord("q"), -1):
            return
        if key in (curses.KEY_DOWN, ord("j")):
            chosen = min(chosen + 1, max(len(items) - 1, 0))
        if key in (curses.KEY_UP, ord("k")):
            chosen = max(chosen - 1, 0)
