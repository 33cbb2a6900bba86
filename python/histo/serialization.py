"""Histograms as the dicts and JSON of the Unified Histogram Interface (schema 1), and as files.

The library writes and reads the documents. It does not know what axes have here: names, categories, growth, and cells
of flow that are not shown. A document for it has these as integer axes, and the values beside it, as arrays.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

import numpy as np

from ._histo import BINARY, COUNTS, INTEGER, JSON, SPARSE, UNWEIGHTED
from .axes import Axis, Boolean, Category, axis_of, stretched
from .storage import HAS_SQUARES, MEANS, taking

_LISTS = {"counts", "sum_w", "sum_w2", "masked"}
"""What writer_info may have of the values, which belongs to them by a checksum."""

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


def _growth_to(axis: Any) -> dict:
    return {"growth": True, **({"steps": list(axis._steps)} if axis._steps else {})}


def _axis_to(axis: Axis, data: dict) -> dict:
    """The dict of an axis from the library's."""
    if isinstance(axis, Boolean):
        data = {"type": "boolean"}
    elif isinstance(axis, Category):
        of_strings = not axis.size or isinstance(axis.categories[0], str)
        data = {"type": "category_str" if of_strings else "category_int", "categories": axis.categories,
                "flow": axis._overflow}
        if axis._grows:
            data["writer_info"] = {"histo": {"growth": True}, "boost-histogram": {"growth": True}}
    else:
        data.update(underflow=axis._underflow, overflow=axis._overflow)
        if "edges" in data:
            data["edges"] = axis.edges.copy()
        elif axis._tuple[0] == INTEGER:
            data.update(lower=int(data["lower"]), upper=int(data["upper"]))
            data["writer_info"]["boost-histogram"] = {"orig_type": "Integer"}
        if axis._grows:
            data["writer_info"].setdefault("boost-histogram", {})["growth"] = True
            data["writer_info"]["histo"].update(_growth_to(axis))
        data["circular"] = axis.traits.circular
    metadata = _metadata_to(axis.name, axis._label, axis.metadata)
    if metadata:
        data["metadata"] = metadata
    return data


def to_uhi(h: Any) -> dict:
    """The dict of a histogram."""
    if h._mean:
        return _means_to_uhi(h)
    weighting, layout = h._kind()
    batch = h.batch
    entries = int(np.prod(batch, dtype=np.int64))
    flow = tuple((axis.traits.underflow, axis.traits.overflow) for axis in h.axes)
    data = json.loads(h._save(JSON) if layout == SPARSE else h._save_outline(flow))["histogram"]
    axes, own, storage = data["axes"], data["writer_info"]["histo"], data["storage"]
    first = len(axes) - h.ndim
    axes[first:] = map(_axis_to, h.axes, axes[first:])
    if len(batch) > 1 or entries == 1 and batch:
        own["batch"] = ",".join(map(str, batch))
    if layout == SPARSE:
        data["storage"] = _shown_cells(h, storage, flow)
        if not all(map(all, flow)):
            for key in (*_LISTS, "checksum"):
                own.pop(key, None)
    else:
        shape = (entries,) * (entries > 1) + h.axes.extent
        storage["values"] = np.ascontiguousarray(h.values(flow=True)).reshape(shape)
        if weighting in HAS_SQUARES:
            storage["variances"] = np.ascontiguousarray(h.variances(flow=True)).reshape(shape)
        if not own.keys() & _LISTS:
            del own["checksum"]  # other software may change the values
    metadata = _metadata_to(h.name, h._label, h.metadata)
    if metadata:
        data["metadata"] = metadata
    return data


