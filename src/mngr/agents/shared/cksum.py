"""The checksum of cksum(1), the only one that every host has."""


def _table() -> tuple[int, ...]:
    table = []
    for value in range(256):
        crc = value << 24
        for _ in range(8):
            crc = (crc << 1) ^ 0x04C11DB7 if crc & 0x80000000 else crc << 1
        table.append(crc & 0xFFFFFFFF)
    return tuple(table)


def cksum(data: bytes) -> str:
    """What `cksum` prints: the checksum and the number of bytes."""
    table, crc, length = _table(), 0, len(data)
    for byte in data + length.to_bytes((length.bit_length() + 7) // 8, "little"):
        crc = ((crc << 8) & 0xFFFFFFFF) ^ table[(crc >> 24) ^ byte]
    return f"{crc ^ 0xFFFFFFFF} {length}"
