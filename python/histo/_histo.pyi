"""The extension module: what of it is public is offered by the package."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Self

from numpy.typing import ArrayLike, NDArray
from typing_extensions import disjoint_base

def version() -> str: ...
def threads() -> int: ...
def histogram(
    a: Any,
    bins: ArrayLike | str = 10,
    range: tuple[float, float] | None = None,
    density: bool | None = None,
    weights: Any = None,
    *,
    axis: int | Sequence[int] | None = None,
    mask: Any = None,
    out: NDArray[Any] | None = None,
    threads: int | None = None,
    flow: bool = False,
    device: int | str | None = None,
    dtype: Any = None,
    missing: Literal["mask", "numpy"] = "mask",
) -> tuple[Any, NDArray[Any]]: ...
def histogram_bin_edges(
    a: Any,
    bins: ArrayLike | str = 10,
    range: tuple[float, float] | None = None,
    weights: Any = None,
    *,
    mask: Any = None,
    threads: int | None = None,
    device: int | str | None = None,
    missing: Literal["mask", "numpy"] = "mask",
) -> NDArray[Any]: ...
def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Sequence[tuple[float, float] | None] | None = None,
    density: bool | None = None,
    weights: Any = None,
    *,
    mask: Any = None,
    out: NDArray[Any] | None = None,
    threads: int | None = None,
    flow: bool = False,
    device: int | str | None = None,
    dtype: Any = None,
    missing: Literal["mask", "numpy"] = "mask",
) -> tuple[Any, tuple[NDArray[Any], ...]]: ...
def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Sequence[tuple[float, float] | None] | None = None,
    density: bool | None = None,
    weights: Any = None,
    *,
    mask: Any = None,
    out: NDArray[Any] | None = None,
    threads: int | None = None,
    flow: bool = False,
    device: int | str | None = None,
    dtype: Any = None,
    missing: Literal["mask", "numpy"] = "mask",
) -> tuple[Any, NDArray[Any], NDArray[Any]]: ...
def bincount(
    x: Any,
    /,
    weights: Any = None,
    minlength: int = 0,
    *,
    axis: int | Sequence[int] | None = None,
    mask: Any = None,
    out: NDArray[Any] | None = None,
    threads: int | None = None,
    device: int | str | None = None,
    dtype: Any = None,
    missing: Literal["mask", "numpy"] = "mask",
) -> Any: ...

# Their other methods are for the classes of hist.py and maps.py.
@disjoint_base
class Hist:
    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    def __getattr__(self, name: str) -> Any: ...
    def fill(
        self,
        *arrays: Any,
        weight: Any = None,
        mask: Any = None,
        where: Any = None,
        sample: Any = None,
        threads: int | None = None,
        **named: Any,
    ) -> Self: ...
    def reset(self) -> Self: ...

@disjoint_base
class Map:
    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    def __getattr__(self, name: str) -> Any: ...

add_powers: Callable[..., Any]
arrow_arrays: Callable[..., Any]
axis_check: Callable[..., Any]
axis_equal: Callable[..., Any]
axis_edges: Callable[..., Any]
bins_by_rule: Callable[..., Any]
compile_kernels: Callable[..., Any]
count: Callable[..., Any]
extremes: Callable[..., Any]
features: Callable[..., Any]
fill_nodes: Callable[..., Any]
forget: Callable[..., Any]
gradients: Callable[..., Any]
group: Callable[..., Any]
is_captured: Callable[..., Any]
on_gpu: Callable[..., Any]
quantiles: Callable[..., Any]
ranks: Callable[..., Any]
remap: Callable[..., Any]
set_gradients: Callable[..., Any]
subtract_node: Callable[..., Any]
subtract_nodes: Callable[..., Any]
survey_bins: Callable[..., Any]
survey_merge: Callable[..., Any]
survey_part: Callable[..., Any]
thresholds: Callable[..., Any]

# Constants of histo.h.
INTEGER: int
REGULAR: int
VARIABLE: int
LOG: int
SQRT: int
POWER: int
TAKING_BY_PYTHON: int
TAKING_EXACT_MEANS: int
TAKING_MEANS: int
TAKING_NUMBERS: int
UNWEIGHTED: int
WEIGHT_FAST: int
WEIGHT_REPRODUCIBLE: int
WEIGHT_FAST_SUM: int
WEIGHT_REPRODUCIBLE_SUM: int
DENSE: int
SPARSE: int
JSON: int
BINARY: int
MAP_STEP: int
MAP_LINEAR: int
DEVICE_AUTO: int
DEVICE_CPU: int
DEVICE_CUDA: int
DEVICE_CUDA_ALL: int
MAX_BINS: int
MAX_DIMS: int
NOWHERE: int
COUNTS: int
SUM_W: int
SUM_W2: int
