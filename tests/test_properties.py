"""What holds for every text, number and message; the sharp edges by hand are in the other files."""

import base64
import contextlib
import json
import re
from decimal import Context, Decimal
from fractions import Fraction

import pytest
from fakes import (
    Script,
    channel_closed,
    discover_result,
    error,
    initialize_result,
    result,
    session_over,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st

from thrall_py.errors import ServerError, ThrallError
from thrall_py.output.render import read_result
from thrall_py.protocol import pieces
from thrall_py.protocol.canonical import compact, digest, indented, sort_members
from thrall_py.protocol.handshake import Handshake
from thrall_py.protocol.jsontext import (
    EACH,
    JsonError,
    decode,
    latin1,
    load,
    scan,
    validate,
)
from thrall_py.protocol.numbers import ExactNumber, number
from thrall_py.redact import Redactor
from thrall_py.visible import hidden_characters, visible, visible_json, visible_text

settings.register_profile("gate", derandomize=True, deadline=None, database=None)
settings.load_profile("gate")

EXACT = Context(prec=1100, Emax=10**6, Emin=-(10**6))
SHAPES = st.recursive(
    st.just({}),
    lambda inner: st.dictionaries(st.sampled_from(["a", "b", EACH, "é"]), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["a", "b", "é", "\ud800"]) | st.text(max_size=5)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)
LITERALS = st.from_regex(
    r"\A-?(0|[1-9][0-9]{0,45})(\.[0-9]{1,45})?([eE][-+]?[0-9]{1,3})?\Z",
)
SPELLINGS = st.builds(
    lambda value, ascii_, space: json.dumps(value, ensure_ascii=ascii_, separators=space),
    VALUES,
    st.booleans(),
    st.sampled_from([(",", ":"), (", ", ": "), (" \t, ", "\r\n : ")]),
)
SHARP = [
    b"", b" ", b"\x00", b"\xef\xbb\xbf", b"\xef\xbb\xbf1", b"[" * 5000, b'{"a":' * 5000, b"NaN",
    b"-Infinity", b"1e400", b"-0", b"01", b"1" * 5000, b'{"a":1,"a":2}', b'{"a":1,"\\u0061":2}',
    b'"\\ud800"', b'"\xed\xa0\x80"', b'"\\udc00\\ud800"', '"\u2028"'.encode(), "[1]".encode("utf-16"),
    "\ufeff[1]".encode("utf-32"), b'"\x00"', b'"\\u0000"', b'"\\', b'"', b"[1,]", b'{"":{"":[]}}', b"\xff",
]  # fmt: skip


def exact(pairs):
    """The members of an object of which every name stands there once."""
    assert len({name for name, _ in pairs}) == len(pairs)
    return dict(pairs)


def reference(text):
    """What a JSON text means, with its numbers as Fractions; an exception if it is none."""
    return json.loads(
        text,
        object_pairs_hook=exact,
        parse_int=fraction,
        parse_float=fraction,
        parse_constant=constant,
    )


def constant(word):
    raise ValueError(word)


def fraction(literal):
    return Fraction(Decimal(literal, EXACT))


def by_fraction(value):
    """A loaded value with its numbers as Fractions."""
    match value:
        case bool() | str() | None:
            return value
        case int() | ExactNumber():
            return fraction(str(value) if isinstance(value, int) else value.spelling)
        case list():
            return [by_fraction(item) for item in value]
        case _:
            return {name: by_fraction(member) for name, member in value.items()}


# What a string of JSON consists of, as it is written.
WRITTEN = st.lists(
    st.sampled_from(
        ["a", "é", "日", "😀", " plain ", r"\n", r"\"", r"\\", r"\t\b\f\r", "x" * 300, r"\\" * 200]
    )
    | st.sampled_from([r"\/", r"\u00e9", r"\ud83d\ude00", r"\ud800", r"\udc00", "日" * 200]),
    max_size=30,
).map("".join)
# RFC 4648, section 4. The decoder of Python 3.11 takes one padding too many, `QUJD=`.
RFC_4648 = rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
BASE64 = st.binary(max_size=900).map(base64.b64encode) | st.text("Qa+/= \n-é", max_size=12).map(
    str.encode
)


def as_latin_1(text):
    return text.encode("utf-8", "replace").decode("latin-1")


def assembled(value):
    """A value put together from what was looked into, and loaded from there on."""
    match value.children:
        case dict():
            return {name: assembled(member) for name, member in value.children.items()}
        case list():
            return [assembled(item) for item in value.children]
        case None:
            return by_fraction(value.load())


@given(SPELLINGS, SHAPES)
def test_valid_json_is_read_as_the_reference_reads_it(text, shape):
    source = as_latin_1(text)
    found = scan(source, shape)
    meant = reference(decode(source))
    assert assembled(found) == meant
    assert by_fraction(found.load()) == meant
    assert isinstance(found.children, type(meant)) or not isinstance(meant, dict | list)
    assert validate(text) == found.first


def is_json(message):
    """Whether the reference takes it; None if only its depth is the matter."""
    try:
        reference(message.removeprefix(b"\xef\xbb\xbf").decode())
    except RecursionError:
        return None
    except (ValueError, AssertionError):
        return False
    return True


def mutated(draw, message):
    """A message with a few of its bytes cut out, doubled, or replaced."""
    data = bytearray(message)
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 8)))
        data[start:end] = draw(
            st.binary(max_size=4) | st.just(bytes(data[start:end]) * 2) | st.sampled_from(SHARP[:8])
        )
    return bytes(data)


