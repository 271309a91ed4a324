"""States of modern servers, sealed for one client and one request."""

import pytest

from thrall_py.gateway.relay.pending import MARK
from thrall_py.gateway.relay.sealing import Seals


def test_a_state_comes_out_as_it_went_in_for_whom_it_was_sealed():
    seals = Seals()
    sealed = seals.seal('"s\\u0031 \xe9"', "mine")
    assert sealed.startswith(MARK)
    assert sealed.isascii()
    assert seals.open(sealed, "mine") == '"s\\u0031 \xe9"'
    assert seals.open(sealed, "yours") is None


def test_another_process_has_another_key():
    assert Seals().open(Seals().seal("1", "mine"), "mine") is None


def test_a_seal_is_good_for_a_while():
    now = [100.0]
    seals = Seals(10, lambda: now[0])
    sealed = seals.seal("1", "mine")
    now[0] = 110.0
    assert seals.open(sealed, "mine") == "1"
    now[0] = 111.0
    assert seals.open(sealed, "mine") is None


@pytest.mark.parametrize(
    "forged", ["", "s", "thrall-", "a.1.zz", "a.b.31", "\xe9.1.31", "a.1.31.32"]
)
def test_what_was_not_sealed_does_not_open(forged):
    assert Seals().open(forged, "mine") is None


@pytest.mark.parametrize("spelling", [str.upper, lambda text: f"{text}\n", lambda text: f" {text}"])
def test_a_seal_has_one_spelling(spelling):
    seals = Seals()
    mac, until, inside = seals.seal('"jkl"', "mine").split(".")
    assert seals.open(f"{mac}.{until}.{inside}", "mine") == '"jkl"'
    assert seals.open(f"{mac}.{until}.{spelling(inside)}", "mine") is None