def _means_to_uhi(h: Any) -> dict:
    from .statistics import means

    data = json.loads(h._save_outline(tuple((axis.traits.underflow, axis.traits.overflow) for axis in h.axes)))
    data = data["histogram"]
    data["axes"] = list(map(_axis_to, h.axes, data["axes"][1:]))  # without that of the sums
    data["storage"] = means.to_uhi(h)
    data["writer_info"] = {"histo": {"version": data["writer_info"]["histo"]["version"]}}
    metadata = _metadata_to(h.name, h._label, h.metadata)
    return {**data, "metadata": metadata} if metadata else data


def _shown_cells(h: Any, storage: dict, flow: tuple) -> dict:
    """The occupied cells for which the axes have a place."""
    index, values = np.array(storage["index"], np.int64), np.array(storage["values"], np.int64)
    shown = np.ones(len(values), bool)
    for row, axis, (underflow, overflow) in zip(index[len(index) - h.ndim :], h.axes, flow, strict=True):
        row -= not underflow
        shown &= (row >= 0) & (row < axis._tuple[2] + underflow + overflow)
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


def _axis_for(data: dict) -> dict:
    """The dict of an axis for the library, which has integers in place of categories, from that of any writer."""
    own = _own(data)
    if data["type"] in ("category_str", "category_int") and own.get("kind") != "batch":
        bins = max(1, len(data["categories"]))
        return {"type": "regular", "lower": 0, "upper": bins, "bins": bins, "underflow": False,
                "overflow": data["flow"], "circular": False, "writer_info": {"histo": {"kind": "integer"}}}
    if data["type"] == "variable":
        data = {**data, "edges": np.asarray(data["edges"], float)}
    own = {key: value for key, value in own.items() if key not in ("growth", "steps")}
    if _own(data).get("growth") is True or data.get("circular") in (True, 1):
        data = {**data, "circular": False}  # of which only Python knows
    if data["type"] == "regular" and _own(data, "boost-histogram").get("orig_type") == "Integer":
        own = {"kind": "integer", **own}
    return {**data, "metadata": None, "writer_info": {"histo": own}}


def _grows(data: dict) -> bool:
    return _own(data).get("growth") is True or _own(data, "boost-histogram").get("growth") is True


def _axis_from(data: dict, numbers: tuple) -> Axis:
    """The axis of a dict, whose numbers the library has read."""
    kind = data["type"]
    name, label, metadata = _metadata_of(data)
    names = _own(data).get("names")  # the words that the command has counted
    if isinstance(names, list) and len(names) == numbers[2] and len(set(map(str, names))) == len(names):
        return Category(list(map(str, names)), name=name, label=label, metadata=metadata)
    if kind == "boolean":
        return Boolean(name=name, label=label, metadata=metadata)
    if kind not in ("category_str", "category_int"):
        made = axis_of(numbers, data["underflow"], data["overflow"], name, label, metadata)
        circular = "circular" in data and _true(data, "circular")
        return stretched(made, circular, _grows(data), _own(data).get("steps")) if circular or _grows(data) else made
    cast = str if kind == "category_str" else int
    categories = list(data["categories"])
    if any(isinstance(one, bool) or isinstance(one, str) != (cast is str) for one in categories):
        raise ValueError(f"the categories of a {kind} axis are of another type")
    return Category(categories, growth=_grows(data), overflow=data["flow"], name=name, label=label, metadata=metadata)


def _array(storage: dict, key: str) -> Any:
    """Values as the library takes them: not negative integers, or floats."""
    values = storage.pop(key, None)
    if values is None:
        return None
    if isinstance(values, str):
        raise ValueError(f"the {key} of the histogram are in another file: {values!r}")
    values = np.asarray(values)
    if values.dtype.kind == "O":  # null is NaN
        values = values.astype(float)
    if values.dtype.kind not in "iuf":
        raise ValueError(f"the {key} of the histogram are not numbers")
    whole = key == "values" and values.dtype.kind in "iu" and not (values < 0).any()
    return np.ascontiguousarray(values, np.uint64 if whole else np.float64)


