/* What headers for kernels give on the host: see device_layouts.h. */
#include "support/device_layouts.h"

#include <stddef.h>

#include "cuda/device/images.cuh"
#include "cuda/device/several_axes.cuh"
#include "cuda/device/weights/weight_formats.cuh"
#include "cuda/few_samples/any_layout.cuh"
#include "cuda/strategies/lane_private/lane_columns.cuh"
#include "cuda/strategies/lane_private/lane_images.cuh"
#include "cuda/strategies/packed_window/packed_window.cuh"
#include "cuda/strategies/partition/partition.cuh"
#include "cuda/strategies/weighted_partition/weighted_partition.cuh"
#include "papers/strategies/packed_counters.cuh"
#include "papers/strategies/tiles/count_tiles.cuh"

#define CONSTANT(name) #name, (uint64_t)(name)
#define SIZE_OF(type) "sizeof(" #type ")", sizeof(type)
#define OFFSET_OF(type, member) "OFFSET(" #type ", " #member ")", offsetof(type, member)

const device_layout device_layouts[] = {
    {SIZE_OF(int64_t)},
    {SIZE_OF(uint64_t)},
    {SIZE_OF(histo_dtype)},
    {SIZE_OF(histo_lookup)},
    {OFFSET_OF(histo_lookup, edges)},
    {OFFSET_OF(histo_lookup, cells)},
    {OFFSET_OF(histo_lookup, pow2)},
    {SIZE_OF(histo_strided_iter)},
    {OFFSET_OF(histo_strided_iter, offsets)},
    {SIZE_OF(histo_cuda_work)},
    {OFFSET_OF(histo_cuda_work, dtypes)},
    {OFFSET_OF(histo_cuda_work, lookups)},
    {OFFSET_OF(histo_cuda_work, counts)},
    {OFFSET_OF(histo_cuda_work, exact)},
    {SIZE_OF(histo::few::head)},
    {OFFSET_OF(histo::few::head, offsets)},
    {OFFSET_OF(histo::few::head, exact)},
    {SIZE_OF(histo::few::dimension)},
    {SIZE_OF(histo::few::operand<3>)},
    {SIZE_OF(histo_tile_rows)},
    {OFFSET_OF(histo_tile_rows, tiles)},
    {SIZE_OF(histo_joint)},
    {OFFSET_OF(histo_joint, origin)},
    {OFFSET_OF(histo_joint, by_shift)},
    {OFFSET_OF(histo_joint, factors)},
    {SIZE_OF(histo_images)},
    {OFFSET_OF(histo_images, image)},
    {OFFSET_OF(histo_images, by_team)},
    {OFFSET_OF(histo_images, has_ends)},
    {SIZE_OF(histo_packed_block)},
    {OFFSET_OF(histo_packed_block, stride)},
    {SIZE_OF(histo::lane_private::counter_layout)},
    {OFFSET_OF(histo::lane_private::counter_layout, moved)},
    {SIZE_OF(histo::lane_private::images_args)},
    {OFFSET_OF(histo::lane_private::images_args, layout)},
    {OFFSET_OF(histo::lane_private::images_args, in)},
    {SIZE_OF(histo::lane_private::column_items)},
    {OFFSET_OF(histo::lane_private::column_items, words)},
    {OFFSET_OF(histo::lane_private::column_items, end)},
    {SIZE_OF(histo::packed_window::window)},
    {OFFSET_OF(histo::packed_window::window, found)},
    {OFFSET_OF(histo::packed_window::window, origin)},
    {OFFSET_OF(histo::packed_window::window, pow2)},
    {OFFSET_OF(histo::packed_window::window, images)},
    {SIZE_OF(histo::partition::partition_layout)},
    {OFFSET_OF(histo::partition::partition_layout, pool)},
    {OFFSET_OF(histo::partition::partition_layout, rows)},
    {SIZE_OF(histo::partition::hot_table)},
    {SIZE_OF(histo::weights::sums_layout)},
    {OFFSET_OF(histo::weights::sums_layout, table)},
    {SIZE_OF(histo::weighted_partition::weighted_layout)},
    {OFFSET_OF(histo::weighted_partition::weighted_layout, slots)},
    {OFFSET_OF(histo::weighted_partition::weighted_layout, sums)},
    {CONSTANT(HISTO_MAX_AXES)},
    {CONSTANT(HISTO_MAX_DIMS)},
    {CONSTANT(HISTO_MAX_OPERANDS)},
    {CONSTANT(HISTO_U8)},
    {CONSTANT(HISTO_I8)},
    {CONSTANT(HISTO_U16)},
    {CONSTANT(HISTO_I16)},
    {CONSTANT(HISTO_U32)},
    {CONSTANT(HISTO_I32)},
    {CONSTANT(HISTO_U64)},
    {CONSTANT(HISTO_I64)},
    {CONSTANT(HISTO_F16)},
    {CONSTANT(HISTO_BF16)},
    {CONSTANT(HISTO_F32)},
    {CONSTANT(HISTO_F64)},
    {CONSTANT(HISTO_DTYPE_COUNT)},
    {CONSTANT(INT32_MAX)},
    {CONSTANT(UINT32_MAX)},
    {CONSTANT(UINT64_MAX)},
    {NULL, 0},
};
