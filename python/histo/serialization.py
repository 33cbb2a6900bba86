"""Histograms as the dicts and JSON of the Unified Histogram Interface (schema 1), and as files.

The dict has what every reader knows, and under writer_info["histo"] what only this library keeps: kinds of axes, exact
counts beside sums of weights, NaN slots, masked samples. The library and the command read and write the same.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from . import _histo
from ._histo import (
    AXIS_KINDS,
    BINARY,
    DENSE,
    INTEGER,
    JSON,
    POWER,
    REGULAR,
    SPARSE,
    UNWEIGHTED,
    WEIGHT_FAST,
    WEIGHT_FAST_SUM,
    WEIGHT_REPRODUCIBLE,
    WEIGHT_REPRODUCIBLE_SUM,
    WEIGHTINGS,
)
from .axes import Axis, Boolean, Category, Variable, axis_of
from .storage import HAS_SQUARES, Slots, fold, made_of

_TYPES = {UNWEIGHTED: "int", WEIGHT_FAST: "weighted", WEIGHT_REPRODUCIBLE: "weighted", WEIGHT_FAST_SUM: "double",
          WEIGHT_REPRODUCIBLE_SUM: "double"}
_FEW_SLOTS = 1 << 23
_SLOTS_PER_BYTE = 1024

# ---- Writing ----


def _metadata_to(name: str, label: str, metadata: Any) -> dict:
    simple = (str, int, float, bool)
    entries: dict = {}
    if isinstance(metadata, dict):
        entries.update((str(key), value) for key, value in metadata.items() if isinstance(value, simple) and key)
    elif isinstance(metadata, simple):
        entries["metadata"] = metadata
    if name:
        entries["name"] = name
    if label:
        entries["label"] = label
    return entries


def _axis_to(axis: Axis) -> dict:
    own: dict = {}
    writer: dict = {"histo": own}
    data: dict
    kind, closed, bins, lo, hi, power, edges = axis._tuple
    if isinstance(axis, Boolean):
        data = {"type": "boolean"}
    elif isinstance(axis, Category):
        of_strings = not axis.size or isinstance(axis.categories[0], str)
        data = {"type": "category_str" if of_strings else "category_int", "categories": axis.categories,
                "flow": axis._overflow}
        if axis._grows:
            own["growth"] = True
            writer["boost-histogram"] = {"growth": True}
    else:
        own["kind"] = AXIS_KINDS[kind]
        flow = {"underflow": axis._underflow, "overflow": axis._overflow, "circular": False}
        if kind in (INTEGER, REGULAR):
            ends = (int(lo), int(hi)) if kind == INTEGER else (lo, hi)
            data = {"type": "regular", "lower": ends[0], "upper": ends[1], "bins": bins, **flow}
        else:
            data = {"type": "variable", "edges": axis.edges.copy(), **flow}
        if kind == POWER:
            own["power"] = power
        if kind == INTEGER:
            writer["boost-histogram"] = {"orig_type": "Integer"}
        if closed:
            own["closed"] = True
    if own:
        data["writer_info"] = writer
    metadata = _metadata_to(axis.name, axis._label, axis.metadata)
    if metadata:
        data["metadata"] = metadata
    return data


def _list_to(slots: Any, assumed: Any) -> str:
    """The values that differ from those a reader assumes: "index:value,value index:value"."""
    slots, assumed = slots.ravel(), assumed.ravel()
    at = np.flatnonzero((slots != assumed) & ~((slots != slots) & (assumed != assumed)))
    words = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
    parts, last = [], -2
    for i, value in zip(at.tolist(), slots[at].tolist(), strict=True):
        text = words.get(repr(value), repr(value))
        parts.append(f",{text}" if i == last + 1 else f" {i}:{text}")
        last = i
    return "".join(parts)[1:]


def to_uhi(h: Any) -> dict:
    """The dict of a histogram."""
    weighting, layout = h._kind()
    batch = h.batch
    entries = int(np.prod(batch, dtype=np.int64))
    axes: list = [_axis_to(axis) for axis in h.axes]
    if entries > 1:
        axes.insert(0, {"type": "category_int", "categories": list(range(entries)), "flow": False,
                        "writer_info": {"histo": {"kind": "batch"}}})
    own: dict = {"version": _histo.version(), "weighting": WEIGHTINGS[weighting]}
    if len(batch) > 1 or entries == 1 and batch:
        own["batch"] = ",".join(map(str, batch))
    masked = np.atleast_1d(h._masked()).ravel()
    if layout == SPARSE:
        own["storage"] = "sparse"
        storage = _sparse_to(h, own)
    else:
        storage = _dense_to(h, own, masked)
    data = {"uhi_schema": 1, "writer_info": {"histo": own}, "axes": axes, "storage": storage}
    metadata = _metadata_to(h.name, h._label, h.metadata)
    if metadata:
        data["metadata"] = metadata
    return data


def _dense_to(h: Any, own: dict, masked: Any) -> dict:
    naxes, nbatch = h.ndim, len(h.batch)
    full = h._slots()
    main = full.counts if full.sum_w is None else full.sum_w
    storage: dict = {"type": _TYPES[h._kind()[0]]}
    lists = {}
    inner = (slice(None),) * nbatch + (slice(None, -1),) * naxes
    for key, name, slots in (("values", "counts", full.counts), ("values", "sum_w", full.sum_w),
                             ("variances", "sum_w2", full.sum_w2)):
        if slots is None:
            continue
        assumed = np.zeros_like(slots)
        if slots is main or key == "variances":
            shown = h._shown(fold(slots, naxes))
            cells = np.zeros_like(slots[inner])
            h._shown(cells)[...] = shown
            assumed[inner] = cells
            count = int(np.prod(h.batch, dtype=np.int64))
            flat = shown.reshape((count,) * (count > 1) + shown.shape[nbatch:])
            storage[key] = np.ascontiguousarray(flat)
        text = _list_to(slots, assumed)
        if text:
            lists[name] = text
    text = _list_to(masked, np.zeros_like(masked))
    if text:
        lists["masked"] = text
    if lists:
        own.update(lists, checksum=h._checksum())
    return storage


def _sparse_to(h: Any, own: dict) -> dict:
    """The occupied cells, as the library lists them, where the axes have a place for them."""
    document = json.loads(h._save(JSON, None))["histogram"]
    storage = document["storage"]
    index, values = np.array(storage["index"], np.int64), np.array(storage["values"], np.int64)
    shown = np.ones(len(values), bool)
    first = len(index) - h.ndim
    for row, axis in zip(index[first:], h.axes, strict=True):
        flow = axis.traits
        row -= not flow.underflow
        shown &= (row >= 0) & (row < axis._tuple[2] + flow.underflow + flow.overflow)
    if all(axis.traits.underflow and axis.traits.overflow for axis in h.axes):
        own.update(document["writer_info"]["histo"])
    return {"type": "int", "index": index[:, shown], "values": values[shown]}


# ---- Reading ----


def _metadata_of(data: dict) -> tuple[str, str, Any]:
    entries = dict(data.get("metadata") or {})
    entries.pop("moments", None)  # the command's, of the samples that are counted so far
    name, label = entries.pop("name", ""), entries.pop("label", "")
    metadata: Any = entries or None
    if entries and set(entries) == {"metadata"}:
        metadata = entries["metadata"]
    return name if isinstance(name, str) else str(name), label if isinstance(label, str) else str(label), metadata


def _own(data: dict, library: str = "histo") -> dict:
    details = (data.get("writer_info") or {}).get(library) or {}
    if not hasattr(details, "keys"):
        raise ValueError(f"writer_info of {library!r} is not a dict")
    return details


def _true(data: dict, key: str) -> bool:
    if data[key] not in (True, False):
        raise ValueError(f"{key!r} is true or false, not {data[key]!r}")
    return bool(data[key])


def _axis_from(data: dict) -> Axis:
    kind = data["type"]
    name, label, metadata = _metadata_of(data)
    boost, own = _own(data, "boost-histogram"), _own(data)
    if kind == "boolean":
        return Boolean(name=name, label=label, metadata=metadata)
    if kind in ("category_str", "category_int"):
        cast = str if kind == "category_str" else int
        categories = list(data["categories"])
        if any(isinstance(one, bool) or isinstance(one, str) != (cast is str) for one in categories):
            raise ValueError(f"the categories of a {kind} axis are of another type")
        growth = own.get("growth") is True or boost.get("growth") is True
        return Category(categories, growth=growth, overflow=_true(data, "flow"), name=name, label=label,
                        metadata=metadata)
    if kind not in ("regular", "variable"):
        raise ValueError(f"an axis of type {kind!r} is unknown")
    if _true(data, "circular"):
        raise ValueError("circular axes are not supported")
    flow = _true(data, "underflow"), _true(data, "overflow")
    if kind == "regular":
        lo, hi, bins = float(data["lower"]), float(data["upper"]), data["bins"]
        if isinstance(bins, bool) or int(bins) != bins:
            raise ValueError(f"{bins!r} is not a number of bins")
        known = own.get("kind", "integer" if boost.get("orig_type") == "Integer" else "regular")
        numbers = (INTEGER if known == "integer" else REGULAR, own.get("closed") is True, int(bins), lo, hi, 0.0, None)
        return axis_of(numbers, *flow, name, label, metadata)
    edges = np.asarray(data["edges"], float)
    if edges.ndim != 1 or edges.size < 2:
        raise ValueError("an axis needs two edges or more")
    known = own.get("kind", "variable")
    power = {"sqrt": 0.5, "power": own.get("power")}.get(known, 0.0)
    if known not in AXIS_KINDS or power is None:
        raise ValueError(f"an axis of the kind {known!r} cannot be read")
    if known in ("variable", "regular", "integer"):
        return Variable(edges, closed=own.get("closed") is True, underflow=flow[0], overflow=flow[1], name=name,
                        label=label, metadata=metadata)
    numbers = (AXIS_KINDS.index(known), own.get("closed") is True, edges.size - 1, float(edges[0]), float(edges[-1]),
               float(power), edges.tobytes())
    return axis_of(numbers, *flow, name, label, metadata)


def _array(storage: dict, key: str, shape: tuple, index: Any) -> Any:
    """The values of all cells, which may be given as those of some."""
    values = storage[key]
    if isinstance(values, str):
        raise ValueError(f"the {key} of the histogram are in another file: {values!r}")
    values = np.asarray(values)
    if values.dtype.kind not in "iuf" and values.size:
        raise ValueError(f"the {key} of the histogram are not numbers")
    if index is None:
        if values.size != int(np.prod(shape, dtype=np.int64)):
            raise ValueError(f"{values.size} {key} for a histogram of the shape {shape}")
        return values.reshape(shape)
    if values.shape != index.shape[1:]:
        raise ValueError(f"there are not as many {key} as the index has")
    cells = np.zeros(shape, values.dtype if values.size else np.int64)
    cells[tuple(index)] = values
    return cells


def _index_of(storage: dict, shape: tuple) -> Any:
    if storage.get("index") is None:
        return None
    index = np.asarray(storage["index"])
    if index.size == 0:
        index = np.zeros((len(shape), 0), np.int64)
    if index.ndim != 2 or len(index) != len(shape) or index.dtype.kind not in "iu":
        raise ValueError(f"the index of the histogram has a row of integers for each of {len(shape)} dimensions")
    ends = np.array(shape).reshape(-1, 1)
    if (index < 0).any() or (index >= ends).any():
        raise ValueError("the index of the histogram leaves its axes")
    if np.unique(index, axis=1).shape != index.shape:
        raise ValueError("the index of the histogram has a cell twice")
    return index


def _list_from(text: Any, size: int, counts: bool) -> tuple:
    """Indices and values of a list; see _list_to."""
    if not isinstance(text, str):
        raise ValueError("a list in writer_info is a string")
    at: list = []
    values: list = []
    for run in text.split():
        start, _, numbers = run.partition(":")
        for i, number in enumerate(numbers.split(","), int(start)):
            at.append(i)
            values.append(int(number) if counts else float(number))
    if any(i < 0 or i >= size for i in at) or counts and any(not 0 <= value < 2**63 for value in values):
        raise ValueError("a list in writer_info leaves the histogram")
    return np.array(at, np.int64), np.array(values, np.int64 if counts else np.float64)


def from_uhi(cls: Any, data: Any, most_slots: int | None = None) -> Any:
    """A histogram from a dict. ValueError if it is malformed or not supported."""
    try:
        return _from(cls, data, most_slots)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"this is not a histogram in UHI's schema 1: {what}") from error


def _from(cls: Any, data: Any, most_slots: int | None) -> Any:
    if data["uhi_schema"] != 1:
        raise ValueError(f"only schema 1 of UHI is known, not {data['uhi_schema']!r}")
    described = list(data["axes"])
    own, storage = _own(data), data["storage"]
    batch: tuple = ()
    if described and _own(described[0]).get("kind") == "batch":
        batch = (len(described.pop(0)["categories"]),)
    if "batch" in own:
        shape = tuple(int(n) for n in own["batch"].split(","))
        if np.prod(shape, dtype=np.int64) != (batch[0] if batch else 1):
            raise ValueError("the shape of the batch has another number of histograms")
        batch = shape
    axes = [_axis_from(axis) for axis in described]
    if not axes:
        raise ValueError("a histogram without axes is not supported")
    kind, may_weigh = _kind_of(own, storage)
    name, label, metadata = _metadata_of(data)
    slots = np.prod([float(n) for n in batch] + [axis._tuple[2] + 3.0 for axis in axes])
    if most_slots is not None and slots > most_slots and kind[1] != SPARSE:
        raise ValueError(f"{slots:.0f} slots are too many for a file of this size")
    if kind[1] == SPARSE:
        return _sparse_from(cls, axes, batch, data, (name, label, metadata))
    made = cls.__new__(cls)
    made._make(tuple(axis._tuple for axis in axes), batch, *kind, any(axis._translated for axis in axes))
    made._describe(axes, may_weigh, name, label, metadata)
    if "values" not in storage:
        if "variances" in storage or "index" in storage:
            raise ValueError("the storage has no values")
        return made
    return _filled(cls, made, own, storage)


def _kind_of(own: dict, storage: dict) -> tuple:
    type_ = storage["type"]
    if type_ in ("mean", "weighted_mean"):
        raise ValueError("storage of means is not supported")
    if type_ not in ("int", "double", "weighted"):
        raise ValueError(f"a storage of type {type_!r} is unknown")
    if own.get("storage") == "sparse" and type_ == "int":
        return (UNWEIGHTED, SPARSE), False
    if own.get("weighting") in WEIGHTINGS:
        weighting = WEIGHTINGS.index(own["weighting"])
        if _TYPES[weighting] == type_:
            return (weighting, DENSE), False
    if type_ == "double" and _whole(storage.get("values", 0)):
        return (UNWEIGHTED, DENSE), True
    return ({"int": UNWEIGHTED, "double": WEIGHT_FAST_SUM, "weighted": WEIGHT_FAST}[type_], DENSE), type_ == "int"


def _whole(values: Any) -> bool:
    if isinstance(values, str):
        return False
    values = np.asarray(values)
    if values.dtype.kind not in "iuf":
        return False
    return bool(((values >= 0) & (values == np.floor(values)) & (values < 2.0**53)).all())


def _filled(cls: Any, made: Any, own: dict, storage: dict) -> Any:
    naxes, batch = made.ndim, made.batch
    shape = batch + made.axes.extent
    entries = int(np.prod(batch, dtype=np.int64))
    index = _index_of(storage, ((entries,) if entries > 1 else ()) + made.axes.extent)
    flat = ((entries,) if entries > 1 else ()) + made.axes.extent
    weighting = made._kind()[0]
    full_shape = batch + tuple(axis._tuple[2] + 3 for axis in made.axes)
    inner = (slice(None),) * len(batch) + (slice(None, -1),) * naxes
    values = _array(storage, "values", flat, index).reshape(shape)
    lanes: dict = {}

    def lane(key: str, cells: Any, dtype: Any) -> None:
        lanes[key] = np.zeros(full_shape, dtype)
        made._shown(lanes[key][inner])[...] = cells

    if weighting == UNWEIGHTED:
        if not _counts(values):
            raise ValueError("counts are whole numbers, not negative, and below 2**63")
        lane("counts", values.astype(np.int64), np.int64)
    else:
        lane("sum_w", values, np.float64)
        exact = (values >= 0) & (values == np.floor(values)) & (values < 2.0**63)
        lane("counts", np.where(exact, values, 0).astype(np.int64), np.int64)
        if weighting in HAS_SQUARES:
            squares = _array(storage, "variances", flat, index) if "variances" in storage else np.abs(values)
            lane("sum_w2", squares.reshape(shape), np.float64)
    masked = np.zeros(entries, np.int64)
    listed = [key for key in ("counts", "sum_w", "sum_w2", "masked") if key in own]
    if listed and "checksum" not in own:
        raise ValueError("writer_info has a list of values, but no checksum")
    if listed and weighting != UNWEIGHTED:
        lanes["counts"][...] = 0
    for key in listed:
        to = masked if key == "masked" else lanes.get(key)
        if to is None:
            raise ValueError(f"writer_info has a list {key!r} that the storage does not have")
        at, numbers = _list_from(own[key], to.size, to.dtype.kind == "i")
        to.reshape(-1)[at] = numbers
    full = Slots(lanes["counts"], lanes.get("sum_w"), lanes.get("sum_w2"))
    made = made_of(cls, made.axes, batch, made._kind(), full, masked.reshape(batch), made._may_weigh, made.name,
                   made._label, made.metadata)
    if listed and made._checksum() != own["checksum"]:
        raise ValueError("other software changed the axes or the values: remove the checksum and the lists next to it in "
                         "writer_info to load the rest")
    return made


def _counts(values: Any) -> bool:
    if values.dtype.kind == "u":
        return not values.size or int(values.max()) < 2**63
    return bool(((values >= 0) & (values == np.floor(values)) & (values < 2.0**63)).all())


def _sparse_from(cls: Any, axes: list, batch: tuple, data: dict, names: tuple) -> Any:
    """Only the library writes sparse counts, so it reads the document, with categories as integers."""
    described = [axis if axis["type"] in ("regular", "variable") or _own(axis).get("kind") == "batch" else
                 _integers(axis) for axis in data["axes"]]
    made = cls._load(_dumped({**data, "axes": described}, None), None)
    made._dress(batch, any(axis._translated for axis in axes))
    return made._describe(axes, False, *names)


def _integers(data: dict) -> dict:
    bins = 2 if data["type"] == "boolean" else len(data["categories"])
    return {"type": "regular", "lower": 0, "upper": bins, "bins": bins, "underflow": False,
            "overflow": data.get("flow", False), "circular": False, "writer_info": {"histo": {"kind": "integer"}}}


# ---- Files ----


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value)!r} cannot be saved as JSON")


def _dumped(data: dict, name: str | None) -> bytes:
    return json.dumps(data if name is None else {name: data}, default=_plain, separators=(", ", ": ")).encode()


def _is_path(file: Any) -> bool:
    return isinstance(file, (str, os.PathLike))


def save(h: Any, file: Any, form: str | None) -> None:
    """See Histogram.save."""
    if form is None:
        form = "binary" if _is_path(file) and os.fspath(file).endswith(".histo") else "json"
    if form == "binary":
        if any(isinstance(axis, (Boolean, Category)) for axis in h.axes):
            raise ValueError("binary files have no categories: save as JSON")
        data = h._save(BINARY, None)
    elif form == "json":
        data = _dumped(to_uhi(h), h.name or "histogram")
    else:
        raise ValueError(f"no format {form!r}: it is json or binary")
    if _is_path(file):
        with open(file, "wb") as to:
            to.write(data)
    else:
        file.write(data)


def load(cls: Any, file: Any, name: str | None) -> Any:
    """See Histogram.load."""
    if _is_path(file):
        with open(file, "rb") as from_:
            data = from_.read()
    else:
        data = file.read()
    if isinstance(data, str):
        data = data.encode()
    if not data.lstrip()[:1] == b"{":
        made = cls._load(data, name)
        axes = [axis_of(made._axis(i)) for i in range(made._naxes())]
        return made._describe(axes, False, "", "", None)
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the file is neither JSON nor a binary histogram: {error}") from None
    if "uhi_schema" not in document:
        document, name = _chosen(document, name), None
    if name is not None:
        raise ValueError("the file has one histogram, without a name")
    return from_uhi(cls, document, _FEW_SLOTS + _SLOTS_PER_BYTE * len(data))


def _chosen(document: dict, name: str | None) -> Any:
    if name is not None:
        if name not in document:
            raise ValueError(f"the file has no histogram {name!r}")
        found = dict(document[name]) if isinstance(document[name], dict) else document[name]
    elif len(document) != 1:
        raise ValueError(f"the file has {len(document)} histograms: choose one of {list(document)[:10]} by its name")
    else:
        name, found = next(iter(document.items()))
    if isinstance(found, dict) and name != "histogram":
        metadata = dict(found.get("metadata") or {})
        metadata.setdefault("name", name)
        found = {**found, "metadata": metadata}
    return found
