"""What calls do besides counting: memory, references, threads, signals, forks, interpreters."""

import array
import gc
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import histo

A = np.random.default_rng(1).normal(size=1000)
W = np.ones(1000)
X = np.arange(1000) % 7
EDGES = np.linspace(-2, 2, 9)
IRREGULAR = [-2, 0.5, 0.75, 2]

CALLS = {
    "edges": lambda: histo.histogram(A, EDGES),
    "list of edges": lambda: histo.histogram(A, IRREGULAR),
    "float32": lambda: histo.histogram(F32, 10),
    "range": lambda: histo.histogram(A, 10, (-1, 1)),
    "rule": lambda: histo.histogram(A, "auto"),
    "weights": lambda: histo.histogram(A, 10, weights=W),
    "density": lambda: histo.histogram(A, 10, density=True),
    "mask": lambda: histo.histogram(A, 10, mask=A > 0),
    "batch": lambda: histo.histogram(A.reshape(10, 100), 10, axis=1),
    "list": lambda: histo.histogram([1, 2, 3]),
    "buffer": lambda: histo.histogram(array.array("d", [1, 2, 3])),
    "bin edges": lambda: histo.histogram_bin_edges(A, 10),
    "bincount": lambda: histo.bincount(X),
    "bincount, weights": lambda: histo.bincount(X, W),
    "two axes": lambda: histo.histogram2d(A, A, [4, EDGES], [None, None]),
    "dd": lambda: histo.histogramdd([A, A], EDGES.reshape(1, -1).repeat(2, 0)),
    "no array": lambda: histo.histogram(object()),
    "text": lambda: histo.histogram("text"),
    "no bins": lambda: histo.histogram(A, 0),
    "NaN": lambda: histo.histogram(NAN),
    "falling edges": lambda: histo.histogram(A, [1, 0]),
    "range the wrong way round": lambda: histo.histogram(A, 10, (1, 0)),
    "unknown keyword": lambda: histo.histogram(A, binz=3),
    "too few weights": lambda: histo.histogram(A, 10, weights=[1]),
    "negative": lambda: histo.bincount([-1]),
    "too many axes": lambda: histo.histogramdd(np.zeros((2, 9))),
}
F32 = A.astype("f4")
NAN = np.array([1, np.nan])
OPERANDS = [A, W, X, EDGES, IRREGULAR, F32, NAN]


def try_call(call):
    try:
        call()
    except (TypeError, ValueError):
        pass


def blocks():
    """Python's memory blocks in use, and all references if this is a debug build."""
    gc.collect()
    return np.array([sys.getallocatedblocks(), getattr(sys, "gettotalrefcount", int)()])


@pytest.mark.parametrize("name", CALLS)
def test_references(name):
    n = 1000  # a leak holds a block a call; caches of the interpreter come and go by a hundred blocks
    for _ in range(20):
        try_call(CALLS[name])
    references = [sys.getrefcount(o) for o in OPERANDS]
    before = blocks()
    for _ in range(n):
        try_call(CALLS[name])
    assert (blocks() - before < n // 2).all()
    assert [sys.getrefcount(o) for o in OPERANDS] == references


def test_memory():
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    calls = [c for name, c in CALLS.items()]
    for call in calls:
        try_call(call)
    gc.collect()
    before = resident()
    for _ in range(1000):
        for call in calls:
            try_call(call)
    assert resident() - before < 4 << 20


def test_results_own_their_memory():
    a = A.copy()
    n, edges = histo.histogram(a, 10)
    expected = n.copy(), edges.copy()
    assert n.flags.owndata and edges.flags.owndata
    a[:] = 0
    del a
    gc.collect()
    np.testing.assert_array_equal(n, expected[0])
    np.testing.assert_array_equal(edges, expected[1])


def test_threads_at_once():
    arrays = [np.random.default_rng(i).normal(size=200_000) for i in range(4)]
    expected = [np.histogram(a, 50) for a in arrays]

    def work(i):
        a = arrays[i % 4]
        n, edges = histo.histogram(a, 50)
        np.testing.assert_array_equal(n, expected[i % 4][0])
        np.testing.assert_array_equal(edges, expected[i % 4][1])
        x = (i + np.arange(10)) % 7
        np.testing.assert_array_equal(histo.bincount(x), np.bincount(x))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(200)))


