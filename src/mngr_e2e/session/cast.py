"""Writes what arrives on stdin as an asciicast v2 file: `python cast.py FILE COLS ROWS TITLE`.

Run as a program of its own behind `tmux pipe-pane`; needs nothing but the standard library.
"""

import codecs
import json
import os
import signal
import sys
import time


def main(path: str, cols: str, rows: str, title: str) -> None:
    """Copies stdin to a cast until it ends, each piece with its time of arrival."""
    # It ends with its input: a TERM meant for the recorded program must not cut the recording short.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    started = time.time()
    header = {
        "version": 2,
        "width": int(cols),
        "height": int(rows),
        "timestamp": int(started),
        "title": title,
    }
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with open(path, "w", encoding="utf-8") as file:
        print(json.dumps(header), file=file, flush=True)
        while data := os.read(0, 1 << 16):
            if text := decoder.decode(data):
                print(json.dumps([round(time.time() - started, 6), "o", text]), file=file, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:5])
