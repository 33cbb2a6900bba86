/* The metadata of Zarr arrays and groups, of versions 2 and 3, parsed by RapidJSON. */
#include "modules/zarr/zarr.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

namespace
{

using rapidjson::Value;

/* The reason why an array cannot be read, as the end of a sentence. */
class Refusal
{
  public:
    Refusal(const char *what, const char *which) { std::snprintf(text, sizeof text, "%s%.80s", what, which); }
    const char *sentence() const { return text; }

  private:
    char text[ZARR_WHY_BYTES];
};

[[noreturn]] void refuse(const char *what, const char *which = "")
{
    throw Refusal(what, which);
}

const Value *member(const Value &of, const char *name)
{
    if (!of.IsObject()) return nullptr;
    const auto found = of.FindMember(name);
    return found == of.MemberEnd() || found->value.IsNull() ? nullptr : &found->value;
}

const char *text(const Value *value)
{
    return value && value->IsString() ? value->GetString() : "";
}

bool is(const Value *value, const char *expected)
{
    return std::strcmp(text(value), expected) == 0;
}

/* Read a list with a number per dimension. If the number of dimensions is not known yet, the list determines it. */
void take_shape(const Value *list, int64_t *shape, int *ndim, bool known, int64_t least)
{
    if (!list || !list->IsArray()) refuse("its shape or that of its chunks is not stated");
    if (list->Size() > HISTO_MAX_DIMS) refuse("it has too many dimensions");
    if (known && static_cast<int>(list->Size()) != *ndim) refuse("its chunks have other dimensions than it has");
    *ndim = static_cast<int>(list->Size());
    for (int d = 0; d < *ndim; d++) {
        const Value &size = (*list)[static_cast<rapidjson::SizeType>(d)];
        if (!size.IsInt64() || size.GetInt64() < least) refuse("a size in its metadata is invalid");
        shape[d] = size.GetInt64();
    }
}

struct Type {
    const char *name, *code;
    histo_dtype dtype;
};

const Type types[] = {
    {"bool", "b1", HISTO_U8},     {"uint8", "u1", HISTO_U8},    {"int8", "i1", HISTO_I8},
    {"uint16", "u2", HISTO_U16},  {"int16", "i2", HISTO_I16},   {"uint32", "u4", HISTO_U32},
    {"int32", "i4", HISTO_I32},   {"uint64", "u8", HISTO_U64},  {"int64", "i8", HISTO_I64},
    {"float16", "f2", HISTO_F16}, {"float32", "f4", HISTO_F32}, {"float64", "f8", HISTO_F64},
    {"bfloat16", "", HISTO_BF16},
};

/* In version 3, the unit of dates and time spans is in the type's configuration. */
time_epoch epoch_named(const char *name, const Value *type)
{
    const Value *settings = type ? member(*type, "configuration") : nullptr;
    const Value *scale = settings ? member(*settings, "scale_factor") : nullptr;
    char code[40];
    const bool span = std::strcmp(name, "numpy.timedelta64") == 0;
    if ((!span && std::strcmp(name, "numpy.datetime64") != 0) || !settings) return time_epoch();
    std::snprintf(code, sizeof code, "%c8[%d%.20s]", span ? 'm' : 'M', scale && scale->IsInt() ? scale->GetInt() : 1,
                  text(member(*settings, "unit")));
    return epoch_of_numpy(code);
}

/* Version 3 has names of types, version 2 NumPy's codes. */
void take_type(const Value *value, zarr_metadata *z, bool by_name)
{
    const Value *name = value && value->IsObject() ? member(*value, "name") : value;
    const char *stated = text(name), *code = stated;
    if (!by_name) {
        z->codecs.big_endian = *code == '>';
        if (*code && std::strchr("<>|=", *code)) code++;
    }
    z->dated = by_name ? std::strncmp(stated, "numpy.datetime64", 16) == 0 ||
                             std::strncmp(stated, "numpy.timedelta64", 17) == 0
                       : std::strncmp(code, "M8", 2) == 0 || std::strncmp(code, "m8", 2) == 0;
    if (z->dated) {
        z->dtype = HISTO_I64;
        z->epoch = by_name ? epoch_named(stated, value) : epoch_of_numpy(code);
        return;
    }
    for (const Type &t : types)
        if (*code && std::strcmp(by_name ? t.name : t.code, code) == 0) {
            z->dtype = t.dtype;
            z->boolean = std::strcmp(t.name, "bool") == 0;
            return;
        }
    if (value && value->IsArray()) refuse("it holds records, not plain numbers");
    refuse("it does not hold plain numbers, but ", *stated ? stated : "another type");
}

zarr_codec compressor(const char *name)
{
    if (std::strcmp(name, "gzip") == 0 || std::strcmp(name, "zlib") == 0) return ZARR_GZIP;
    if (std::strcmp(name, "zstd") == 0 || std::strcmp(name, "numcodecs.zstd") == 0) return ZARR_ZSTD;
    if (std::strcmp(name, "blosc") == 0 || std::strcmp(name, "numcodecs.blosc") == 0) return ZARR_BLOSC;
    if (std::strcmp(name, "crc32c") == 0) return ZARR_CRC32C;
    refuse("its chunks are stored by a codec that is not read here: ", name);
}

void add_codec(zarr_codecs *codecs, const char *name)
{
    if (codecs->count == ZARR_MOST_CODECS) refuse("its chunks are stored by too many codecs");
    codecs->codec[codecs->count++] = compressor(name);
}

void set_order(zarr_codecs *codecs, int ndim, bool reversed)
{
    for (int d = 0; d < ndim; d++)
        codecs->order[d] = reversed ? ndim - 1 - d : d;
}

/* Apply the permutation of the codec `transpose` to the current order of the dimensions. */
void transpose(zarr_codecs *codecs, int ndim, const Value *order)
{
    if (!order) refuse("its codec transpose is invalid");
    if (order->IsString()) {
        set_order(codecs, ndim, is(order, "F"));
        return;
    }
    int before[HISTO_MAX_DIMS];
    unsigned seen = 0;
    std::memcpy(before, codecs->order, sizeof before);
    if (!order->IsArray() || static_cast<int>(order->Size()) != ndim) refuse("its codec transpose is invalid");
    for (int d = 0; d < ndim; d++) {
        const Value &from = (*order)[static_cast<rapidjson::SizeType>(d)];
        if (!from.IsInt() || from.GetInt() < 0 || from.GetInt() >= ndim || (seen & 1U << from.GetInt()))
            refuse("its codec transpose is invalid");
        seen |= 1U << from.GetInt();
        codecs->order[d] = before[from.GetInt()];
    }
}

/* The codecs of version 3. The codec of shards has its own list of codecs for the chunks in them. */
void take_codecs(const Value *list, zarr_metadata *z, zarr_codecs *codecs, int ndim, bool outer)
{
    if (!list || !list->IsArray()) refuse("its codecs are not stated");
    set_order(codecs, ndim, false);
    for (const Value &item : list->GetArray()) {
        const Value *named = item.IsObject() ? member(item, "name") : &item;
        const Value *settings = member(item, "configuration");
        const char *name = text(named);
        const Value *endian = settings ? member(*settings, "endian") : nullptr;
        if (z->sharded && outer) refuse("its shards are compressed as a whole");
        if (std::strcmp(name, "bytes") == 0) {
            codecs->big_endian = is(endian, "big");
        } else if (std::strcmp(name, "transpose") == 0) {
            if (codecs->count) refuse("its codec transpose is invalid");
            transpose(codecs, ndim, settings ? member(*settings, "order") : nullptr);
        } else if (std::strcmp(name, "sharding_indexed") == 0 && outer && settings) {
            z->sharded = true;
            std::memcpy(z->shard, z->chunk, sizeof z->shard);
            take_shape(member(*settings, "chunk_shape"), z->chunk, &z->ndim, true, 1);
            zarr_codecs inner = {};
            take_codecs(member(*settings, "codecs"), z, &inner, ndim, false);
            take_codecs(member(*settings, "index_codecs"), z, &z->index_codecs, 0, false);
            z->index_first = is(member(*settings, "index_location"), "start");
            *codecs = inner;
            for (int d = 0; d < ndim; d++)
                if (z->shard[d] % z->chunk[d]) refuse("its shards are not multiples of its chunks");
        } else {
            add_codec(codecs, name);
        }
    }
}

/* Read a value of the array's type: a number, the name of NaN or an infinity, or the bits of a float. */
bool take_value(const Value &value, histo_dtype dtype, unsigned char bytes[8])
{
    if (value.IsString() && std::strncmp(value.GetString(), "0x", 2) == 0) {
        const uint64_t bits = std::strtoull(value.GetString(), nullptr, 16);
        std::memcpy(bytes, &bits, 8); /* on little-endian machines */
        return true;
    }
    if (dtype < HISTO_F16) {
        uint64_t bits = 0;
        if (value.IsBool())
            bits = value.GetBool();
        else if (value.IsInt64())
            bits = static_cast<uint64_t>(value.GetInt64());
        else if (value.IsUint64())
            bits = value.GetUint64();
        else if (value.IsDouble() && std::fabs(value.GetDouble()) < 0x1p53)
            bits = static_cast<uint64_t>(static_cast<int64_t>(value.GetDouble()));
        else
            return value.IsString() && value.GetStringLength() == 0;
        std::memcpy(bytes, &bits, 8);
        return true;
    }
    double real = 0;
    if (value.IsNumber())
        real = value.GetDouble();
    else if (is(&value, "NaN"))
        real = std::numeric_limits<double>::quiet_NaN();
    else if (is(&value, "Infinity"))
        real = std::numeric_limits<double>::infinity();
    else if (is(&value, "-Infinity"))
        real = -std::numeric_limits<double>::infinity();
    else
        return false;
    const float single = static_cast<float>(real);
    if (dtype == HISTO_F64) std::memcpy(bytes, &real, 8);
    if (dtype == HISTO_F32) std::memcpy(bytes, &single, 4);
    if (dtype == HISTO_BF16) std::memcpy(bytes, reinterpret_cast<const unsigned char *>(&single) + 2, 2);
    if (dtype == HISTO_F16) {
        const uint16_t half = real != real ? 0x7e00 : real > 65504 ? 0x7c00 : real < -65504 ? 0xfc00 : 0;
        std::memcpy(bytes, &half, 2);
        return half != 0 || real == 0;
    }
    return true;
}

void take_fill(const Value *value, zarr_metadata *z)
{
    std::memset(z->fill, 0, sizeof z->fill);
    if (!value) return;
    if (z->dated && value->IsString()) { /* NaT */
        const int64_t nat = std::numeric_limits<int64_t>::min();
        std::memcpy(z->fill, &nat, 8);
    } else if (!take_value(*value, z->dtype, z->fill)) {
        refuse("its fill value is not of its type");
    }
    z->has_fill = true;
}

/* Decode a number that xarray writes as a double in base64. */
bool decode_double(const char *text, double *value)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char bytes[9] = {0};
    if (std::strlen(text) != 12 || text[11] != '=') return false;
    for (int i = 0; i < 11; i++) {
        const char *digit = std::strchr(digits, text[i]);
        if (!digit) return false;
        const unsigned bits = static_cast<unsigned>(digit - digits) << (10 - 6 * i % 8);
        bytes[6 * i / 8] = static_cast<unsigned char>(bytes[6 * i / 8] | bits >> 8);
        bytes[6 * i / 8 + 1] = static_cast<unsigned char>(bytes[6 * i / 8 + 1] | (bits & 255));
    }
    std::memcpy(value, bytes, 8);
    return true;
}

