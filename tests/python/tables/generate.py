"""Random tables of columns of every kind. A value is a Python object; None is missing."""
import dataclasses
import datetime
import string

UTC = datetime.UTC
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)
INTEGERS = {"i1": (-2**7, 2**7 - 1), "i2": (-2**15, 2**15 - 1), "i4": (-2**31, 2**31 - 1), "i8": (-2**63, 2**63 - 1),
            "u1": (0, 2**8 - 1), "u2": (0, 2**16 - 1), "u4": (0, 2**32 - 1), "u8": (0, 2**64 - 1)}
NAMES = ("id", "x", "city", "Adj. Close*", "na,me", 'a "b"', "größe", "50 %", "x-y", "t=0", "n#", "a:b", "名", "it's", "T", "_",
         "!m")
WORDS = ("Rome", "Oslo", "São Paulo", "a b", 'say "hi"', "x,y", "semi;colon", "tab\there", "#5", "it's", "1 Main St", "…",
         "-x", "NULLED", "nano", "inference", "true-ish", "3 apples", "Ω", "back\\slash", "=1+1", "two\nlines")


@dataclasses.dataclass
class Column:
    name: str
    kind: str  # integer, float, bool, string, date, time
    dtype: str  # of integers and floats, as NumPy calls it
    values: list

    def present(self):
        return [v for v in self.values if v is not None]


def integers(rng, n):
    dtype = rng.choice(list(INTEGERS))
    low, high = INTEGERS[dtype]
    style = rng.choice(["few", "any", "large", "close"])
    if style == "few":
        span = range(max(low, -3), 6)
    elif style == "any":
        return dtype, [rng.randint(low, high) for _ in range(n)]
    elif style == "large":
        return dtype, [rng.choice([low, low + 1, high, high - 1, rng.randint(low, high)]) for _ in range(n)]
    else:
        centre = rng.randint(low, high - 4)
        span = range(centre, centre + 5)
    return dtype, [rng.choice(span) for _ in range(n)]


def floats(rng, n):
    dtype = rng.choice(["f4", "f8"])
    style = rng.choice(["eighths", "any", "outlier", "special"])
    if style == "any" and dtype == "f8":
        return dtype, [rng.gauss(0, 1) * 10.0 ** rng.randint(-30, 30) for _ in range(n)]
    values = [rng.randint(-400, 400) / 8 for _ in range(n)]
    if style == "outlier":
        values[rng.randrange(n)] = 2.0**60
    if style == "special":
        for _ in range(rng.randint(1, 3)):
            values[rng.randrange(n)] = rng.choice([float("nan"), float("inf"), float("-inf"), -0.0, 2.0**-100])
    return dtype, values


def strings(rng, n):
    few = rng.random() < 0.5
    words = rng.sample(WORDS, rng.randint(1, 4) if few else len(WORDS))
    if not few:
        words = words + ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(1, 12))) + "_" for _ in range(30)]
    return "", [rng.choice(words) for _ in range(n)]


def booleans(rng, n):
    return "", [rng.random() < 0.4 for _ in range(n)]


def dates(rng, n):
    first = datetime.date(rng.randint(1950, 2060), 1, 1).toordinal()
    return "", [datetime.date.fromordinal(first + rng.randrange(rng.choice([5, 400, 9000]))) for _ in range(n)]


def times(rng, n):
    """Each with a zone of its own."""
    first = EPOCH + datetime.timedelta(days=rng.randint(-9000, 30000))
    step = rng.choice([1000000, 1000, 1])  # microseconds
    span = rng.choice([10**4, 10**6, 10**8])
    zones = [UTC] + [datetime.timezone(datetime.timedelta(minutes=m)) for m in (120, -210)]
    return "", [(first + datetime.timedelta(microseconds=step * rng.randrange(span))).astimezone(rng.choice(zones))
                for _ in range(n)]


KINDS = {"integer": integers, "float": floats, "string": strings, "bool": booleans, "date": dates, "time": times}


def column(rng, name, n, kind=None):
    kind = kind or rng.choice(list(KINDS))
    dtype, values = KINDS[kind](rng, n)
    if rng.random() < 0.3:
        for i in rng.sample(range(n), rng.randint(0, n // 2)):
            values[i] = None
    return Column(name, kind, dtype, values)


def table(rng):
    """At least a column of numbers and one of strings."""
    n = rng.choice([1, 2, 3, 10, 50, 200])
    names = rng.sample(NAMES, rng.randint(3, 7))
    columns = [column(rng, name, n) for name in names[2:]]
    columns += [column(rng, names[0], n, rng.choice(["integer", "float"])), column(rng, names[1], n, "string")]
    rng.shuffle(columns)
    return columns
