"""Random programs of names, views, containers and writes: a port never gives other values without an error."""

import random

import pytest

NAMES = ("a", "b", "c", "d")
HELPERS = """
import numpy as np
def same(v):
    return v
def part(v):
    return v[::2]
def fresh(v):
    w = v * 2.0
    w[0] = 1.0
    return w
def change(v):
    v[1] = -3.0
def either(v, w, n):
    return v if n > 1 else w
"""
SIMPLE = (
    "{x} = {y}",
    "{x} = {y} + 1.0",
    "{x} = {y}[:]",
    "{x} = {y}[::-1]",
    "{x} = {y}.copy()",
    "{x} = np.reshape({y}, (2, 2)).T.ravel()",
    "{x} = np.reshape({y}, (4,))",
    "{x} = np.asarray({y})",
    "{x} = np.where({y} > 0, {y}, {z})",
    "{x} = same({y})",
    "{x} = fresh({y})",
    "{x} = either({y}, {z}, n)",
    "{x}, {y} = {y}, {x}",
    "{x}[{i}] = {v}",
    "{x}[{i}] += {v}",
    "{x}[1:] = {y}[:-1]",
    "{x}[:] = {y}",
    "{x}[{y} > 1] = {v}",
    "{x} += {y}",
    "{x} *= 2",
    "change({x})",
    "np.add({y}, {z}, out={x})",
    "{x}.fill({v})",
    "np.copyto({x}, {y})",
    "kept.append({x})",
    "{x} = kept[-1]",
    "{x}[0] = kept[-1][{i}]",
    "{x} = (lambda: {y})()",
    "part({x})[0] = {v}",
    "{x} = [{y}, {z}][{i} % 2]",
)


def statement(random, depth, simple):
    choice = random.random()
    if depth and choice < 0.12:
        return [f"for n in range({random.randint(1, 3)}):", *indented(block(random, depth - 1, simple))]
    if depth and choice < 0.24:
        test = random.choice(("n > 0", "a[0] > b[1]", "len(kept) > 1"))
        return [
            f"if {test}:",
            *indented(block(random, depth - 1, simple)),
            "else:",
            *indented(block(random, depth - 1, simple)),
        ]
    if depth and choice < 0.28:
        return ["try:", *indented([*block(random, depth - 1, simple), "kept[9]"]), "except IndexError:", "    pass"]
    x, y, z = (random.choice(NAMES) for _ in range(3))
    return [random.choice(simple).format(x=x, y=y, z=z, i=random.randint(0, 3), v=random.choice((0.5, 2, -1.5)))]


def block(random, depth, simple):
    return [line for _ in range(random.randint(1, 4)) for line in statement(random, depth, simple)]


def indented(lines):
    return [f"    {line}" for line in lines]


def program(seed, simple=SIMPLE, helpers=HELPERS):
    chooser = random.Random(seed)
    lines = ["n = 0", "a = np.zeros(4)", "b = np.arange(4.0)", "c = np.ones(4)", "d = c * 3.0", "kept = [np.ones(4)]"]
    lines += [line for _ in range(chooser.randint(2, 5)) for line in statement(chooser, 2, simple)]
    lines += ["return a + 0.0, b + 0.0, c + 0.0, d + 0.0, kept[-1] + 0.0, kept[0] + 0.0"]
    return "\n".join([helpers.strip(), "def f(start):", *indented(lines), ""])


@pytest.mark.parametrize("seed", range(40))
def test_a_port_never_differs_in_silence(seed, never_silent):
    never_silent(program(seed))


@pytest.mark.parametrize("seed", range(100, 130))
def test_a_port_with_our_names_never_differs_in_silence(seed, never_silent):
    never_silent(program(seed), style="xo")


WRITING = """
def scale(v):
    v[:] = v * 2.0 + np.ones(4)
def move(v, w):
    v[1:] = w[:-1] * 1.0
    return w[0] + v[3]
def both(v, w):
    v[0] = 5.0
    w[:2] = np.asarray(v)[:2] * 3.0
    return v, w
def twice(v):
    scale(v)
    v[2] += 1.0
"""
CALLS = (
    "scale({x})",
    "n = int(move({x}, {y})) % 3",
    "{z} = move({x}, {y}) * {z}",
    "both({x}, {y})",
    "{x}, {y} = both({x}, {y})",
    "twice({x})",
    "scale({x}[:])",
    "{z} = np.reshape({x}, (4,))",
)


@pytest.mark.parametrize("style", ["numpy", "xo"])
@pytest.mark.parametrize("seed", range(40))
def test_returned_arguments_never_differ_in_silence(seed, style, never_silent):
    """A function that writes its arguments returns them only where every caller has the same arrays afterwards."""
    source = program(seed, SIMPLE + CALLS * 3, HELPERS + WRITING)
    never_silent(source, style=style, return_arguments=True)