MESSAGES = (
    st.binary()
    | st.composite(lambda draw: mutated(draw, draw(SPELLINGS).encode("utf-8", "replace")))()
)


def with_sharp_edges(test):
    for edge in SHARP:
        test = example(edge)(test)
    return test


@settings(max_examples=500)
@with_sharp_edges
@given(MESSAGES)
def test_bytes_are_either_json_or_refused_and_nothing_else_happens(message):
    valid = is_json(message)
    try:
        source = latin1(message)
        shallow, deep = scan(source, {}), scan(source, {EACH: {EACH: {}}})
        found = load(decode(source))
    except JsonError:
        assert valid is not True or b"1" * 1001 in message
    else:
        assert valid is True
        assert shallow.load() == deep.load() == found


def outcome(act, *told):
    """What `act` returns, or the failure that it tells."""
    try:
        return act()
    except told as failure:
        return failure


@pytest.mark.parametrize("edge", SHARP)
def test_a_sharp_edge_is_checked_without_another_exception(edge):
    first = outcome(lambda: validate(decode(latin1(edge))), JsonError)
    assert str(first).isascii()
    assert isinstance(first, JsonError) or first in '{["tfn-0123456789'


@given(LITERALS)
def test_a_number_is_its_exact_value(literal):
    assert by_fraction(number(literal)) == fraction(literal)


@given(LITERALS, LITERALS)
def test_two_numbers_are_equal_if_and_only_if_their_values_are(one, other):
    assert (number(one) == number(other)) is (fraction(one) == fraction(other))


@given(LITERALS, st.integers(0, 20))
def test_another_spelling_of_a_number_is_the_same_number(literal, zeros):
    mantissa, _, power = literal.lower().partition("e")
    point = "" if "." in mantissa else "."
    assert number(f"{mantissa}{point}{'0' * (zeros + 1)}E{int(power or 0):+}") == number(literal)
    scaled = f"{mantissa.replace('.', '')}e{int(power or 0) - len(mantissa.partition('.')[2])}"
    assert number(scaled) == number(literal)


def reversed_members(value):
    match value:
        case dict():
            return {name: reversed_members(value[name]) for name in reversed(value)}
        case list():
            return [reversed_members(item) for item in value]
        case _:
            return value


@given(SPELLINGS)
def test_the_canonical_form_is_stable_and_blind_to_order(text):
    value = load(text.encode("utf-8", "replace").decode())
    canonical = compact(sort_members(value))
    assert compact(sort_members(load(canonical))) == canonical
    assert compact(sort_members(reversed_members(value))) == canonical
    assert compact(sort_members(load(indented(value)))) == canonical
    assert digest(sort_members(reversed_members(value))) == digest(sort_members(value))
    assert canonical.isascii()
    assert by_fraction(load(canonical)) == by_fraction(value)


@given(SPELLINGS, SPELLINGS)
def test_two_values_share_a_digest_if_and_only_if_they_are_one_value(one, other):
    one, other = (load(text.encode("utf-8", "replace").decode()) for text in (one, other))
    one, other = sort_members(one), sort_members(other)
    same = repr(by_fraction(one)) == repr(by_fraction(other))
    assert (digest(one) == digest(other)) is same


STRETCHES = st.lists(
    st.sampled_from(
        [
            "x",
            "é",
            "日",
            "😀",
            "\\n",
            r"\u00e9",
            r"\ud800",
            r"\udc00",
            r"\ud83d\ude00",
            r"\\",
            '\\"',
        ]
    )
    | st.sampled_from(["x" * 255, "日" * 100, "\\n" * 255, r"\ud83d\ude00" * 256]),
    max_size=12,
)


@given(STRETCHES)
def test_the_pieces_of_a_string_join_to_the_string(stretches):
    text = f'"{"".join(stretches)}"'
    assert "".join(scan(as_latin_1(text), {}).pieces()) == json.loads(text)


