"""Calls of histo.image that give the same results wherever images are: for the tests that compare them."""

import numpy as np

import histo
from histo import image as hi

LEVELS = ["u1", "i1", "u2", "i2", "?"]
OTHERS = ["f2", "f4", "f8", "u4", "i4", "i8"]

# How images are stacked: the shapes of an image and of a reference, and the arguments that say so.
STACKS = {
    "an image": ((40, 50), (30, 44), {}),
    "a volume": ((4, 12, 16), (3, 9, 8), {}),
    "channels last": ((40, 50, 3), (30, 44, 3), {"channel_axis": -1}),
    "channels first": ((3, 40, 50), (3, 30, 44), {"channel_axis": 0}),
    "a batch": ((4, 40, 50), (4, 30, 44), {"batch_axis": 0}),
    "a batch, one reference": ((4, 40, 50), (30, 44), {"batch_axis": 0}),
    "two batch dimensions": ((2, 40, 3, 50), (2, 30, 3, 44), {"batch_axis": (0, 2)}),
    "a batch of colours": ((2, 3, 40, 50), (2, 3, 30, 44), {"batch_axis": 0, "channel_axis": 1}),
    "a batch of colours, one reference": ((2, 40, 50, 3), (30, 44, 3), {"batch_axis": 0, "channel_axis": -1}),
}

CASES = [(dtype, stack) for dtype in LEVELS for stack in STACKS] + [
    (dtype, stack) for dtype in OTHERS for stack in ("an image", "channels last", "a batch of colours, one reference")
]


def picture(shape, dtype, seed=0):
    """Two hills of gray, so that there is something to split."""
    rng, dtype = np.random.default_rng([seed, *shape]), np.dtype(dtype)
    dark = rng.random(shape) < rng.uniform(0.3, 0.5)
    x = np.clip(np.where(dark, rng.normal(0.25, 0.08, shape), rng.normal(0.7, 0.1, shape)), 0, 1)
    if dtype.kind == "b":
        return x > 0.5
    if dtype.kind == "f":
        return x.astype(dtype)
    top = {1: np.iinfo(dtype).max, 2: 65535 if dtype.kind == "u" else 1500, 4: 3000}.get(dtype.itemsize, 10**9)
    return (x * top * (0.8 if dtype.kind == "u" else 1.5) - (0 if dtype.kind == "u" else 0.7 * top)).astype(dtype)


def sizes_of(shape, stack):
    """The shape of an image."""
    channel, batch = stack.get("channel_axis"), stack.get("batch_axis", ())
    front = {d % len(shape) for d in (*(batch if isinstance(batch, tuple) else (batch,)),
                                      *(() if channel is None else (channel,)))}
    return tuple(n for d, n in enumerate(shape) if d not in front)


def of_one(y, x, stack):
    """The arguments for a reference, which may be one image for a batch."""
    if len(y.shape) == len(x.shape):
        return stack
    return {"channel_axis": -1} if "channel_axis" in stack else {}


def calls(dtype, shape, stack):
    """(name, function of an image, a reference and a mask of the image): results are arrays, numbers or histograms."""
    size, levels = sizes_of(shape, stack), np.dtype(dtype).kind in "iub" and np.dtype(dtype).itemsize <= 2
    whole = tuple(n // 4 for n in size)
    tiles = {"whole": tuple(2 if n % 2 == 0 else 1 for n in size), "continued": (3,) * len(size)}
    of_batch = {k: v for k, v in stack.items() if k == "batch_axis"}
    bins = {} if levels else {"bins": 77}
    assert all(whole)
    yield "histogram", lambda x, y, m: hi.histogram(x, 50, mask=m, **stack)
    for rule in ("minimum", "cdf"):
        yield f"equalize by {rule}", lambda x, y, m, rule=rule: hi.equalize(x, rule=rule, **bins, **stack)
    yield "equalize masked", lambda x, y, m: hi.equalize(x, mask=m, **bins, **stack)
    yield "equalize bins", lambda x, y, m: hi.equalize(x, bins=33, **stack)
    if np.dtype(dtype) == np.uint16:
        for bits in (15, 16):
            yield f"equalize {bits} bits", lambda x, y, m, bits=bits: hi.equalize(x, bits=bits, **stack)
        yield "clahe 16 bits", lambda x, y, m: hi.clahe(x, tiles=tiles["whole"], bits=16, **stack)
    for kind, of in tiles.items():
        yield f"clahe {kind}", lambda x, y, m, of=of: hi.clahe(x, tiles=of, **stack)
    yield "clahe without a limit", lambda x, y, m: hi.clahe(x, tiles=tiles["whole"], clip=0, bins=64, **stack)
    yield "match", lambda x, y, m: hi.match(x, y, **bins, **stack)
    if levels:
        yield "match a histogram", lambda x, y, m: hi.match(x, hi.histogram(y, **of_one(y, x, stack)), **stack)
    yield "match masked", lambda x, y, m: hi.match(x, y, mask=m, bins=40, **stack)
    yield "stretch", lambda x, y, m: hi.stretch(x, (3, 90), mask=m, **stack)
    yield "stretch limits", lambda x, y, m: hi.stretch(x, limits=(0.25, 0.75), **stack)
    yield "quantiles", lambda x, y, m: hi.quantiles(x, [0, 0.1, 0.5, 1], mask=m)
    yield "information", lambda x, y, m: np.array(hi.mutual_information(x, x, 16, mask=m))
    if not levels or "channel_axis" in stack:
        return
    yield "threshold", lambda x, y, m: np.array(hi.threshold(x, mask=m, **of_batch))
    yield "segment", lambda x, y, m: hi.segment(x, mask=m, **of_batch)
    yield "segment bins", lambda x, y, m: hi.segment(x, bins=20, **of_batch)
    if np.dtype(dtype).kind == "b":
        return
    yield "threshold li", lambda x, y, m: np.array(hi.threshold(x, "li", **of_batch))
    yield "thresholds", lambda x, y, m: np.array(hi.threshold(x, classes=3, bins=64, **of_batch))
    yield "segments", lambda x, y, m: hi.segment(x, classes=3, bins=64, mask=m, **of_batch)


def host(result, get):
    """What can be compared."""
    return result.values(flow=True) if isinstance(result, histo.Histogram) else get(result)


def assert_same(found, expected, name):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape, name
    assert found.tobytes() == expected.tobytes(), name
