"""Statistics of values in bins: SciPy's functions, and histograms of means."""
