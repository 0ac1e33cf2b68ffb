"""The checksum of cksum(1), the only one that every host has."""


def cksum(data: bytes) -> str:
    """What `cksum` prints: the checksum and the number of bytes."""
    table = []
    for value in range(256):
        entry = value << 24
        for _ in range(8):
            entry = (entry << 1) ^ 0x04C11DB7 if entry & 0x80000000 else entry << 1
        table.append(entry & 0xFFFFFFFF)
    crc, length = 0, len(data)
    for byte in data + length.to_bytes((length.bit_length() + 7) // 8, "little"):
        crc = ((crc << 8) & 0xFFFFFFFF) ^ table[(crc >> 24) ^ byte]
    return f"{crc ^ 0xFFFFFFFF} {length}"
