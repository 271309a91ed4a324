"""What holds for every definition, and every change of it."""

import random

from hypothesis import example, given, settings
from hypothesis import strategies as st

from thrall_py.catalog import drift, schema
from thrall_py.catalog.change import CLASSES, Slot, same
from thrall_py.catalog.entry import pin_item
from thrall_py.protocol import canonical, mcp
from thrall_py.protocol.jsontext import load

settings.register_profile("gate", derandomize=True, deadline=None, database=None)
settings.load_profile("gate")

PARTS = ("inputSchema", "outputSchema", "annotations", "arguments")
SETS = ("required",)  # whose order means nothing
HOLDERS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
KEYWORDS = sorted({*schema._RULES, *HOLDERS, "x-unknown", "nullable"})
HINTS = sorted({*drift._HINT_DEFAULTS, "title", "x"})
PLAIN = ["a", "b", "c/d~", "\u202e", "\ud800", "name", "title"]

NUMBERS = st.sampled_from(
    ["0", "1", "1.5", "-2e3", "1e400", "1e-400", "1e999999", "9223372036854775807"]
)
SCALARS = (
    st.sampled_from([None, True, False, "", "string", "integer", "number", "a", "\u200b", "\udfff"])
    | NUMBERS.map(load)
    | st.integers(-3, 3)
)


def json_values(names):
    return st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
        max_leaves=12,
    )


ANYTHING = json_values(st.sampled_from([*KEYWORDS, *PLAIN, *HINTS]))
BESIDE = json_values(st.sampled_from(PLAIN))  # nothing in it is a keyword with a rule


def schemas(inner):
    """Mostly schemas, with the shapes that the keywords want."""
    many = st.dictionaries(st.sampled_from(PLAIN), inner, max_size=3)
    some = st.lists(inner, max_size=3)
    names = st.lists(st.sampled_from(["a", "b", "string", "number", "integer"]), max_size=3)
    shaped = {
        **dict.fromkeys(HOLDERS, many),
        **dict.fromkeys(("anyOf", "allOf", "oneOf", "prefixItems"), some),
        **dict.fromkeys(("required", "type", "enum"), names),
        **dict.fromkeys(("items", "not", "if", "contains", "additionalProperties"), inner),
        **dict.fromkeys(schema._LOWER + schema._UPPER, SCALARS),
        **dict.fromkeys((*schema._READ, *schema._HINTS, "x"), BESIDE),
    }
    return st.fixed_dictionaries({}, optional=shaped).map(dict)


SCHEMAS = st.recursive(st.booleans() | st.just({}), schemas, max_leaves=8) | ANYTHING
ARGUMENTS = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from("abc")}, optional={"required": SCALARS, "title": SCALARS}),
    max_size=3,
) | ANYTHING  # fmt: skip
DEFINITIONS = st.fixed_dictionaries(
    {"name": st.sampled_from(["t", "u"])},
    optional={
        "description": SCALARS,
        "inputSchema": SCHEMAS,
        "outputSchema": SCHEMAS,
        "annotations": st.dictionaries(st.sampled_from(HINTS), SCALARS) | ANYTHING,
        "arguments": ARGUMENTS,
        "size": SCALARS,
        "uri": SCALARS,
        "_meta": ANYTHING,
        "x": ANYTHING,
    },
)
KINDS = st.sampled_from(mcp.KINDS)
OBJECTS = st.dictionaries(
    st.sampled_from([*PLAIN, "description", "_meta", "x"]), BESIDE, max_size=4
)


def changes(before, after, kind=mcp.TOOLS):
    return list(drift._item(kind, (), pin_item(before), pin_item(after)))


def shuffled(value, chance):
    """The same value, its members in another order and its numbers spelled otherwise."""
    match value:
        case dict():
            names = chance.sample(list(value), len(value))
            return {name: shuffled(value[name], chance) for name in names}
        case list():
            return [shuffled(item, chance) for item in value]
        case bool() | str() | None:
            return value
        case _:
            return load(respelled(str(value), chance.randrange(4)))


def respelled(literal, way):
    mantissa, _, power = literal.partition("e")
    if way == 0:
        return f"{mantissa}E{int(power or 0):+}"
    point = "" if "." in mantissa else "."
    return f"{mantissa}{point}{'0' * way}e{int(power or 0)}"


def without_sets(value):
    """A value in which what may be reordered is in one form."""
    match value:
        case dict():
            tidy = {name: without_sets(value[name]) for name in sorted(value)}
            for name in SETS:
                if isinstance(tidy.get(name), list):
                    tidy[name] = sorted(tidy[name], key=repr)
            return tidy
        case list():
            return [without_sets(item) for item in value]
        case _:
            return value


def applied(old, found):
    """A definition with a change made to it, as the change says it."""
    if not found.path:
        return found.after.value
    name, rest = found.path[0], found._replace(path=found.path[1:])
    assert isinstance(old, dict)
    if rest.path:
        return {**old, name: applied(old[name], rest)}
    assert Slot(old[name]) == found.before if found.before else name not in old
    others = {key: value for key, value in old.items() if key != name}
    return {**others, name: found.after.value} if found.after else others


