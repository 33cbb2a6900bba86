/* HDF5 types in memory: plain numbers, and records of them as the columns of a table. */
#include "modules/hdf5/hdf5.h"

#include <stdio.h>
#include <string.h>

enum { DEEPEST_MEMBER = 16, LONGEST_NAME = 1024 };

typedef struct float_fields {
    size_t sign, exponent, exponent_size, mantissa, mantissa_size;
} float_fields;

static bool has_fields(hid_t type, float_fields want, size_t bias)
{
    float_fields is;
    return H5Tget_fields(type, &is.sign, &is.exponent, &is.exponent_size, &is.mantissa, &is.mantissa_size) >= 0 &&
           is.sign == want.sign && is.exponent == want.exponent && is.exponent_size == want.exponent_size &&
           is.mantissa == want.mantissa && is.mantissa_size == want.mantissa_size && H5Tget_ebias(type) == bias;
}

/* The dtype that represents every value of a float type, and its HDF5 memory type (closed by the caller). */
static hid_t float_in_memory(hid_t type, histo_dtype *dtype)
{
    const float_fields half = {15, 10, 5, 0, 10}, brain = {15, 7, 8, 0, 7};
    size_t size = H5Tget_size(type);
    bool is_half = size == 2 && has_fields(type, half, 15), is_brain = size == 2 && has_fields(type, brain, 127);
    if (is_half || is_brain) {
        *dtype = is_half ? HISTO_F16 : HISTO_BF16;
        hid_t copy = H5Tcopy(type);
        H5Tset_order(copy, LITTLE_ENDIAN_MACHINE ? H5T_ORDER_LE : H5T_ORDER_BE);
        return copy;
    }
    if (size > 8) return -1;
    *dtype = size <= 4 ? HISTO_F32 : HISTO_F64;
    return H5Tcopy(size <= 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE);
}

static hid_t integer_in_memory(hid_t type, histo_dtype *dtype)
{
    size_t size = H5Tget_size(type);
    bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
    if (size == 0 || size > 8) return -1;
    if (size == 1) {
        *dtype = is_signed ? HISTO_I8 : HISTO_U8;
        return H5Tcopy(is_signed ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8);
    }
    if (size == 2) {
        *dtype = is_signed ? HISTO_I16 : HISTO_U16;
        return H5Tcopy(is_signed ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16);
    }
    if (size <= 4) {
        *dtype = is_signed ? HISTO_I32 : HISTO_U32;
        return H5Tcopy(is_signed ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32);
    }
    *dtype = is_signed ? HISTO_I64 : HISTO_U64;
    return H5Tcopy(is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64);
}

/* An enumeration of FALSE and TRUE, as h5py stores booleans. */
static bool is_boolean(hid_t type)
{
    bool found = H5Tget_nmembers(type) == 2;
    for (unsigned i = 0; found && i < 2; i++) {
        char *name = H5Tget_member_name(type, i);
        found = name && strcmp(name, i ? "TRUE" : "FALSE") == 0;
        H5free_memory(name);
    }
    return found;
}

/* NumPy's dates and time spans, which h5py stores as opaque bytes; false for other opaque types. */
static bool is_date(hid_t type)
{
    char *tag = H5Tget_tag(type);
    const char *code = tag && strncmp(tag, "NUMPY:", 6) == 0 ? tag + 6 : "";
    const bool found = H5Tget_size(type) == 8 && *code == (LITTLE_ENDIAN_MACHINE ? '<' : '>') &&
                       (strncmp(code + 1, "M8", 2) == 0 || strncmp(code + 1, "m8", 2) == 0);
    H5free_memory(tag);
    return found;
}

static hid_t bits_in_memory(hid_t type, histo_dtype *dtype)
{
    switch (H5Tget_size(type)) {
    case 1:
        *dtype = HISTO_U8;
        return H5Tcopy(H5T_NATIVE_B8);
    case 2:
        *dtype = HISTO_U16;
        return H5Tcopy(H5T_NATIVE_B16);
    case 4:
        *dtype = HISTO_U32;
        return H5Tcopy(H5T_NATIVE_B32);
    case 8:
        *dtype = HISTO_U64;
        return H5Tcopy(H5T_NATIVE_B64);
    default:
        return -1;
    }
}

