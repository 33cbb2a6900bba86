"""Writers of tables, a function for each format: writes what the format can hold, and returns the columns it left out with
the reason."""
import csv
import json
import math
import sqlite3
import warnings

import h5py
import netCDF4
import numpy as np
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import scipy.io
from astropy.io import fits

FORMATS = {}
warnings.filterwarnings("ignore", category=fits.verify.VerifyWarning)


def format_of(suffix):
    def add(write):
        FORMATS[suffix] = write
        return write
    return add


def has_missing(column):
    return any(v is None for v in column.values)


def special(column):
    return column.kind == "float" and any(v is not None and not math.isfinite(v) for v in column.values)


def number(value, dtype):
    """The digits of the same number as a double."""
    return repr(float(np.float32(value)) if dtype == "f4" else value)


def cell(column, value):
    """As text."""
    if value is None:
        return ""
    if column.kind == "float":
        return number(value, column.dtype)
    if column.kind == "bool":
        return "true" if value else "false"
    if column.kind in ("date", "time"):
        return value.isoformat()
    return str(value)


def rows_of(table):
    return zip(*(column.values for column in table))


def write_separated(path, table, delimiter):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(column.name for column in table)
        for row in rows_of(table):
            writer.writerow([cell(column, value) for column, value in zip(table, row)])


@format_of("csv")
def write_csv(path, table):
    write_separated(path, table, ",")
    return table


@format_of("tsv")
def write_tsv(path, table):
    write_separated(path, table, "\t")
    return table


@format_of("txt")
def write_blanks(path, table):
    """Aligned by blanks, where nothing but the blank needs quotes, nothing is missing, and cells have no delimiters."""
    def plain(text, special):
        return not any(c in text for c in special) and text

    kept = [column for column in table if not has_missing(column) and plain(column.name, '\n\t"\\')
            and all(plain(cell(column, value), '\n\t"\\,;|') for value in column.values)]
    if not kept or len(kept) == 1 and (kept[0].kind in ("string", "bool") or not plain(kept[0].name, ",;|")):
        return []  # whether the first of some words is their name cannot be known
    quoted = [[f'"{text}"' if " " in text else text
               for text in [column.name] + [cell(column, v) for v in column.values]] for column in kept]
    widths = [max(map(len, texts)) for texts in quoted]
    with open(path, "w") as file:
        for texts in zip(*quoted):
            file.write(" ".join(text.ljust(width) for text, width in zip(texts, widths)).rstrip() + "\n")
    return kept


def json_rows(table):
    """JSON has no NaN and no infinity."""
    kept = [column for column in table if not special(column)]

    def value_of(column, value):
        if value is None or column.kind in ("integer", "bool", "string"):
            return value
        return json.loads(number(value, column.dtype)) if column.kind == "float" else value.isoformat()

    return kept, [{c.name: value_of(c, v) for c, v in zip(kept, row)} for row in rows_of(kept)] if kept else []


@format_of("jsonl")
def write_json_lines(path, table):
    kept, rows = json_rows(table)
    with open(path, "w") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return kept


@format_of("json")
def write_json_array(path, table):
    kept, rows = json_rows(table)
    with open(path, "w") as file:
        json.dump(rows, file, indent=1)
    return kept


@format_of("sqlite")
def write_sqlite(path, table):
    """SQLite has integers of 64 bits with a sign, no booleans and no -0.0, and takes NaN as NULL."""
    def fits_in(c, v):
        if c.kind == "float":
            return not math.isnan(v) and (v != 0 or math.copysign(1, v) > 0)
        return c.kind != "bool" and (c.kind != "integer" or v < 2**63)

    kept = [c for c in table if all(v is None or fits_in(c, v) for v in c.values) and c.kind != "bool"]
    kept = [c for i, c in enumerate(kept) if c.name.lower() not in {d.name.lower() for d in kept[:i]}]
    if not kept:
        return []
    types = {"integer": "INTEGER", "float": "REAL"}
    quoted = ['"' + c.name.replace('"', '""') + '" ' + types.get(c.kind, "TEXT") for c in kept]
    with sqlite3.connect(path) as base:
        base.execute(f"CREATE TABLE t ({', '.join(quoted)})")
        base.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(kept))})",
                         ([float(np.float32(v)) if c.dtype == "f4" and v is not None
                           else v.isoformat() if c.kind in ("date", "time") and v is not None else v
                           for c, v in zip(kept, row)] for row in rows_of(kept)))
    base.close()
    return kept


ARROW = {"i1": pyarrow.int8(), "i2": pyarrow.int16(), "i4": pyarrow.int32(), "i8": pyarrow.int64(), "u1": pyarrow.uint8(),
         "u2": pyarrow.uint16(), "u4": pyarrow.uint32(), "u8": pyarrow.uint64(), "f4": pyarrow.float32(),
         "f8": pyarrow.float64()}
ARROW_KINDS = {"bool": pyarrow.bool_(), "string": pyarrow.string(), "date": pyarrow.date32(),
               "time": pyarrow.timestamp("us", "UTC")}


def arrow_table(table):
    arrays = [pyarrow.array(c.values, ARROW.get(c.dtype) or ARROW_KINDS[c.kind]) for c in table]
    if len(table) % 2:  # either way of storing strings
        arrays = [a.dictionary_encode() if c.kind == "string" else a for a, c in zip(arrays, table)]
    return pyarrow.table(arrays, [c.name for c in table])