def from_uhi(cls: Any, data: Any, of_file: bool = False) -> Any:
    """A histogram from a dict. ValueError if it is malformed or not supported."""
    try:
        return _from(cls, data, of_file)
    except (AttributeError, IndexError, KeyError, NotImplementedError, OverflowError, TypeError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"this is not a histogram in UHI's schema 1: {what}") from error


def _from(cls: Any, data: Any, of_file: bool) -> Any:
    described, own, storage = list(data["axes"]), _own(data), dict(data["storage"])
    document = {"uhi_schema": data["uhi_schema"], "axes": list(map(_axis_for, described)), "storage": storage,
                "writer_info": {"histo": own}}
    if storage["type"] in MEANS:
        return _means_from(cls, data, document, storage)
    values = variances = None
    if "index" not in storage:
        values, variances = _array(storage, "values"), _array(storage, "variances")
        if not all(len(axis.get("categories", "x")) for axis in described):
            values = variances = None  # of no cell: there are no categories yet
    if of_file and values is None:
        made = cls._load(_dumped(document, None), None)  # which limits what a short file makes
    else:
        made = cls._load_outline(_dumped(document, None), values is None or values.dtype == np.uint64, values, variances)
    del described[: len(described) - made._naxes()]  # the batch
    axes = [_axis_from(axis, made._axis(i)) for i, axis in enumerate(described)]
    batch = tuple(map(int, own["batch"].split(","))) if "batch" in own else made._batch()
    made._dress(batch, taking(axes))
    weighting, layout = made._kind()
    made._describe(axes, weighting == UNWEIGHTED and layout != SPARSE and "weighting" not in own, *_metadata_of(data))
    if weighting == UNWEIGHTED and layout != SPARSE and (made._read(COUNTS, True) < 0).any():
        raise ValueError("counts are below 2**63")
    if weighting != UNWEIGHTED and not own.keys() & _LISTS:
        full = made._slots()
        whole = (full.sum_w >= 0) & (full.sum_w == np.floor(full.sum_w)) & (full.sum_w < 2.0**63)
        made._set(full._replace(counts=np.where(whole, full.sum_w, 0).astype(np.int64)))
    return made


def _means_from(cls: Any, data: Any, document: dict, storage: dict) -> Any:
    from .statistics import means

    outline = {**document, "storage": {"type": "double"}, "writer_info": {}}
    described = cls._load(_dumped(outline, None), None)  # which limits what a short file makes
    axes = [_axis_from(axis, described._axis(i)) for i, axis in enumerate(data["axes"])]
    name, label, metadata = _metadata_of(data)
    made = cls(*axes, storage=storage["type"], name=name, label=label, metadata=metadata)
    found = means.from_uhi(storage, made.axes.extent)
    if found is not None and made.size:
        made[...] = found
    return made


# ---- Files ----


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value)!r} cannot be saved as JSON")


