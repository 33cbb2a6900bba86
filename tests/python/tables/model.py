"""What the command shall print, in exact arithmetic. Samples are Fractions, infinities and NaN floats."""
import math
from fractions import Fraction

import numpy as np


def sample(column, value):
    """The number that a value of a column of numbers is."""
    if column.kind == "float":
        value = float(np.float32(value)) if column.dtype == "f4" else value
        return Fraction(value) if math.isfinite(value) else value
    return Fraction(value)


def label(column, value):
    """The name of a value as a category."""
    if column.kind == "bool":
        return "true" if value else "false"
    return str(value)


def samples_of(column, rows):
    return [sample(column, column.values[i]) for i in rows]


def complete(columns, rows):
    """The rows in which nothing is missing."""
    return [i for i in rows if all(c.values[i] is not None for c in columns)]


def bin_of(edges, x):
    """The index of the bin, the last one closed; -1 and len(edges) - 1 beyond, None for NaN."""
    if isinstance(x, float) and math.isnan(x):
        return None
    if x == edges[-1]:
        return len(edges) - 2
    return sum(1 for e in edges if e <= x) - 1


def histogram(edges, xs, weights=None):
    """The rows that are printed, {(lo, hi): (count,) or (count, sum, sum of squares)}: bins, and flow if there is any."""
    ends = [("-inf", edges[0])] + list(zip(edges, edges[1:])) + [(edges[-1], "inf")]
    table = {}
    for k, x in enumerate(xs):
        i = bin_of(edges, x)
        where = ("nan", "nan") if i is None else ends[i + 1]
        w = 1 if weights is None else weights[k]
        count, one, two = table.get(where, (0, 0, 0))
        table[where] = count + 1, one + w, two + w * w
    for pair in zip(edges, edges[1:]):
        table.setdefault(pair, (0, 0, 0))
    return {pair: value[:1] if weights is None else value for pair, value in table.items()}


def quantile(ordered, p):
    """NumPy's default, between two order statistics; and what the rounding of the place and of the result may cost."""
    at = Fraction(p) / 100 * (len(ordered) - 1)
    below = math.floor(at)
    a, b = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    if at == below or a == b:
        return a, 0
    if isinstance(a, float) or isinstance(b, float):  # infinite
        return (math.nan if isinstance(a, float) and isinstance(b, float) else a if isinstance(a, float) else b), 0
    return a + (b - a) * (at - below), 2.0**-51 * float(max(abs(a), abs(b)) + len(ordered) * (b - a))


def square_root(x):
    """To the nearest double, nearly."""
    if x == 0:
        return 0.0
    shift = max(0, 120 - (x.numerator.bit_length() - x.denominator.bit_length())) // 2 * 2
    root = math.isqrt((x.numerator << shift) // x.denominator if shift else x.numerator // x.denominator)
    return math.ldexp(root, -shift // 2) if root < 2**1000 else float(root) / 2.0**(shift // 2)


def statistics(xs, percents):
    """Of samples: {name: number}."""
    numbers = [x for x in xs if not (isinstance(x, float) and math.isnan(x))]
    finite = [x for x in numbers if not isinstance(x, float)]
    found = {"nan": len(xs) - len(numbers), "samples": len(xs)}
    if numbers:
        ordered = sorted(numbers)
        found.update((f"q{p}", quantile(ordered, p)) for p in percents)
    if finite:
        mean = sum(finite) / len(finite)
        found.update(min=min(finite), max=max(finite), mean=mean,
                     std=square_root(sum((x - mean) ** 2 for x in finite) / len(finite)))
    return found
