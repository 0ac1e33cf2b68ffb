"""The list on the whole screen: arrows move, space marks, a adds, d deletes, q leaves."""

import curses

from jot import store

_HELP = "up/down move   space mark   a add   d delete   q quit"


def show() -> None:
    """Runs until q."""
    curses.wrapper(_loop)


def _loop(window: "curses.window") -> None:
    curses.curs_set(0)
    at = 0
    while True:
        notes = store.load()
        at = max(0, min(at, len(notes) - 1))
        _draw(window, notes, at)
        key = window.getch()
        if key == ord("q"):
            return
        if key == curses.KEY_DOWN:
            at += 1
        elif key == curses.KEY_UP:
            at -= 1
        elif key == ord("a"):
            _add(window)
            at = len(notes)
        elif key == ord(" ") and notes:
            store.mark(notes[at].id, done=not notes[at].done)
        elif key == ord("d") and notes:
            store.remove(notes[at].id)


def _draw(window: "curses.window", notes: list[store.Note], at: int) -> None:
    height, width = window.getmaxyx()
    window.erase()
    open_notes = sum(not note.done for note in notes)
    window.addnstr(0, 0, f"jot: {open_notes} to do, {len(notes) - open_notes} done", width - 1, curses.A_BOLD)
    top = max(0, at - (height - 5))
    for row, note in enumerate(notes[top : top + height - 4]):
        look = curses.A_REVERSE if top + row == at else curses.A_DIM if note.done else curses.A_NORMAL
        tag = f"  #{note.tag}" if note.tag else ""
        window.addnstr(2 + row, 0, f"[{'x' if note.done else ' '}] {note.text}{tag}", width - 1, look)
    if not notes:
        window.addnstr(2, 0, "nothing to do", width - 1)
    window.addnstr(height - 1, 0, _HELP, width - 1, curses.A_DIM)
    window.refresh()


def _add(window: "curses.window") -> None:
    height, width = window.getmaxyx()
    window.addnstr(height - 1, 0, "new note: ".ljust(width - 1), width - 1)
    window.move(height - 1, len("new note: "))
    curses.echo()
    curses.curs_set(1)
    text = window.getstr().decode(errors="replace").strip()
    curses.noecho()
    curses.curs_set(0)
    if text:
        store.add(text)
