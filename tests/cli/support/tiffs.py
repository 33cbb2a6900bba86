"""TIFF files without libraries: written with any fields, and read where they are as simple as these or as what the
command writes (uncompressed strips, and deflated masks)."""
import struct
import zlib

CODES = {"u1": (8, 1, "B"), "u2": (16, 1, "H"), "u4": (32, 1, "I"), "i1": (8, 2, "b"), "i2": (16, 2, "h"),
         "i4": (32, 2, "i"), "f4": (32, 3, "f"), "f8": (64, 3, "d")}
FORMATS = {1: "B", 2: "c", 3: "H", 4: "I", 12: "d"}
MASK = {254: (4, 4), 262: (3, 4)}


def page(dtype, width, values, channels=1, fields=None, bits=None):
    """values: rows of interleaved samples, one after the other; of `bits` bits (1), 0 or 1. fields: {tag: (type, value
    or values or text)}."""
    size, kind, code = CODES[dtype]
    if bits == 1:
        rows = [values[i:i + width] for i in range(0, len(values), width)]
        data = b"".join(int("".join(map(str, r)).ljust(-(-width // 8) * 8, "0"), 2).to_bytes(-(-width // 8), "big")
                        for r in rows)
    else:
        data = struct.pack(f"<{len(values)}{code}", *values)
    height = len(values) // (width * channels)
    own = {256: (4, width), 257: (4, height), 258: (3, [bits or size] * channels), 259: (3, 1),
           262: (3, 2 if channels > 2 else 1), 273: (4, 0), 277: (3, channels), 278: (4, height), 279: (4, len(data)),
           339: (3, [kind] * channels)}
    return {**own, **(fields or {})}, data


def write(path, *pages):
    out, link = bytearray(b"II*\0\0\0\0\0"), 4
    for fields, data in pages:
        start = len(out)
        out += data + b"\0" * (len(data) % 2)
        entries, far = [], bytearray()
        at = len(out) + 2 + 12 * len(fields) + 4
        for tag, (kind, value) in sorted({**fields, 273: (4, start)}.items()):
            if kind == 2:
                raw, count = value.encode() + b"\0", len(value) + 1
            else:
                values = value if isinstance(value, list) else [value]
                raw, count = struct.pack(f"<{len(values)}{FORMATS[kind]}", *values), len(values)
            if len(raw) > 4:
                entries.append(struct.pack("<HHII", tag, kind, count, at + len(far)))
                far += raw + b"\0" * (len(raw) % 2)
            else:
                entries.append(struct.pack("<HHI", tag, kind, count) + raw.ljust(4, b"\0"))
        struct.pack_into("<I", out, link, len(out))
        out += struct.pack("<H", len(entries)) + b"".join(entries)
        link = len(out)
        out += b"\0\0\0\0" + far
    open(path, "wb").write(out)


def read(path):
    """[(values, fields)] of each page; values of 1 bit are those of a mask, padded to whole bytes."""
    data, pages = open(path, "rb").read(), []
    at, = struct.unpack_from("<I", data, 4)
    while at:
        count, = struct.unpack_from("<H", data, at)
        fields = {}
        for i in range(count):
            tag, kind, n = struct.unpack_from("<HHI", data, at + 2 + 12 * i)
            code = FORMATS.get(kind)
            if not code:
                continue
            size = n * struct.calcsize(code)
            where = at + 10 + 12 * i if size <= 4 else struct.unpack_from("<I", data, at + 10 + 12 * i)[0]
            raw = data[where:where + size]
            fields[tag] = raw.rstrip(b"\0").decode() if kind == 2 else list(struct.unpack(f"<{n}{code}", raw))
        strips = b"".join(zlib.decompress(s) if fields[259] != [1] else s
                          for s in (data[o:o + n] for o, n in zip(fields[273], fields[279])))
        if fields[258] == [1]:
            values = [b >> k & 1 for b in strips for k in range(7, -1, -1)]
        else:
            code = next(c for bits, kind, c in CODES.values() if [bits, kind] == [fields[258][0], fields[339][0]])
            values = list(struct.unpack(f"<{len(strips) // struct.calcsize(code)}{code}", strips))
        pages.append((values, fields))
        at, = struct.unpack_from("<I", data, at + 2 + 12 * count)
    return pages
