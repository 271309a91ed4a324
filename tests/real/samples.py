"""What the servers in this folder answer with, for them and for the tests."""

# One grey pixel.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a4944415478da6368000000820081da45083b0000000049454e44ae426082"
)


def pieces(size, first="\n"):
    """A text of `size` characters in which a lost, repeated or moved piece shows.

    `first` is the character that each thousand or so begins with.
    """
    for number, start in enumerate(range(0, size, 1024)):
        yield f"{first}{number:08d} {'thrall ' * 145}"[: min(1024, size - start)]