_STRINGS_AND_WORDS = re.compile(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN')
_AS_JSON = {"NaN": "null", "Infinity": "1e999", "-Infinity": "-1e999"}


def _dumped(data: Any, name: str | None) -> bytes:
    """As JSON, which has no NaN and no infinity: null is read as NaN, and 1e999, as any number that large, as infinity."""
    text = json.dumps(data if name is None else {name: data}, default=_plain, separators=(", ", ": "))
    if "NaN" in text or "Infinity" in text:
        text = _STRINGS_AND_WORDS.sub(lambda found: _AS_JSON.get(found[0], found[0]), text)
    return text.encode()


def _is_path(file: Any) -> bool:
    return isinstance(file, (str, os.PathLike))


_SET = b"histo set 1\n"
"""How a file of the command begins that has more than one unnamed histogram. A line, "NAME-BYTES BYTES", stands before
the name and the data of each; before that, lines tell more of it, such as the words that an axis counts."""


def _names_of(axis: Any) -> list[str] | None:
    """The words that an axis counts, as the command has them."""
    if isinstance(axis, Boolean):
        return ["false", "true"]
    names = [str(one) for one in axis.categories] if isinstance(axis, Category) else []
    return names if names and not any("\0" in one for one in names) else None


def _binary(h: Any) -> bytes:
    """The library's form, whose metadata has what only Python knows of the axes; with words, a file of the command."""
    metadata = _metadata_to("", h._label, h.metadata)
    described = []
    for axis in h.axes:
        if isinstance(axis, (Boolean, Category)):
            described.append(_axis_to(axis, {}))
        else:
            described.append({"underflow": axis._underflow, "overflow": axis._overflow,
                              "metadata": _metadata_to(axis.name, axis._label, axis.metadata)})
            if axis.traits.circular:
                described[-1]["circular"] = True
            if axis._grows:
                described[-1]["writer_info"] = {"histo": _growth_to(axis)}
    if any(one != {"underflow": True, "overflow": True, "metadata": {}} for one in described):
        metadata["histo_axes"] = _dumped(described, None).decode()
    if len(h.batch) > 1 or h.batch == (1,):
        metadata["histo_batch"] = ",".join(map(str, h.batch))
    data = h._save(BINARY, h.name or None, _dumped(metadata, None).decode() if metadata else None)
    words = b""
    for i, axis in enumerate(h.axes):
        names = _names_of(axis)
        if names:
            texts = b"".join(one.encode() + b"\0" for one in names)
            words += f"words {i} {len(names)} 0 {len(texts)}\n".encode() + texts
    if not words:
        return data
    name = h.name.encode()
    return _SET + words + f"{len(name)} {len(data)}\n".encode() + name + data


def _words_of(data: bytes, name: str | None) -> dict[int, list[str]]:
    """The words that axes of a histogram count, in a file of the command that the library has read."""
    at, words = len(_SET), {}
    while data.startswith(_SET) and at < len(data):
        end = data.index(b"\n", at)
        line = data[at:end].split(b" ")
        at = end + 1
        if line[0] == b"words":
            texts = data[at : at + int(line[-1])]
            words[int(line[1])] = [one.decode(errors="replace") for one in texts.split(b"\0")[:-1]]
        if line[0].isdigit():
            if name is None or data[at : at + int(line[0])] == name.encode():
                return words
            words = {}
            at += int(line[0])
        if line[0] != b"times":
            at += int(line[-1])
    return {}


def _from_binary(cls: Any, data: bytes, name: str | None) -> Any:
    made = cls._load(data, name)
    own_name, text = made._take_texts()
    entries = json.loads(text or "{}")
    described = json.loads(entries.pop("histo_axes", "null")) or [{} for _ in range(made._naxes())]
    shape = entries.pop("histo_batch", "")
    batch = tuple(map(int, shape.split(","))) if shape else made._batch()
    words = _words_of(data, name)
    axes = []
    for i, one in enumerate(described):
        if "type" not in one and len(words.get(i, ())) == made._axis(i)[2] and len(set(words[i])) == len(words[i]):
            one = {"type": "category_str", "categories": words[i], "flow": True}
        axes.append(_axis_from({"type": "", "underflow": True, "overflow": True, **one}, made._axis(i)))
    _, label, metadata = _metadata_of({"metadata": entries})
    made._dress(batch, taking(axes))
    return made._describe(axes, False, own_name or "", label, metadata)


def save(h: Any, file: Any, form: str | None) -> None:
    """See Histogram.save."""
    if form is None:
        form = "binary" if _is_path(file) and os.fspath(file).endswith(".histo") else "json"
    if form == "binary":
        if h._mean:
            raise ValueError("binary files have no means: save as JSON")
        data = _binary(h)
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
        return _from_binary(cls, data, name)
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the file is neither JSON nor a binary histogram: {error}") from None
    if "uhi_schema" not in document:
        document, name = _chosen(document, name), None
    if name is not None:
        raise ValueError("the file has one histogram, without a name")
    return from_uhi(cls, document, of_file=True)


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
