"""The C library through ctypes, for the tests in this directory. HISTO_LIBRARY is the path of the shared library."""
import ctypes
import os
import sys

import numpy as np

MAX_DIMS = 8
DTYPES = "u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64".split()
STORAGE = dict(u8="u1", i8="i1", u16="u2", i16="i2", u32="u4", i32="i4", u64="u8", i64="i8", f16="f2", bf16="u2",
               f32="f4", f64="f8")
OK, INVALID = 0, 1
INTEGER, REGULAR, VARIABLE = 0, 1, 2
UNWEIGHTED, FAST, REPRODUCIBLE, FAST_SUM = 0, 1, 2, 3
BINS, FLOW = 0, 1
EDGES_I64, EDGES_U64 = 1, 2
DENSE, SPARSE = 0, 1
BIT, SWAPPED = 64, 128


class View(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int), ("ndim", ctypes.c_int),
                ("batch_ndim", ctypes.c_int), ("shape", ctypes.c_int64 * MAX_DIMS),
                ("strides", ctypes.c_int64 * MAX_DIMS)]


class FillOptions(ctypes.Structure):
    _fields_ = [("weights", ctypes.POINTER(View)), ("mask", ctypes.POINTER(View)), ("where", ctypes.POINTER(View)),
                ("where_lo", ctypes.c_double), ("where_hi", ctypes.c_double), ("offsets", ctypes.c_void_p),
                ("stream", ctypes.c_void_p), ("replace", ctypes.c_bool), ("threads", ctypes.c_int),
                ("mask_offset", ctypes.c_int64), ("functions", ctypes.c_void_p),
                ("reserved", ctypes.c_uint64 * 8)]


class Axis(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_uint32), ("edge_type", ctypes.c_uint32), ("bins", ctypes.c_int64),
                ("lo", ctypes.c_double), ("hi", ctypes.c_double), ("power", ctypes.c_double),
                ("edges", ctypes.POINTER(ctypes.c_double)), ("closed", ctypes.c_bool),
                ("reserved", ctypes.c_ubyte * 15)]


class HistOptions(ctypes.Structure):
    _fields_ = [("batch", ctypes.c_int64), ("weighting", ctypes.c_uint32), ("storage", ctypes.c_uint32),
                ("reserved", ctypes.c_uint64 * 8)]


lib = ctypes.CDLL(os.environ["HISTO_LIBRARY"])
lib.histo_last_error.restype = ctypes.c_char_p
lib.histo_hist_size.restype = ctypes.c_int64
lib.histo_hist_destroy.restype = None
lib.histo_quantiles_destroy.restype = None


def last_error():
    return lib.histo_last_error().decode()


def check(status):
    if status != OK:
        raise RuntimeError(last_error())


def view_of(array, dtype):
    swapped = 0 if array.dtype.isnative else SWAPPED
    view = View(data=array.ctypes.data, dtype=DTYPES.index(dtype) | swapped, ndim=array.ndim)
    view.shape[:array.ndim] = array.shape
    view.strides[:array.ndim] = array.strides
    return view


def axis_of(edges, closed, kind=VARIABLE):
    """An axis with these edges; of a regular or integer one only the number, the first and the last count."""
    edges = np.ascontiguousarray(edges, dtype=np.float64)
    axis = Axis(kind=kind, closed=closed, bins=len(edges) - 1, lo=edges[0], hi=edges[-1])
    if kind == VARIABLE:
        axis.edges = edges.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    axis.keep = edges  # ctypes does not hold on to the array
    return axis


class Hist:
    """A histogram of the axes given, destroyed with the object."""

    def __init__(self, *axes, weighting=UNWEIGHTED, storage=DENSE):
        self.handle = ctypes.c_void_p()
        self.bins = [axis.bins for axis in axes]
        array = (Axis * len(axes))(*axes)
        options = HistOptions(batch=1, weighting=weighting, storage=storage)
        check(lib.histo_hist_create(ctypes.byref(self.handle), len(axes), array, ctypes.byref(options)))

    def __del__(self):
        lib.histo_hist_destroy(self.handle)

    def fill(self, *columns, weights=None, bitmap=None):
        """columns: (array, dtype name) for each axis. bitmap: (packed bits, offset) of a mask."""
        views = (View * len(columns))(*[view_of(*column) for column in columns])
        options = FillOptions()
        if weights is not None:
            options.weights = ctypes.pointer(view_of(*weights))
        if bitmap is not None:
            mask = View(data=bitmap[0].ctypes.data, dtype=BIT, ndim=columns[0][0].ndim)
            step = 1
            for d in reversed(range(mask.ndim)):
                mask.shape[d], mask.strides[d] = columns[0][0].shape[d], step
                step *= mask.shape[d]
            options.mask = ctypes.pointer(mask)
            options.mask_offset = bitmap[1]
        check(lib.histo_hist_fill(self.handle, views, ctypes.byref(options)))

    def counts(self, slots=FLOW):
        shape = [n + 3 if slots == FLOW else n for n in self.bins]
        counts = np.empty(shape, dtype=np.uint64)
        check(lib.histo_hist_read_counts(self.handle, slots, ctypes.c_void_p(counts.ctypes.data),
                                         ctypes.c_int64(counts.size), None))
        return counts

    def occupied(self, slots=FLOW):
        """Where the counts that are not zero would be in counts(slots), flattened, and these."""
        occupied = ctypes.c_int64()
        check(lib.histo_hist_occupied(self.handle, slots, ctypes.byref(occupied)))
        index = np.empty(occupied.value, dtype=np.int64)
        counts = np.empty(occupied.value, dtype=np.uint64)
        check(lib.histo_hist_read_occupied(self.handle, slots, ctypes.c_void_p(index.ctypes.data),
                                           ctypes.c_void_p(counts.ctypes.data), occupied))
        return index, counts

    def weights(self, slots=FLOW):
        shape = [n + 3 if slots == FLOW else n for n in self.bins]
        sums = np.empty([2] + shape)
        check(lib.histo_hist_read_weights(self.handle, slots, ctypes.c_void_p(sums[0].ctypes.data),
                                          ctypes.c_void_p(sums[1].ctypes.data), ctypes.c_int64(sums[0].size), None))
        return sums


def run_checks(checks, default_cases):
    """Exit after HISTO_CASES random cases from seed HISTO_SEED on, one check after the other, each with a generator."""
    seed, cases = int(os.environ.get("HISTO_SEED", 1)), int(os.environ.get("HISTO_CASES", default_cases))
    for case in range(seed, seed + cases):
        try:
            checks[case % len(checks)](np.random.default_rng(case))
        except (AssertionError, RuntimeError) as failure:
            sys.exit(f"HISTO_SEED={case} HISTO_CASES=1 ({checks[case % len(checks)].__name__}): {failure}")
    print(f"{cases} cases")