def test_other_threads_run_meanwhile():
    """The interpreter is free while samples are counted."""
    huge = np.broadcast_to(0.5, (1 << 26,))
    ticks = []
    with ThreadPoolExecutor(1) as pool:
        counting = pool.submit(histo.histogram, huge, 10, (0, 1))
        while not counting.done():
            ticks.append(time.perf_counter())
    assert counting.result()[0].sum() == 1 << 26 and len(ticks) > 10


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_argument(threads):
    a = np.random.default_rng(1).normal(size=300_000)
    for call in (histo.histogram, histo.histogram_bin_edges):
        np.testing.assert_array_equal(call(a, 70, threads=threads)[0], call(a, 70)[0])
    np.testing.assert_array_equal(histo.histogram2d(a, a, 7, threads=threads)[0], np.histogram2d(a, a, 7)[0])
    x = (a * 10).astype(int) % 100
    np.testing.assert_array_equal(histo.bincount(x, threads=threads), np.bincount(x))


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2"])
def test_threads_must_be_a_positive_number(threads):
    with pytest.raises((TypeError, ValueError)):
        histo.histogram(A, 10, threads=threads)


INTERRUPTED = """
    import signal, numpy as np, histo
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which background jobs of a shell ignore
    huge = np.broadcast_to(np.float64(0.5), (1 << 42,))
    print("ready", flush=True)
    try:
        {call}
    except KeyboardInterrupt:
        print("interrupted", histo.histogram([1, 2], 2)[0].sum())
"""


@pytest.mark.parametrize(
    "call",
    [
        "histo.histogram(huge, 10, (0, 1))",
        "histo.histogram(huge, 10)",
        "histo.histogram(huge, 'sturges', (0, 1))",
        "histo.histogram(huge, 10, (0, 1), weights=huge)",
        "histo.bincount(np.broadcast_to(np.int64(1), (1 << 42,)))",
        "histo.histogram2d(huge, huge, 10, [[0, 1], [0, 1]])",
        "histo.image.quantiles(huge, [0.5])",
        "histo.Histogram(histo.Regular(10, 0, 1)).fill(np.broadcast_to(huge, (8, 1 << 42)), weight=huge)",
    ],
)
def test_ctrl_c_interrupts(call):
    code = textwrap.dedent(INTERRUPTED).format(call=call)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[0] == "interrupted 2\n"
    finally:
        process.kill()


WITHIN = """
    import gc, signal, numpy as np, histo
    from histo import _histo
    def handle(*_):
        global runs
        runs += 1
        if runs == 3:
            raise KeyboardInterrupt
    signal.signal(signal.SIGALRM, handle)
    def counted(*axes):
        h = histo.Histogram(*axes)
        h.fill(*np.meshgrid(*((np.arange(a.size) + 0.5) / a.size for a in axes)))
        return h
    def try_one(size):
        side = int(size ** 0.5)
        {make}
        signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
        try:
            {call}
        except KeyboardInterrupt:
            print("interrupted", histo.histogram([1, 2], 2)[0].sum())
            return True
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return False
    size = 1 << 18
    while size <= 1 << 28:  # signals are asked for every 20 ms: the last takes 60 ms at 36 GB/s
        runs = 0
        try:
            if try_one(size):
                break
        except KeyboardInterrupt:  # after the call
            pass
        gc.collect()
        size *= 2
"""

ONE = "h = counted(histo.Regular(size, 0, 1))"
TWO = "h = counted(histo.Regular(side, 0, 1), histo.Regular(side, 0, 1))"
IMAGE = "m = histo.Map(histo.Regular(100, 0, 1)); x = np.zeros((side, side))"


# Handlers run between two calls, too. Only within one that asks for signals do several run.
@pytest.mark.parametrize(
    ("make", "call"),
    [
        (IMAGE + "; out = np.empty_like(x)", "m._apply((x,), out, None, 0, (), (), 1)"),
        (IMAGE, "m._moments((x,), None, None, 1)"),
        (ONE, "h._save(0)"),
        (ONE, "h._save(1)"),
        (ONE + "; data = h._save(0)", "_histo.Hist._load(data, None)"),
        (ONE + "; data = h._save(1)", "_histo.Hist._load(data, None)"),
        (ONE, "h._quantiles('linear', np.full(size, 0.5))"),
        (ONE, "h._summarize()"),
        (ONE, "h._split('otsu', 3)"),
        (ONE, "h._compare(h, 'chi-square')"),
        (TWO, "h._inform()"),
        (TWO, "h._slice(0, 0, side)"),
        (TWO, "h._regroup((h._axis(0),), (0, -1), (None, None), -1)"),
        (ONE + "; a = np.ones(size + 3, np.int64)", "h._write(a, None, None, a[:1])"),
        (ONE, "h._regrow((h._axis(0),), _histo.WEIGHT_FAST)"),
    ],
)
def test_signals_interrupt_within_a_call(make, call):
    code = textwrap.dedent(WITHIN).format(make=make, call=call)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert run.stdout == "interrupted 2\n", run.stderr


