"""Records to one HTML file that needs nothing beside it."""

import os
import stat
from collections.abc import Iterable, Iterator
from itertools import chain

from mngr_lib.files import replace_file
from mngr_view.chunks import INDEX, elements, encode
from mngr_view.errors import ViewError
from mngr_view.records import Index
from mngr_view.template import TEMPLATE, read_template


def write_page(
    file: str, index: Index, chunks: Iterable[tuple[str, bytes]], *, template: str = TEMPLATE
) -> None:
    """Writes the page to a file in one step; on any failure what was there before is still there.

    `chunks` are keys with their JSON, asked for one after another while the file grows. A place that is no
    file, such as /dev/stdout, is written to directly; a folder is a ViewError.
    """
    parts = page_parts(index, chunks, template=template)
    target = os.path.realpath(file)
    if os.path.isdir(target):
        raise ViewError(f"{file} is a folder", hint=f"name a file: {os.path.join(file, 'report.html')}")
    try:
        if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
            with open(target, "wb") as out:
                out.writelines(parts)
        else:
            replace_file(target, parts)
    except OSError as error:
        raise ViewError(f"cannot write {file}: {error.strerror or error}") from error


def page_parts(
    index: Index, chunks: Iterable[tuple[str, bytes]], *, template: str = TEMPLATE
) -> Iterator[bytes]:
    """The page piece by piece; a missing template is a ViewError before the first."""
    frame = read_template(template)
    return chain(
        [frame.head(index.title, is_live=False)],
        elements(chain([(INDEX, encode(index))], chunks)),
        [frame.tail],
    )
