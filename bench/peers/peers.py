"""Python's libraries as peers that `histo bench map` times; behind requests.py.

    begin ID LIBRARY THREADS KIND BINS EDGES DTYPE SHAPE BATCH STRIDES SAMPLES OFFSETS MASK WEIGHTS WEIGHT_DTYPE SQUARES
    run ID                   count all samples from zero: this is timed
    counts ID FILE UNIT      write the counts of the last run, or the sums of weights in UNIT, as uint64
    end ID
Values per axis or per dimension are separated by commas. KIND of axes: integer, equal, any. EDGES: a file with the double
edges of all axes. All axes have samples of one DTYPE and SHAPE, whose first BATCH dimensions are histograms, with STRIDES in
bytes, from OFFSETS in the files SAMPLES. MASK (bytes) and WEIGHTS are contiguous arrays of that SHAPE. SQUARES: 1 to sum the
squares of weights, too. -1 instead of a file: none.
"""

BLOCK = 1 << 22  # samples: what a library converts stays in the caches


class Axis:
    def __init__(self, kind, edges):
        self.kind, self.edges, self.bins = kind, edges, len(edges) - 1
        self.lo, self.hi = float(edges[0]), float(edges[-1])


class Task:
    def __init__(self, threads, kind, bins, edges, dtype, shape, batch, strides, samples, offsets, mask, weights,
                 weight_dtype, squares):
        ends = np.cumsum([n + 1 for n in numbers(bins)])
        self.axes = [Axis(kind, e) for e in np.split(np.fromfile(path_of(edges)), ends[:-1])]
        self.kind, self.threads, self.squares = kind, int(threads), squares == "1"
        self.dtype, self.batch = dtype_of(dtype), numbers(shape)[: int(batch)]
        self.columns = [
            mapped(file, dtype, shape, numbers(strides), at) for file, at in zip(numbers(samples), numbers(offsets))
        ]
        self.mask = None if mask == "-1" else mapped(mask, "u8", shape)
        self.weights = None if weights == "-1" else mapped(weights, weight_dtype, shape)

    def histograms(self):
        """Per histogram: columns of samples, weights or None, mask or None."""
        for i in np.ndindex(*self.batch):
            yield [column[i].squeeze() for column in self.columns], *(
                None if array is None else array[i].squeeze() for array in (self.weights, self.mask)
            )

    def count(self, count_block):
        """The sum of count_block(columns, weights) over flat blocks of the samples that the mask lets through."""
        return [
            sum(count_block(*block) for block in blocks(columns, weights, mask))
            for columns, weights, mask in self.histograms()
        ]


