"""Calls of histo.torch, and arguments of its operators, for test_torch.py and test_gpu.py."""

import torch

import histo.torch as ours

torch.manual_seed(6)
X = torch.randn(1000, dtype=torch.float64)
XY = X.reshape(500, 2)
W = torch.randint(0, 8, (1000,)) / 4  # sums are exact
NUMBERS = torch.randint(0, 50, (1000,))
EDGES = torch.tensor([-1.0, 0.0, 0.5, 2.0], dtype=torch.float64)
ENDS = (-1.0, 1.0)
ENDS_2D = (*ENDS, -2.0, 2.0)


def zeros(like, shape, dtype=torch.int64):
    return torch.zeros(shape, dtype=dtype, device=like.device)


CALLS = {
    "histc": (lambda x: ours.histc(x, 10, -1, 1), X),
    "histc, range from the data": (lambda x: ours.histc(x, 10), X),
    "histc, float32": (lambda x: ours.histc(x, 10, -1, 1) * 2, X.float()),
    "histc, int32": (lambda i: ours.histc(i, 10, 0, 50), NUMBERS.int()),
    "histc, half": (lambda x: ours.histc(x, 10, -1, 1), X.half()),
    "histc, out": (lambda x: ours.histc(x, 10, -1, 1, out=zeros(x, 10, x.dtype)), X),
    "histogram": (lambda x: ours.histogram(x, 5), X),
    "histogram, range": (lambda x: ours.histogram(x, 5, range=ENDS), X),
    "histogram, two dimensions": (lambda x: ours.histogram(x, 5, range=ENDS), XY),
    "histogram, edges": (lambda x, e: ours.histogram(x, e), X, EDGES),
    "histogram, weights": (lambda x, w: ours.histogram(x, 5, weight=w), X, W),
    "histogram, density": (lambda x, e: ours.histogram(x, e, density=True), X, EDGES),
    "histogramdd": (lambda x: ours.histogramdd(x, [4, 5]), XY),
    "histogramdd, range": (lambda x: ours.histogramdd(x, 4, range=ENDS_2D), XY),
    "histogramdd, edges": (lambda x, e, w: ours.histogramdd(x, [e, e[:3]], weight=w), XY, EDGES, W[:500]),
    "histogramdd, edges and a number": (lambda x, e: ours.histogramdd(x, [e, 3], density=True), XY, EDGES),
    "bincount": (lambda i: ours.bincount(i) + 1, NUMBERS),
    "bincount, minlength": (lambda i, w: ours.bincount(i, w, 100), NUMBERS, W.double()),
    "bincount, float32": (lambda i, w: ours.bincount(i, w), NUMBERS, W),
    "bincount, length": (lambda i: ours.bincount(i, length=60), NUMBERS),
    "bincount, weights and length": (lambda i, w: ours.bincount(i, w, length=50), NUMBERS, W),
    "bincount, none": (lambda i, w: ours.bincount(i, w, 7), NUMBERS[:0], W[:0]),
    "fill_": (lambda x: ours.fill_(zeros(x, 5), x, range=ENDS), X),
    "fill_, weights": (lambda x, w: ours.fill_(zeros(x, 5, torch.float32), x, range=ENDS, weight=w), X, W),
    "fill_, edges": (lambda x, e: ours.fill_(zeros(x, 3, torch.float64), x, e), X, EDGES),
    "fill_, two axes": (lambda x: ours.fill_(zeros(x, (3, 4)), x, range=ENDS_2D), XY),
    "fill_, two axes of edges": (
        lambda x, e, w: ours.fill_(zeros(x, (3, 2), torch.float32), x, [e, e[1:]], weight=w), XY, EDGES, W[:500],
    ),
}
"""A function of tensors, and the tensors."""

OPERATORS = [
    ("histc", X, 10, *ENDS),
    ("histc", X.half(), 3, *ENDS),
    ("histc_of_data", X.float(), 10, 0.0, 0.0),
    ("histc_of_data", X[:0], 10, 0.0, 0.0),
    ("histogramdd", XY, [3, 0], [EDGES], ENDS_2D, None, False),
    ("histogramdd", XY, [0, 0], [EDGES, EDGES[1:]], None, W[:500], True),
    ("histogramdd", XY, [3, 4], [], None, None, False),
    ("bincount", NUMBERS, None, 0),
    ("bincount", NUMBERS.to(torch.uint8), W, 100),
    ("bincount", NUMBERS[:0], W[:0], 7),
    ("bincount_of_length", NUMBERS, None, 0, 50),
    ("bincount_of_length", NUMBERS, W.double(), 5, 60),
    ("fill_", torch.zeros(5, dtype=torch.int64), X, ENDS, None),
    ("fill_", torch.zeros(5, 6), XY, ENDS_2D, W[:500]),
    ("fill_between_", torch.zeros(3), X, [EDGES], W),
    ("fill_between_", torch.zeros(3, 3, dtype=torch.int64), XY, [EDGES, EDGES], None),
]
"""Operators of torch.ops.histo and their arguments."""


def flat(result):
    return [result] if isinstance(result, torch.Tensor) else [x for part in result for x in flat(part)]


def check_compiled(name, device, backend):
    """Compile a call without a graph break and compare its result with the call's own."""
    function, *arguments = CALLS[name]
    there = [a.to(device) for a in arguments]
    torch._dynamo.reset()
    found, expected = torch.compile(function, fullgraph=True, backend=backend)(*there), function(*there)
    assert type(found) is type(expected)
    for f, e in zip(flat(found), flat(expected), strict=True):
        assert f.dtype == e.dtype and f.device == e.device and torch.equal(f, e)


def check_operator(case, device):
    """torch.library.opcheck: the schema, the fake kernel beside the real one, static and dynamic shapes."""
    def move(value):
        if isinstance(value, list):
            return [move(v) for v in value]
        return value.to(device) if isinstance(value, torch.Tensor) else value

    name, *arguments = case
    torch.library.opcheck(getattr(torch.ops.histo, name).default, tuple(map(move, arguments)))