SAFE = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Zs"], max_codepoint=0xD7FF))
UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    "\ue000-\uf8ff\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
CHARACTERS = st.text(
    st.characters() | st.characters(categories=["Cc", "Cf", "Cs", "Co", "Zl", "Zp"])
)


@given(CHARACTERS)
def test_nothing_unsafe_is_left_of_what_is_made_visible(text):
    assert not UNSAFE.search(visible(text))
    assert not UNSAFE.search(re.sub("[\n\t]", "", visible_text(text)))
    assert not UNSAFE.search(Redactor(["secret"]).quoted(text))
    assert bool(hidden_characters(text)) is (visible_text(text) != text)


@given(CHARACTERS)
def test_visible_json_is_the_same_value(text):
    shown = visible_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(shown) == text
    assert not UNSAFE.search(shown)


@given(SAFE)
def test_plain_printable_text_stays_as_it_is(text):
    plain = re.sub("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164]", "", text)
    assert visible(plain) == plain


@given(st.lists(st.text(min_size=6, alphabet='ab1-é"\\'), max_size=3), st.text(), st.text())
def test_no_secret_is_left_of_what_is_quoted(secrets, before, after):
    redact = Redactor(secrets)
    for secret in secrets:
        assert secret not in redact.quoted(before + secret + after, 10_000)
        assert secret not in redact.mask(json.dumps(before + secret + after))


def honest(asked, era):
    """The lines of a server of the era that does nothing wrong."""
    method, id_ = asked["method"], asked.get("id")
    if id_ is None:
        return []
    if method == "server/discover" and era == "modern":
        return [discover_result(id_)]
    if method == "initialize" and era == "legacy":
        return [initialize_result(id_)]
    return [result(id_, tools=[]) if method == "tools/list" else error(id_)]


@settings(max_examples=300)
@given(st.data(), st.sampled_from(["modern", "legacy"]))
def test_a_conversation_ends_in_a_result_or_in_a_failure_that_is_told(data, era):
    def respond(asked):
        lines = data.draw(st.lists(MESSAGES, max_size=2)) + honest(asked, era)
        lines = [mutated(data.draw, line) for line in lines]
        return [*lines, channel_closed(data.draw(MESSAGES))] if data.draw(st.booleans()) else lines

    def converse():
        handshake = Handshake(lambda: session_over(script, "secret"), 120)
        handshake.negotiate()
        return handshake.session.request("tools/list", "{}", 10)

    script = Script(respond=respond)
    end = outcome(converse, ThrallError)
    if isinstance(end, ThrallError):
        assert end.exit_status in {4, 5, 7, 124}
        assert visible(str(end)) == str(end)
    else:
        assert end.text
    assert script.now <= 130.0


# -- pieces of a large answer ------------------------------------------------------------------


@given(WRITTEN, st.integers(256, 400))
def test_a_string_in_pieces_is_the_string_wherever_it_is_cut(written, size):
    value = scan(f'"{written}"'.encode().decode("latin-1"), {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "_SIZE", size)
        texts, encoded = list(value.pieces()), list(value.encoded())
    meant = json.loads(f'"{written}"')
    assert "".join(texts) == meant
    assert b"".join(encoded) == meant.encode("utf-8", "backslashreplace")
    assert all(texts)


@given(st.text(max_size=600).map(str.encode) | st.binary(max_size=40), st.integers(1, 9))
def test_utf_8_is_told_from_other_bytes_wherever_it_is_cut(message, size):
    try:
        message.decode()
    except UnicodeDecodeError:
        what = pytest.raises(UnicodeDecodeError)
    else:
        what = contextlib.nullcontext()
    with pytest.MonkeyPatch.context() as patch, what as refused:
        patch.setattr(pieces, "_SIZE", size)
        assert pieces.check_utf8(message) is None
    assert refused is None or refused.type is UnicodeDecodeError


@given(BASE64, st.integers(256, 400))
@example(b"QUJD=", 256)
@example(b"QQ==" + b"QUJD" * 100, 256)
def test_base64_has_the_size_that_it_is_decoded_to_or_is_refused(data, size):
    text = json.dumps({"content": [{"type": "image", "data": data.decode()}]})
    (part,) = read_result(scan(text, {"content": {EACH: {}}})).parts
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "_SIZE", size)
        if re.fullmatch(RFC_4648, data):
            meant = base64.b64decode(data)
            assert (b"".join(part.decode()), part.size()) == (meant, len(meant))
        else:
            for read in (part.size, lambda: list(part.decode())):
                with pytest.raises(ServerError, match="is not base64"):
                    read()
