"""The search of examples/search.c on a pair of photographs, through libhisto: HISTO_LIBRARY names it."""
import ctypes
import os

import numpy as np
from PIL import Image

INTEGER_U8, REGULAR, BHATTACHARYYA = 0, 1, 4
SIZE, AT, BINS = 56, (300, 262), 32  # of the window in the left photograph: x, y


class View(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int), ("ndim", ctypes.c_int), ("batch_ndim", ctypes.c_int),
                ("shape", ctypes.c_int64 * 8), ("strides", ctypes.c_int64 * 8)]


class Axis(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("closed", ctypes.c_bool), ("bins", ctypes.c_int64), ("lo", ctypes.c_double),
                ("hi", ctypes.c_double), ("power", ctypes.c_double), ("edges", ctypes.c_void_p)]


class Options(ctypes.Structure):
    _fields_ = [("batch", ctypes.c_int64), ("weighting", ctypes.c_int), ("storage", ctypes.c_int)]


def count(histo, windows):
    """A histogram of each window: the first two dimensions say which."""
    view = View(windows.ctypes.data, INTEGER_U8, 4, 2)
    view.shape[:4], view.strides[:4] = windows.shape, windows.strides
    handle = ctypes.c_void_p()
    options = Options(windows.shape[0] * windows.shape[1])
    axis = Axis(REGULAR, False, BINS, 0, 256)
    if histo.histo_hist_create(ctypes.byref(handle), 1, ctypes.byref(axis), ctypes.byref(options)) or histo.histo_hist_fill(
            handle, ctypes.byref(view), None):
        raise RuntimeError(histo.histo_last_error())
    return handle


def photographs():
    return [np.asarray(Image.open(f"motorcycle_{side}.png").convert("L")) for side in ("left", "right")]


def distances():
    """Between a window of the left photograph, upside down, and all of the right one: an array by y and x."""
    histo = ctypes.CDLL(os.environ["HISTO_LIBRARY"])
    histo.histo_last_error.restype = ctypes.c_char_p
    left, right = photographs()
    windows = np.lib.stride_tricks.sliding_window_view(right, (SIZE, SIZE))
    model = left[AT[1]:AT[1] + SIZE, AT[0]:AT[0] + SIZE][::-1].copy()
    found = np.empty(windows.shape[:2])
    hists = [count(histo, windows), count(histo, np.broadcast_to(model, windows.shape))]
    if histo.histo_hist_compare(*hists, BHATTACHARYYA, found.ctypes.data_as(ctypes.POINTER(ctypes.c_double))):
        raise RuntimeError(histo.histo_last_error())
    for hist in hists:
        histo.histo_hist_destroy(hist)
    return found


def place(found):
    y, x = np.unravel_index(np.argmin(found), found.shape)
    return int(x), int(y)