void add_number(zarr_attribute *a, const Value &value)
{
    if (a->count == ZARR_MOST_NUMBERS) return;
    double real;
    if (value.IsNumber())
        real = value.GetDouble();
    else if (value.IsString() && decode_double(value.GetString(), &real))
        ;
    else if (is(&value, "NaN"))
        real = std::numeric_limits<double>::quiet_NaN();
    else
        return;
    a->integers = (a->count == 0 || a->integers) && value.IsInt64();
    a->whole[a->count] = value.IsInt64() ? value.GetInt64() : 0;
    a->values[a->count++] = real;
}

void take_attributes(const Value *from, zarr_metadata *z)
{
    if (!from || !from->IsObject()) return;
    for (const char *name : {"scale_factor", "add_offset", "_FillValue", "missing_value", "valid_min", "valid_max",
                             "valid_range", "_Unsigned", "units", "calendar"}) {
        const Value *value = member(*from, name);
        if (!value || z->attributes_count == ZARR_MOST_ATTRIBUTES) continue;
        zarr_attribute *a = &z->attributes[z->attributes_count];
        *a = zarr_attribute();
        std::snprintf(a->name, sizeof a->name, "%s", name);
        if (value->IsArray())
            for (const Value &item : value->GetArray())
                add_number(a, item);
        else
            add_number(a, *value);
        if (a->count == 0) std::snprintf(a->text, sizeof a->text, "%s", text(value));
        if (a->count || a->text[0]) z->attributes_count++;
    }
    const Value *dimensions = member(*from, "_ARRAY_DIMENSIONS");
    if (dimensions && dimensions->IsArray()) {
        z->fill_is_missing = z->has_fill;
        if (dimensions->Size() == 1)
            std::snprintf(z->only_dimension, sizeof z->only_dimension, "%s", text(&(*dimensions)[0]));
    }
}

