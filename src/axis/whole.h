/* Edges that are 64-bit integers, such as times in nanoseconds, some of which doubles cannot represent. */
#ifndef AXIS_WHOLE_H
#define AXIS_WHOLE_H

#include "axis/slot_of.h"
#include "base/error.h"

/* Whether the axis has integer edges. False for an owned axis if doubles represent them all. */
static inline bool histo_axis_is_whole(const histo_axis *axis)
{
    return axis->edge_type != HISTO_EDGES_F64;
}

/* The bits of edge i, of either type. */
uint64_t histo_whole_bits(const histo_axis *axis, int64_t i);
bool histo_whole_is_negative(const histo_axis *axis, int64_t i);

/* HISTO_INVALID if the integer edges decrease. */
histo_status histo_whole_check(const histo_axis *axis);

/* Edge i as a double, rounded up: a double, or an integer of at most 32 bits, is below both or neither. */
double histo_whole_edge(const histo_axis *axis, int64_t i);

/* Whether a double represents edge i exactly. */
bool histo_whole_is_double(const histo_axis *axis, int64_t i);
bool histo_whole_are_doubles(const histo_axis *axis);

/* Write the thresholds for int64_t samples, or for uint64_t ones, to at[bins + 1]; returns their number. */
int64_t histo_whole_thresholds(const histo_axis *axis, bool of_i64, uint64_t *at);

/* Whether both axes' edges are the same integers. */
bool histo_whole_equal(const histo_axis *a, const histo_axis *b);

/* Copy edges begin, begin + factor, … of an axis to whole[n], of the same type; returns an axis with these edges. */
histo_axis histo_whole_pick(const histo_axis *axis, int64_t begin, int64_t factor, int64_t n, uint64_t *whole);

#endif
