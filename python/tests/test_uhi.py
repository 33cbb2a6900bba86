"""The conformance classes of uhi.testing."""

import uhi.tag
from uhi.testing.indexing import Indexing1D, Indexing2D, Indexing3D

import histo


class TestIndexing1D(Indexing1D):
    @classmethod
    def make_histogram(cls):
        return histo.Histogram(cls.get_uhi())


class TestIndexing2D(Indexing2D):
    @classmethod
    def make_histogram(cls):
        return histo.Histogram(cls.get_uhi())


class TestIndexing3D(Indexing3D):
    @classmethod
    def make_histogram(cls):
        return histo.Histogram(cls.get_uhi())


class TestOurTags(TestIndexing1D):
    """The same with the tags of histo."""

    class tag:
        loc, rebin, underflow, overflow = histo.loc, histo.rebin, histo.underflow, histo.overflow


class TestWeighted(TestIndexing1D):
    @classmethod
    def make_histogram(cls):
        return super().make_histogram().astype("weight")

    def bin_to_value(self, bin):
        return bin.value

    def sum_to_value(self, bin):
        return bin.value


class TestDouble(TestIndexing2D):
    @classmethod
    def make_histogram(cls):
        return super().make_histogram().astype("double")


class TestExact(TestIndexing3D):
    @classmethod
    def make_histogram(cls):
        return super().make_histogram().astype("exact_double")


del Indexing1D, Indexing2D, Indexing3D, uhi
