"""Broken documents of every kind: the reader refuses them, and never falls over."""

from __future__ import annotations

import copy
import json

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st

from placement_lab.errors import ProblemError
from placement_lab.jsonfile import loads_json
from placement_lab.problem import Instance
from tests.problem.documents import document
from tests.problem.test_schema import INSTANCE

SCHEMA = jsonschema.Draft202012Validator(INSTANCE)
KEYS = sorted(
    {
        key
        for definition in [INSTANCE, *INSTANCE["$defs"].values()]
        for key in definition.get("properties", {})
    }
)

keys = st.sampled_from(KEYS) | st.text(max_size=3)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 10)
    | st.sampled_from([-1, 2**53, 2**70, 10**400, 1e16, 1e300, 0.5, -0.0])
    | st.floats()
    | st.sampled_from(["", "w0", "w1", "opt", "qa", "ask", "T4", "a/b", "\ud800", "\n"])
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=3
        )
    ),
    max_leaves=6,
)


def places(value, path=()):
    """Yield the path of everything in a document."""
    yield path
    inner = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    for key, one in inner:
        yield from places(one, (*path, key))


@st.composite
def broken_documents(draw):
    broken = document()
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(list(places(broken))[1:]))
        here = broken
        for step in path[:-1]:
            here = here[step]
        change = draw(st.sampled_from(["put", "remove", "copy", "add"]))
        if change == "remove":
            del here[path[-1]]
        elif change == "copy":
            source = draw(st.sampled_from(list(places(broken))))
            value = broken
            for step in source:
                value = value[step]
            here[path[-1]] = copy.deepcopy(value)
        elif change == "add" and isinstance(here, list):
            here.append(draw(values))
        elif change == "add":
            here[draw(st.sampled_from(KEYS))] = draw(values)
        else:
            here[path[-1]] = draw(values)
        if not (isinstance(broken, dict) and list(places(broken))[1:]):
            break
    return broken


def read(value):
    """Return the instance of a document, or the error that refuses it."""
    try:
        return Instance.from_dict(value)
    except ProblemError as error:
        return error


def check_refusal(error):
    lines = str(error).splitlines()
    assert error.faults
    assert len(lines) == len(set(lines)) == len(error.faults)


def check_instance(instance, value):
    assert SCHEMA.is_valid(value)
    again = json.loads(json.dumps(instance.to_dict(), allow_nan=False))
    assert Instance.from_dict(again) == instance
    assert instance.arrays.n_tasks == instance.n_tasks
    assert len(instance.sha256) == 64


@given(broken_documents())
@settings(max_examples=300, deadline=None)
def test_a_broken_document_is_refused_or_valid(broken):
    found = read(broken)
    if isinstance(found, ProblemError):
        check_refusal(found)
    else:
        check_instance(found, broken)


@given(values)
@settings(max_examples=100, deadline=None)
def test_a_document_of_any_shape_is_refused(value):
    check_refusal(read(value))


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_a_damaged_file_is_refused_or_valid(data):
    text = json.dumps(document())
    first = data.draw(st.integers(0, len(text)))
    last = data.draw(st.integers(first, min(len(text), first + 5)))
    damage = data.draw(st.text(max_size=3))
    try:
        value = loads_json(text[:first] + damage + text[last:])
    except ValueError:
        return
    found = read(value)
    if isinstance(found, ProblemError):
        check_refusal(found)
    else:
        check_instance(found, value)