void take_version_2(const Value &root, zarr_metadata *z)
{
    z->is_group = !member(root, "shape");
    if (z->is_group) return;
    take_type(member(root, "dtype"), z, false);
    take_shape(member(root, "shape"), z->shape, &z->ndim, false, 0);
    take_shape(member(root, "chunks"), z->chunk, &z->ndim, true, 1);
    set_order(&z->codecs, z->ndim, is(member(root, "order"), "F"));
    const Value *filters = member(root, "filters"), *compressed = member(root, "compressor");
    if (filters && filters->IsArray() && filters->Size() > 0)
        refuse("its chunks are stored by a filter that is not read here: ", text(member((*filters)[0], "id")));
    if (compressed) add_codec(&z->codecs, text(member(*compressed, "id")));
    const Value *separator = member(root, "dimension_separator");
    z->separator = is(separator, "/") ? '/' : '.';
    take_fill(member(root, "fill_value"), z);
}

void take_version_3(const Value &root, zarr_metadata *z)
{
    z->is_group = is(member(root, "node_type"), "group");
    if (z->is_group) return;
    take_type(member(root, "data_type"), z, true);
    take_shape(member(root, "shape"), z->shape, &z->ndim, false, 0);
    const Value *grid = member(root, "chunk_grid"), *keys = member(root, "chunk_key_encoding");
    if (!grid || !is(member(*grid, "name"), "regular")) refuse("its chunks are not a regular grid");
    const Value *sizes = member(*grid, "configuration"), *names = keys ? member(*keys, "configuration") : nullptr;
    take_shape(sizes ? member(*sizes, "chunk_shape") : nullptr, z->chunk, &z->ndim, true, 1);
    take_codecs(member(root, "codecs"), z, &z->codecs, z->ndim, true);
    const bool as_version_2 = keys && is(member(*keys, "name"), "v2");
    const char *separator = text(names ? member(*names, "separator") : nullptr);
    z->prefixed = !as_version_2;
    z->separator = *separator ? *separator : as_version_2 ? '.' : '/';
    take_fill(member(root, "fill_value"), z);
    take_attributes(member(root, "attributes"), z);
    const Value *dimensions = member(root, "dimension_names");
    if (dimensions && dimensions->IsArray() && dimensions->Size() == 1)
        std::snprintf(z->only_dimension, sizeof z->only_dimension, "%s", text(&(*dimensions)[0]));
}

