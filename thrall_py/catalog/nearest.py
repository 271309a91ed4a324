"""The names nearest to one that is not there, for a person who mistyped it. Pure."""

from collections.abc import Collection

from thrall_py.visible import visible

_LONGEST = 200  # characters of a name that is compared; the work grows with their square


def nearest(name: str, names: Collection[str]) -> list[str]:
    """Find up to three names that look like `name`, the nearest first."""
    import difflib  # 3 ms, and only here

    known = [each for each in names if len(each) <= _LONGEST]
    return difflib.get_close_matches(name[:_LONGEST], known)


def hint(name: str, names: Collection[str]) -> str:
    """What to add to a sentence about a name that is not there; empty if nothing is near."""
    near = nearest(name, names)
    return f"; the nearest: {', '.join(map(visible, near))}" if near else ""