@format_of("parquet")
def write_parquet(path, table):
    pyarrow.parquet.write_table(arrow_table(table), path, row_group_size=64)
    return table


@format_of("arrow")
def write_arrow(path, table):
    pyarrow.feather.write_feather(arrow_table(table), path, chunksize=64)
    return table


def records(table, strings):
    """A structured array of what has no missing value; NaT is what a missing date is."""
    kept = [c for c in table if c.kind in ("date", "time") or not has_missing(c)]
    kept = [c for c in kept if strings(c) if c.kind == "string"] + [c for c in kept if c.kind != "string"]

    def array_of(column):
        if column.kind == "date":
            return np.array(column.values, "M8[D]")
        if column.kind == "time":
            return np.array([None if v is None else v.astimezone(tz=None).replace(tzinfo=None) for v in column.values], "M8[us]")
        if column.kind == "string":
            return np.array(column.values, "U")
        return np.array(column.values, column.dtype or "?")

    arrays = [array_of(c) for c in kept]
    made = np.empty(len(table[0].values), [(c.name, a.dtype) for c, a in zip(kept, arrays)])
    for c, a in zip(kept, arrays):
        made[c.name] = a
    return kept, made


@format_of("npy")
def write_npy(path, table):
    kept, made = records(table, lambda column: True)
    if kept:
        with open(path, "wb") as file:
            np.lib.format.write_array(file, made, (3, 0))
    return kept


@format_of("h5")
def write_hdf5(path, table):
    kept = [c for c in table if not has_missing(c) and c.kind not in ("date", "time")]
    if not kept:
        return []
    dtype = [(c.name, h5py.string_dtype() if c.kind == "string" else np.dtype(c.dtype or "?")) for c in kept]
    made = np.empty(len(table[0].values), dtype)
    for c in kept:
        made[c.name] = c.values
    with h5py.File(path, "w") as file:
        file["t"] = made
    return kept


@format_of("fits")
def write_fits(path, table):
    """Strings and names are ASCII; names do not differ in case only; what is missing among integers is one number."""
    kept = []
    columns = []
    for c in table:
        if not c.name.isascii() or c.name.lower() in {d.name.lower() for d in kept} or c.kind in ("date", "time"):
            continue
        if c.kind == "string" and all(v is not None and v.isascii() and v.isprintable() for v in c.values):
            columns.append(fits.Column(c.name, f"{max(map(len, c.values))}A", array=np.array(c.values)))
        elif c.kind == "integer" and c.dtype in ("u1", "i2", "i4", "i8"):
            none = int(np.iinfo(c.dtype).min) + 1
            if has_missing(c) and none in c.values:
                continue
            code = {"u1": "B", "i2": "I", "i4": "J", "i8": "K"}[c.dtype]
            array = np.array([none if v is None else v for v in c.values], c.dtype)
            columns.append(fits.Column(c.name, code, null=none if has_missing(c) else None, array=array))
        elif not has_missing(c) and c.kind == "integer":
            if c.dtype == "i1":
                continue
            code, zero = {"u2": ("I", 2**15), "u4": ("J", 2**31), "u8": ("K", 2**63)}[c.dtype]
            columns.append(fits.Column(c.name, code, bzero=zero, array=np.array(c.values, c.dtype)))
        elif not has_missing(c) and c.kind in ("float", "bool"):
            columns.append(fits.Column(c.name, {"f4": "E", "f8": "D", "": "L"}[c.dtype],
                                       array=np.array(c.values, c.dtype or "?")))
        else:
            continue
        kept.append(c)
    if kept:
        fits.BinTableHDU.from_columns(columns).writeto(path, overwrite=True)
    return kept


def arrays(table):
    """The columns of numbers that are arrays of their own, with names that are identifiers. Bytes are those of images."""
    return [c for c in table if c.name.isidentifier() and c.name.isascii() and c.name[0] != "_"
            and c.kind in ("integer", "float") and c.dtype not in ("u1", "i1") and not has_missing(c)]


@format_of("mat")
def write_mat(path, table):
    kept = arrays(table)
    if kept:
        scipy.io.savemat(path, {c.name: np.array(c.values, c.dtype) for c in kept}, do_compression=len(kept) % 2 == 0)
    return kept


@format_of("nc")
def write_netcdf(path, table):
    """Values that the library fills variables with are missing."""
    fills = netCDF4.default_fillvals
    whole = [c for c in arrays(table) if fills[c.dtype] not in c.values]
    kept = [c for c in table if c in whole or c.name.isidentifier() and c.name.isascii() and c.name[0] != "_"
            and c.dtype in ("i2", "i4", "i8") and has_missing(c) and int(np.iinfo(c.dtype).min) not in c.values]
    if not kept:
        return []
    with netCDF4.Dataset(path, "w", format="NETCDF4") as file:
        file.createDimension("row", len(table[0].values))
        for c in kept:
            none = int(np.iinfo(c.dtype).min) if has_missing(c) else False
            variable = file.createVariable(c.name, c.dtype, ("row",), fill_value=none)
            variable[:] = np.array([none if v is None else v for v in c.values], c.dtype)
    return kept


# Whose arrays are columns, which --dataset names.
ARRAYS = ("mat", "nc")
