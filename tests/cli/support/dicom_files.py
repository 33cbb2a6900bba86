# DICOM files, written by hand, for tests.
import struct
import zlib


def element(group, number, vr, value, order="<"):
    if isinstance(value, str):
        value = value.encode()
    value += (b"\0" if vr in ("UI", "OB", "OW") else b" ") * (len(value) % 2)
    tag = struct.pack(order + "HH", group, number)
    if vr in ("OB", "OW", "OF", "OD", "SQ", "UN"):
        return tag + vr.encode() + b"\0\0" + struct.pack(order + "I", len(value)) + value
    return tag + vr.encode() + struct.pack(order + "H", len(value)) + value


def implicit(group, number, value):
    value = value.encode() if isinstance(value, str) else value
    return struct.pack("<HHI", group, number, len(value) + len(value) % 2) + value + b" " * (len(value) % 2)


def sequence(*items, order="<"):
    """The value of a sequence: each item is a list of elements."""
    bodies = [b"".join(element(*e, order) for e in sorted(item)) for item in items]
    return b"".join(struct.pack(order + "HHI", 0xfffe, 0xe000, len(b)) + b for b in bodies)


def dicom(rows, columns, bits, stored, signed, data, *extra, frames=1, samples=1, colors="MONOCHROME2", planar=0,
          syntax="1.2.840.10008.1.2.1", preamble=bytes(128), order="<", bare=False, high=None, word=None):
    """signed: None for floats. word: the type of the pixels."""
    meta = element(2, 0x10, "UI", syntax)
    head = b"" if bare else preamble + b"DICM" + element(2, 0, "UL", struct.pack("<I", len(meta))) + meta
    short = lambda v: struct.pack(order + "H", v)
    fields = [(8, 0x60, "CS", "CT"), (0x28, 2, "US", short(samples)), (0x28, 4, "CS", colors),
              (0x28, 8, "IS", str(frames)), (0x28, 0x10, "US", short(rows)), (0x28, 0x11, "US", short(columns)),
              (0x28, 0x100, "US", short(bits))]
    if signed is not None:
        fields += [(0x28, 0x101, "US", short(stored)), (0x28, 0x102, "US", short(stored - 1 if high is None else high)),
                   (0x28, 0x103, "US", short(signed))]
    if samples > 1:
        fields.append((0x28, 6, "US", short(planar)))
    fields += extra
    body = (0x7fe0, 0x10, word or ("OB" if bits <= 8 else "OW"), data)
    if signed is None:
        body = (0x7fe0, 8, "OF", data) if bits == 32 else (0x7fe0, 9, "OD", data)
    if syntax == "1.2.840.10008.1.2":
        return head + b"".join(implicit(g, n, v) for g, n, vr, v in sorted(fields)) + implicit(0x7fe0, 0x10, data)
    elements = b"".join(element(*f, order) for f in sorted(fields)) + element(*body, order)
    if syntax.endswith(".99"):
        deflate = zlib.compressobj(wbits=-15)
        elements = deflate.compress(elements) + deflate.flush()
    return head + elements
