# For tests that make files of scientific formats: arrays of NumPy's to compare their counts with.
import struct

TYPES = {"u1": "B", "i1": "b", "u2": "H", "i2": "h", "u4": "I", "i4": "i", "u8": "Q", "i8": "q", "f4": "f", "f8": "d"}


def npy(path, code, values, shape=None):
    header = "{'descr': '<%s', 'fortran_order': False, 'shape': %r, }" % (code, shape or (len(values),))
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.ljust(117).encode() + b"\n")
        f.write(struct.pack("<%d%s" % (len(values), TYPES[code]), *values))