const unsigned FLAGS =
    rapidjson::kParseIterativeFlag | rapidjson::kParseNanAndInfFlag | rapidjson::kParseFullPrecisionFlag;

template <class Take>
bool parse(const char *text, size_t size, char *why, Take take)
{
    rapidjson::Document root;
    root.Parse<FLAGS>(text, size);
    if (root.HasParseError()) {
        std::snprintf(why, ZARR_WHY_BYTES, "its metadata are invalid JSON at byte %zu (%s)", root.GetErrorOffset(),
                      rapidjson::GetParseError_En(root.GetParseError()));
        return false;
    }
    try {
        take(root);
    } catch (const Refusal &r) {
        std::snprintf(why, ZARR_WHY_BYTES, "%s", r.sentence());
        return false;
    }
    return true;
}

} // namespace

bool zarr_parse(const char *text, size_t size, zarr_metadata *found, char *why)
{
    *found = zarr_metadata();
    return parse(text, size, why, [found](const Value &root) {
        const Value *version = member(root, "zarr_format");
        if (!version || !version->IsInt()) refuse("its metadata do not state a zarr_format");
        if (version->GetInt() == 2)
            take_version_2(root, found);
        else if (version->GetInt() == 3)
            take_version_3(root, found);
        else
            refuse("it is of another version than 2 and 3");
    });
}

bool zarr_parse_attributes(const char *text, size_t size, zarr_metadata *found, char *why)
{
    return parse(text, size, why, [found](const Value &root) { take_attributes(&root, found); });
}