hdf5_type hdf5_type_in_memory(hid_t type)
{
    hdf5_type t = {.memory = -1, .what = "samples of an unsupported type"};
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        t.memory = integer_in_memory(type, &t.dtype);
        t.what = "numbers of more than 64 bits";
        break;
    case H5T_FLOAT:
        t.memory = float_in_memory(type, &t.dtype);
        t.what = "numbers of more than 64 bits";
        break;
    case H5T_BITFIELD:
        t.memory = bits_in_memory(type, &t.dtype);
        t.what = "bit fields of unusual size";
        break;
    case H5T_ENUM:
        t.boolean = is_boolean(type);
        if (t.boolean) {
            t.dtype = HISTO_U8;
            t.memory = H5Tcopy(H5T_NATIVE_UINT8);
        } else {
            hid_t integers = H5Tget_super(type);
            t.memory = integer_in_memory(integers, &t.dtype);
            H5Tclose(integers);
        }
        break;
    case H5T_OPAQUE:
        if (is_date(type)) {
            t.dtype = HISTO_I64;
            t.memory = H5Tcopy(type);
            unpack_add_missing(&t.rule, (unpack_number){.i = INT64_MIN}); /* NaT */
        } else {
            t.what = "opaque bytes";
        }
        break;
    case H5T_STRING:
        t.memory = H5Tcopy(type);
        t.string = (stored_string){.kind = H5Tis_variable_str(type) > 0 ? STRING_POINTER : STRING_BYTES,
                                   .bytes = (int64_t)H5Tget_size(type),
                                   .ends = H5Tget_strpad(type) == H5T_STR_NULLTERM,
                                   .blanks = H5Tget_strpad(type) == H5T_STR_SPACEPAD};
        t.dtype = HISTO_U8;
        break;
    case H5T_COMPOUND:
        t.what = "records";
        break;
    case H5T_VLEN:
    case H5T_ARRAY:
        t.what = "arrays within an array";
        break;
    case H5T_REFERENCE:
        t.what = "references";
        break;
    default:
        break;
    }
    if (t.memory >= 0) t.what = NULL;
    return t;
}

/* ---- Records: members are traversed twice, to find the columns and to make the memory type of some of them. ---- */

typedef struct finder {
    column_table *table;
    const char *subject;
    int depth;
} finder;

static int find_columns(finder *in, hid_t type, const char *name, fault *f);

static int find_members(finder *in, hid_t type, const char *name, fault *f)
{
    const int members = H5Tget_nmembers(type);
    int failed = 0;
    for (int i = 0; i < members && !failed; i++) {
        char full[LONGEST_NAME], *own = H5Tget_member_name(type, (unsigned)i);
        hid_t member = H5Tget_member_type(type, (unsigned)i);
        const int length = own ? snprintf(full, sizeof full, "%s%s%s", name, name[0] ? "." : "", own) : LONGEST_NAME;
        if (member < 0 || length >= LONGEST_NAME)
            failed =
                fault_set(f, EXIT_DATA, "%s has members with unreadable names: inspect it with h5dump", in->subject);
        else
            failed = find_columns(in, member, full, f);
        H5free_memory(own);
        if (member >= 0) H5Tclose(member);
    }
    return failed;
}

static int64_t elements_of(hid_t array)
{
    hsize_t dims[H5S_MAX_RANK];
    int64_t elements = 1;
    const int ndim = H5Tget_array_dims2(array, dims);
    for (int d = 0; d < ndim; d++)
        if (dims[d] > INT64_MAX || __builtin_mul_overflow(elements, (int64_t)dims[d], &elements)) return -1;
    return ndim < 0 ? -1 : elements;
}

/* An array's columns are named by the indices of the element after its name: .0, .1.2. */
static int find_elements(finder *in, hid_t array, const char *name, fault *f)
{
    hsize_t dims[H5S_MAX_RANK];
    const int ndim = H5Tget_array_dims2(array, dims);
    const int64_t elements = elements_of(array);
    hid_t element = H5Tget_super(array);
    int failed = 0;
    for (int64_t i = 0; i < elements && !failed; i++) {
        char full[LONGEST_NAME];
        size_t length = (size_t)snprintf(full, sizeof full, "%s", name);
        int64_t stride = elements;
        for (int d = 0; d < ndim && length < sizeof full; d++) {
            stride /= (int64_t)dims[d];
            const int64_t index = i / stride % (int64_t)dims[d];
            length += (size_t)snprintf(full + length, sizeof full - length, ".%" PRId64, index);
        }
        failed =
            length < sizeof full
                ? find_columns(in, element, full, f)
                : fault_set(f, EXIT_DATA, "%s has members with unreadable names: inspect it with h5dump", in->subject);
    }
    H5Tclose(element);
    return failed;
}

