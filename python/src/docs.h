/* Docstrings of the functions. Their first line is the signature that inspect.signature reads. */
#ifndef PYTHON_DOCS_H
#define PYTHON_DOCS_H

static const char histogram_doc[] =
    "histogram(a, bins=10, range=None, density=None, weights=None, *, axis=None, mask=None, out=None, threads=None, "
    "flow=False, device=None, dtype=None)\n--\n\n";
static const char histogram_bin_edges_doc[] =
    "histogram_bin_edges(a, bins=10, range=None, weights=None, *, mask=None, threads=None, device=None)\n--\n\n";
static const char histogramdd_doc[] =
    "histogramdd(sample, bins=10, range=None, density=None, weights=None, *, mask=None, out=None, threads=None, "
    "flow=False, device=None, dtype=None)\n--\n\n";
static const char histogram2d_doc[] =
    "histogram2d(x, y, bins=10, range=None, density=None, weights=None, *, mask=None, out=None, threads=None, "
    "flow=False, device=None, dtype=None)\n--\n\n";
static const char bincount_doc[] =
    "bincount(x, /, weights=None, minlength=0, *, axis=None, mask=None, out=None, threads=None, device=None, "
    "dtype=None)\n--\n\n";

#endif
