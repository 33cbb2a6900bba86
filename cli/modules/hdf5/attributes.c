/* Attributes of datasets, by the conventions of netCDF. */
#include "modules/hdf5/hdf5.h"

#include <stdio.h>
#include <string.h>

static bool read_numbers(hid_t attribute_id, hid_t type, int64_t count, attribute *found)
{
    unsigned char bytes[UNPACK_MAX_MISSING * 8];
    hdf5_type t = hdf5_type_in_memory(type);
    bool read = t.memory >= 0 && !t.string.kind && count > 0 && count <= UNPACK_MAX_MISSING &&
                H5Aread(attribute_id, t.memory, bytes) >= 0;
    if (t.memory >= 0) H5Tclose(t.memory);
    if (!read) return false;
    found->dtype = t.dtype;
    found->count = (int)count;
    for (int i = 0; i < found->count; i++)
        found->values[i] = unpack_load(bytes + (size_t)i * histo_dtype_size(t.dtype), t.dtype);
    return true;
}

/* The beginning of a string of fixed or variable length. */
static bool read_text(hid_t attribute_id, hid_t type, int64_t count, attribute *found)
{
    enum { LONGEST = 256 };
    char text[LONGEST + 1] = "", *variable = NULL;
    const bool is_variable = H5Tis_variable_str(type) > 0;
    if (count != 1 || (!is_variable && H5Tget_size(type) > LONGEST)) return false;
    hid_t memory = H5Tcopy(type);
    const bool read = H5Aread(attribute_id, memory, is_variable ? (void *)&variable : text) >= 0;
    H5Tclose(memory);
    if (read) {
        const char *from = is_variable ? (variable ? variable : "") : text;
        found->count = 0;
        snprintf(found->text, sizeof found->text, "%.*s", (int)sizeof found->text - 1, from);
    }
    if (variable) H5free_memory(variable);
    return read;
}

static bool find(void *self, const char *name, attribute *found)
{
    const hid_t object = *(const hid_t *)self;
    if (H5Aexists(object, name) <= 0) return false;
    hid_t id = H5Aopen(object, name, H5P_DEFAULT);
    if (id < 0) return false;
    hid_t type = H5Aget_type(id), space = H5Aget_space(id);
    const int64_t count = space >= 0 ? (int64_t)H5Sget_simple_extent_npoints(space) : 0;
    const bool text = type >= 0 && H5Tget_class(type) == H5T_STRING;
    const bool good = type >= 0 && (text ? read_text(id, type, count, found) : read_numbers(id, type, count, found));
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    H5Aclose(id);
    return good;
}

packing hdf5_rule(hid_t file, hid_t dataset, histo_dtype *stored)
{
    const histo_dtype as_stored = *stored;
    packing rule = unpack_rule(find, &dataset, stored);
    if (H5Aexists(file, "_NCProperties") > 0 && H5Aexists(dataset, "_FillValue") <= 0)
        unpack_add_default_fill(&rule, as_stored);
    return rule;
}

bool hdf5_is_empty(hid_t dataset)
{
    attribute empty;
    return find(&dataset, "MATLAB_empty", &empty) && empty.count == 1 && empty.values[0].u != 0;
}

bool hdf5_is_text(hid_t dataset)
{
    attribute class;
    return find(&dataset, "MATLAB_class", &class) && class.count == 0 && strcmp(class.text, "char") == 0;
}

bool hdf5_is_scale(hid_t dataset)
{
    attribute class;
    return find(&dataset, "CLASS", &class) && class.count == 0 && strncmp(class.text, "DIMENSION_SCALE", 15) == 0;
}