static bool is_expanded(hid_t type)
{
    const int64_t elements = H5Tget_class(type) == H5T_ARRAY ? elements_of(type) : 0;
    return elements > 0 && elements <= COLUMNS_MOST_ELEMENTS;
}

static int find_columns(finder *in, hid_t type, const char *name, fault *f)
{
    int failed;
    if (++in->depth > DEEPEST_MEMBER)
        return fault_set(f, EXIT_DATA, "%s has records nested more than %d deep", in->subject, DEEPEST_MEMBER);
    if (H5Tget_class(type) == H5T_COMPOUND) {
        failed = find_members(in, type, name, f);
    } else if (is_expanded(type)) {
        failed = find_elements(in, type, name, f);
    } else {
        hdf5_type t = hdf5_type_in_memory(type);
        table_column made = {
            .what = t.what, .string = t.string, .dtype = t.dtype, .boolean = t.boolean, .rule = t.rule};
        if (H5Tget_class(type) == H5T_ARRAY) made.what = "an array of many elements";
        failed = columns_add(in->table, name, &made, in->subject, f);
        if (t.memory >= 0) H5Tclose(t.memory);
    }
    in->depth--;
    return failed;
}

int hdf5_find_columns(hid_t type, column_table *table, const char *subject, fault *f)
{
    return find_columns(&(finder){.table = table, .subject = subject}, type, "", f);
}

typedef struct maker {
    column_table *table;
    const bool *wanted; /* [columns] */
    int next;           /* next column */
} maker;

/* The memory type of the wanted parts of a type, which begins at this byte of the record; -1 if there are none. */
static hid_t make(maker *m, hid_t type, size_t offset);

static hid_t make_compound(maker *m, hid_t type, size_t offset)
{
    size_t size = 0;
    hid_t made = -1;
    for (int i = 0, members = H5Tget_nmembers(type); i < members; i++) {
        hid_t member = H5Tget_member_type(type, (unsigned)i), part = make(m, member, offset + size);
        H5Tclose(member);
        if (part < 0) continue;
        const size_t part_size = H5Tget_size(part);
        char *name = H5Tget_member_name(type, (unsigned)i);
        if (made < 0)
            made = H5Tcreate(H5T_COMPOUND, part_size);
        else
            H5Tset_size(made, size + part_size);
        H5Tinsert(made, name, size, part);
        size += part_size;
        H5free_memory(name);
        H5Tclose(part);
    }
    return made;
}

/* If any element of an array is wanted, all are included. */
static hid_t make_array(maker *m, hid_t array, size_t offset)
{
    hsize_t dims[H5S_MAX_RANK];
    const int ndim = H5Tget_array_dims2(array, dims);
    const int64_t elements = elements_of(array);
    maker all = {.table = m->table, .next = m->next};
    hid_t element = H5Tget_super(array), made = make(&all, element, offset);
    const int first = m->next, columns = all.next - first;
    bool any = false;
    m->next += (int)elements * columns;
    for (int c = first; c < m->next; c++)
        any = any || !m->wanted || m->wanted[c];
    H5Tclose(element);
    if (made < 0) return -1;
    const int64_t size = (int64_t)H5Tget_size(made);
    for (int c = first + columns; c < m->next; c++)
        m->table->column[c].offset = m->table->column[c - columns].offset + size;
    hid_t whole = any ? H5Tarray_create2(made, (unsigned)ndim, dims) : -1;
    H5Tclose(made);
    return whole;
}

static hid_t make(maker *m, hid_t type, size_t offset)
{
    if (H5Tget_class(type) == H5T_COMPOUND) return make_compound(m, type, offset);
    if (is_expanded(type)) return make_array(m, type, offset);
    const int own = m->next++;
    table_column *c = &m->table->column[own];
    c->offset = (int64_t)offset;
    return c->what || (m->wanted && !m->wanted[own]) ? -1 : hdf5_type_in_memory(type).memory;
}

hid_t hdf5_record_in_memory(hid_t type, column_table *table, const bool *wanted)
{
    return make(&(maker){.table = table, .wanted = wanted}, type, 0);
}