IN_A_HANDLER = """
    import signal, numpy as np, histo
    h = histo.Histogram(histo.Regular(10, 0, 1))
    other = histo.Histogram(histo.Regular(10, 0, 1))
    refused = 0
    def handle(*_):
        global refused
        other.fill([0.5])  # is counted while the other call goes on
        try:
            h.sum()
        except RuntimeError as error:
            refused += "handler of a signal" in str(error)
        if other.sum() == 3:
            raise KeyboardInterrupt
    signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    values = np.broadcast_to(np.float64(0.5), (1 << 42,))
    try:
        h._exclusively(lambda: histo.image.quantiles(values, [0.5]))
    except KeyboardInterrupt:
        print(int(other.sum()), refused, h.sum())
"""


def test_handlers_of_signals_use_other_objects():
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(IN_A_HANDLER)], capture_output=True, text=True, timeout=60)
    assert run.stdout.split() == ["3", "3", "0.0"] or run.stdout.split() == ["3", "3", "0"], run.stderr


def test_fork():
    a = np.random.default_rng(1).normal(size=1_000_000)
    expected = histo.histogram(a, 50, threads=2)[0]
    child = os.fork()
    if child == 0:
        os._exit(0 if (histo.histogram(a, 50, threads=2)[0] == expected).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
    np.testing.assert_array_equal(histo.histogram(a, 50, threads=2)[0], expected)


FORKED_AMONG_THREADS = """
    import os, signal, threading, warnings
    import numpy as np
    import histo

    warnings.simplefilter("ignore", DeprecationWarning)  # forks among threads, from Python 3.12 on
    huge = np.broadcast_to(0.5, (1 << 42,))
    x = np.random.default_rng(1).random(300_000)
    expected = np.histogram(x, 50, (0, 1))[0]
    shared, idle = (histo.Histogram(histo.Regular(50, 0, 1)) for _ in range(2))

    def fill_for_ever():
        shared.fill(huge)

    def count_for_ever():
        while True:
            histo.histogram(x, 50, (0, 1), threads=2)

    for work in (fill_for_ever, count_for_ever):
        threading.Thread(target=work, daemon=True).start()
    while not shared.tally.samples:
        pass
    for _ in range(10):
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            right = (histo.histogram(x, 50, (0, 1), threads=2)[0] == expected).all()
            right = right and (idle.fill(x, threads=2).values() == expected).all()
            try:
                shared.values()
            except RuntimeError:
                pass
            os._exit(0 if right else 1)
        assert os.waitpid(child, 0)[1] == 0
    print("forked", flush=True)
    os._exit(0)
"""


def test_fork_among_threads():
    """A child counts, whatever the parent's threads were doing; what these used raises rather than waits for them."""
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(FORKED_AMONG_THREADS)], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "forked\n"), run.stderr


def test_environment_sets_threads():
    code = """
        import numpy as np, histo
        h = histo.Histogram(histo.Regular(10, 0, 1)).fill(np.zeros(1 << 24))
        print(h.explain())
    """
    for threads in ("1", "3"):
        run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True,
                             env=dict(os.environ, HISTO_THREADS=threads), check=True)
        assert f"threads={threads}\n" in run.stdout


def test_exceptions_of_arguments():
    class Bad:
        def __array__(self, *args, **kwargs):
            raise LookupError("no array today")

    class Index:
        def __index__(self):
            raise LookupError("no index today")

    for call in (histo.histogram, histo.bincount, histo.histogramdd):
        with pytest.raises(LookupError):
            call(Bad())
    with pytest.raises(LookupError):
        histo.histogram(A, 10, threads=Index())
    with pytest.raises(LookupError):
        histo.histogram(A, 10, weights=Bad())


if sys.version_info >= (3, 12):

    def test_interpreters():
        """Those with a GIL of their own import the module; NumPy refuses them, which is an ImportError."""
        code = """
            import sys
            try:
                import _interpreters as interpreters
            except ImportError:
                import _xxsubinterpreters as interpreters
            import histo
            histo.histogram([1, 2], 2)
            script = '''
                import array
                import histo
                h = histo.Histogram(histo.Regular(2, 0, 1)).fill(array.array("d", [0.1, 0.7, 0.8]), threads=2)
                assert h.tally.bins == 3, h  # without NumPy
                for i in range(3):
                    try:
                        histo.histogram([1, 2], 2)
                    except ImportError:
                        pass
                print(histo.__version__)
            '''
            for i in range(3):
                other = interpreters.create()
                failure = interpreters.run_string(other, __import__("textwrap").dedent(script))
                assert failure is None, failure
                interpreters.destroy(other)
            assert histo.histogram([1, 2], 2)[0].sum() == 2
        """
        run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
        assert (run.returncode, run.stdout) == (0, 3 * f"{histo.__version__}\n"), run.stderr