def blocks(columns, weights, mask):
    shape = columns[0].shape
    longest = int(np.argmax(shape))
    step = max(1, BLOCK * shape[longest] // columns[0].size)
    for i in range(0, shape[longest], step):
        at = (slice(None),) * longest + (slice(i, i + step),)
        chosen = [column[at].reshape(-1) for column in columns]
        if mask is not None:
            taken = mask[at].reshape(-1) != 0
            chosen = [column[taken] for column in chosen]
        yield chosen, None if weights is None else weights[at].reshape(-1)


class Numpy:
    def __init__(self, task):
        self.task = task
        self.counting = len(task.axes) == 1 and task.kind == "integer"
        if self.counting and task.dtype == np.uint64:
            raise ValueError("bincount takes no uint64")

    def count(self, columns, weights):
        axes = self.task.axes
        bins = [axis.bins if axis.kind != "any" else axis.edges for axis in axes]
        ranges = [(axis.lo, axis.hi) for axis in axes]
        if self.counting:
            lo = columns[0].dtype.type(axes[0].lo)
            return np.bincount(columns[0] - lo if lo else columns[0], weights, minlength=bins[0])
        if len(axes) == 1:
            return np.histogram(columns[0], bins[0], ranges[0], weights=weights)[0]
        if len(axes) == 2:
            return np.histogram2d(*columns, bins, ranges, weights=weights)[0]
        return np.histogramdd(columns, bins, ranges, weights=weights)[0]

    def count_both(self, columns, weights):
        self.count(columns, weights * weights)
        return self.count(columns, weights)

    def run(self):
        return self.task.count(self.count_both if self.task.squares else self.count)


class NumpyUnique:
    """The occupied slots of equal bins."""

    def __init__(self, task):
        self.task = task
        if task.kind == "any":
            raise ValueError("equal bins only")

    def run(self):
        axes, (columns,) = self.task.axes, [columns for columns, _, _ in self.task.histograms()]
        slots = np.zeros(columns[0].shape, np.int64)
        for axis, column in zip(axes, columns):
            slots = slots * axis.bins + ((column - axis.lo) * (axis.bins / (axis.hi - axis.lo))).astype(np.int64)
        occupied, counts = np.unique(slots, return_counts=True)
        everywhere = np.zeros(int(np.prod([axis.bins for axis in axes])), np.int64)
        everywhere[occupied] = counts
        return everywhere


class FastHistogram(Numpy):
    def __init__(self, task):
        self.task = task
        if task.kind == "any":
            raise ValueError("equal bins only")

    def count(self, columns, weights):
        bins = [axis.bins for axis in self.task.axes]
        ranges = [(axis.lo, axis.hi) for axis in self.task.axes]
        if len(bins) == 1:
            return fast_histogram.histogram1d(columns[0], bins[0], ranges[0], weights=weights)
        if len(bins) == 2:
            return fast_histogram.histogram2d(*columns, bins, ranges, weights=weights)
        return fast_histogram.histogramdd(columns, bins, ranges, weights=weights)


class BoostHistogram:
    def __init__(self, task):
        self.task = task
        self.axes = [self.make_axis(axis) for axis in task.axes]
        storage = bh.storage
        self.storage = storage.Int64 if task.weights is None else storage.Weight if task.squares else storage.Double

    @staticmethod
    def make_axis(axis):
        if axis.kind == "integer":
            return bh.axis.Integer(int(axis.lo), int(axis.hi))
        return bh.axis.Regular(axis.bins, axis.lo, axis.hi) if axis.kind == "equal" else bh.axis.Variable(axis.edges)

    def run(self):
        counts = []
        for columns, weights, mask in self.task.histograms():
            histogram = bh.Histogram(*self.axes, storage=self.storage())
            for block, its_weights in blocks(columns, weights, mask):
                histogram.fill(*block, weight=its_weights, threads=self.task.threads)
            counts.append(histogram.values())
        return counts


class OpenCV:
    def __init__(self, task):
        self.bins = [axis.bins for axis in task.axes]
        self.ranges = [end for axis in task.axes for end in (axis.lo, axis.hi)]
        if task.dtype not in (np.uint8, np.uint16, np.float32):
            raise ValueError(f"not for {task.dtype}")
        if task.weights is not None:
            raise ValueError("it sums no weights")
        if task.kind == "any":
            raise ValueError("equal bins only")
        if max(self.bins) > 65536:
            raise ValueError("too many bins")
        cv2.setNumThreads(task.threads)
        self.histograms = [
            ([self.pixels(column) for column in columns], None if mask is None else self.rows(mask))
            for columns, _, mask in task.histograms()
        ]

    @staticmethod
    def rows(array):
        return array if array.ndim == 2 else array.reshape(-1, 4096 if len(array) % 4096 == 0 else 1)

    @classmethod
    def pixels(cls, column):
        """An image whose first channel is the column."""
        rows = cls.rows(column)
        channels = rows.strides[1] // rows.itemsize
        strides = (*rows.strides, rows.itemsize)
        return np.lib.stride_tricks.as_strided(rows, (*rows.shape, channels), strides, writeable=False)

    def run(self):
        return [
            cv2.calcHist(images, [i * image.shape[2] for i, image in enumerate(images)], mask, self.bins, self.ranges)
            for images, mask in self.histograms
        ]


LIBRARIES = {"NumPy": Numpy, "NumPy unique": NumpyUnique}
for name, statement, kind in (
    ("boost-histogram", "import boost_histogram as bh", BoostHistogram),
    ("fast-histogram", "import fast_histogram", FastHistogram),
    ("OpenCV", "import cv2", OpenCV),
):
    try:
        exec(statement)
        LIBRARIES[name] = kind
    except ImportError:
        pass


class Peer:
    def __init__(self, library, *task):
        if library not in LIBRARIES:
            raise ValueError("absent: it is not installed there")
        self.library = LIBRARIES[library](Task(*task))

    def run(self):
        self.counted = self.library.run()

    def counts(self, file, unit):
        (np.asarray(self.counted) / float(unit)).astype(np.uint64).tofile(path_of(file))


serve(Peer)
