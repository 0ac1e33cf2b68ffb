"""What programs that take any text refuse: bytes that are none, and nothing at all."""

from mngr.errors import RefusedError


def check_text(message: bytes, program: str) -> str:
    """The message as text, or an error for what is none; nothing was sent then."""
    try:
        text = message.decode()
    except UnicodeDecodeError as error:
        raise RefusedError(
            f"{program} cannot be sent this message: byte 0x{message[error.start]:02x} at offset "
            f"{error.start} is not UTF-8",
            hint="put it into a file of its work dir and send the file's name",
        ) from None
    if not text.strip():
        raise RefusedError(
            f"{program} cannot be sent this message: there is nothing in it but blanks", hint="write a word"
        )
    return text