@given(KINDS, DEFINITIONS, st.randoms(use_true_random=False))
def test_a_definition_is_what_it_was_in_another_order_and_spelling(kind, definition, chance):
    other = shuffled(definition, chance)
    assert changes(definition, other, kind) == []
    assert pin_item(definition) == pin_item(other)
    assert list(drift._members(drift._RULES[kind.member], (), definition, other)) == []


@settings(max_examples=60)  # the slowest
@given(KINDS, DEFINITIONS, DEFINITIONS)
def test_another_digest_means_a_change_but_for_the_order_of_sets(kind, before, after):
    found = changes(before, after, kind)
    if pin_item(before).digest == pin_item(after).digest:
        assert found == []
    elif not found:
        assert canonical.compact(without_sets(before)) == canonical.compact(without_sets(after))
    assert len({change.path for change in found}) == len(found)


@given(KINDS, OBJECTS, OBJECTS)
@example(mcp.TOOLS, {"a": 1}, {})
@example(mcp.PROMPTS, {"a": None}, {"a": {}})
def test_the_changes_made_to_what_was_give_what_is(kind, before, after):
    made = before
    for change in changes(before, after, kind):
        made = applied(made, change)
    assert pin_item(made) == pin_item(after)


@given(st.dictionaries(st.sampled_from("abc"), st.booleans() | st.fixed_dictionaries({}, optional={
    "description": SCALARS, "minimum": SCALARS, "items": st.booleans(), "x": BESIDE,
}), max_size=3), st.data())  # fmt: skip
def test_the_changes_made_to_a_schema_that_was_give_the_one_that_is(properties, data):
    others = data.draw(st.dictionaries(st.sampled_from("abcd"), st.booleans() | st.just({"x": 1})))
    before, after = ({"inputSchema": {"properties": held}} for held in (properties, others))
    made = before
    for change in changes(before, after):
        made = applied(made, change)
    assert pin_item(made) == pin_item(after)


@settings(max_examples=60)  # the slowest
@given(KINDS, DEFINITIONS | OBJECTS, DEFINITIONS | OBJECTS)
def test_a_change_has_a_class_a_place_and_two_different_sides(kind, before, after):
    for change in changes(before, after, kind):
        assert change.kind in CLASSES
        assert change.path
        assert all(isinstance(step, str) for step in change.path)
        assert not same(change.before, change.after)


@settings(max_examples=60)  # the slowest
@given(KINDS, st.sampled_from(PARTS), ANYTHING | SCHEMAS, ANYTHING | SCHEMAS)
def test_there_is_a_class_for_the_change_of_a_part_to_whatever_json(kind, part, before, after):
    there = {change.kind for change in changes({part: before}, {part: after}, kind)}
    assert there <= set(CLASSES)
    back = {change.kind for change in changes({part: after}, {part: before}, kind)}
    assert bool(there) is bool(back)
    assert {change.kind for change in changes({}, {part: after}, kind)} <= set(CLASSES)


@settings(max_examples=60)  # the slowest
@given(KINDS, DEFINITIONS, DEFINITIONS)
def test_a_member_that_its_kind_does_not_know_is_never_additive_or_cosmetic(kind, before, after):
    for change in changes(before, after, kind):
        if change.path[0] not in drift._RULES[kind.member]:
            assert change.kind in {"text", "behaviour"}
            assert len(change.path) == 1


def nested(levels, end):
    """Schemas in schemas, by every way in turn."""
    ways = [
        ("items",),
        ("properties", "a"),
        ("not",),
        ("anyOf", 0),
        ("additionalProperties",),
        ("$defs", "b"),
    ]
    value = end
    for level in range(levels):
        way = ways[level % len(ways)]
        if len(way) > 1:
            value = [value] if way[1] == 0 else {way[1]: value}
        value = {way[0]: value}
    return value


def test_the_deepest_definition_that_can_be_kept_is_compared():
    levels = 130  # one and a half of a catalog's levels each, 200 at the most
    before, after = ({"inputSchema": nested(levels, {"title": title})} for title in "ab")
    (change,) = changes(before, after)
    assert change.kind == "text"
    assert (change.path[0], change.path[-1]) == ("inputSchema", "title")


def anything(chance, levels):
    """A random value; quicker than hypothesis, and of every kind."""
    kind = chance.randrange(6 if levels else 4)
    if kind < 4:
        letters = 'ab\u200b\x00"\\'
        return [None, chance.random() < 0.5, chance.randrange(-5, 5), chance.choice(letters)][kind]
    count = chance.randrange(3)
    if kind == 4:
        return [anything(chance, levels - 1) for _ in range(count)]
    return {chance.choice("abc"): anything(chance, levels - 1) for _ in range(count)}


def test_no_two_of_many_random_definitions_share_a_digest():
    chance = random.Random(4711)
    seen, pairs = {}, 0
    previous = ("", None)
    while pairs < 100_000:
        pinned = pin_item({"a": anything(chance, 2), "b": anything(chance, 1)})
        text = canonical.compact(pinned.definition)
        assert (pinned.digest == previous[0]) is (text == previous[1])
        assert seen.setdefault(pinned.digest, text) == text
        previous, pairs = (pinned.digest, text), pairs + 1
    assert len(set(seen.values())) == len(seen) > 1000
