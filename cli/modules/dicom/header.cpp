#include "modules/dicom/header.h"

#include <gdcmImageHelper.h>
#include <gdcmSequenceOfItems.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <strings.h>

#include "modules/dicom/values.h"

namespace dicom
{

void say(char why[256], const char *format, ...) // NOLINT(cert-dcl50-cpp): a format, which the compiler checks
{
    va_list values;
    va_start(values, format);
    std::vsnprintf(why, 256, format, values);
    va_end(values);
}

} // namespace dicom

namespace
{

using dicom::say;
using gdcm::DataSet;

/* ---- Elements ---- */

bool has(const DataSet &from, uint32_t tag)
{
    return from.FindDataElement(gdcm::Tag(tag)) && !from.GetDataElement(gdcm::Tag(tag)).IsEmpty();
}

std::vector<char> bytes_of(const DataSet &from, uint32_t tag)
{
    const gdcm::ByteValue *value = has(from, tag) ? from.GetDataElement(gdcm::Tag(tag)).GetByteValue() : nullptr;
    if (!value) return {};
    return {value->GetPointer(), value->GetPointer() + value->GetLength()};
}

/* The text of an element, without surrounding blanks. */
std::string text(const DataSet &from, uint32_t tag)
{
    const std::vector<char> bytes = bytes_of(from, tag);
    std::string words(bytes.begin(), std::find(bytes.begin(), bytes.end(), '\0'));
    words.erase(words.find_last_not_of(' ') + 1);
    return words.erase(0, words.find_first_not_of(' '));
}

/* The values of an element, which are separated by backslashes. */
std::vector<std::string> texts(const DataSet &from, uint32_t tag)
{
    std::vector<std::string> found;
    const std::string words = text(from, tag);
    for (size_t at = 0; !words.empty() && at <= words.size();) {
        const size_t end = std::min(words.find('\\', at), words.size());
        found.push_back(words.substr(at, end - at));
        at = end + 1;
    }
    return found;
}

bool parse(const std::string &words, double *value)
{
    char *end;
    *value = std::strtod(words.c_str(), &end);
    return end != words.c_str() && std::isfinite(*value) && std::strspn(end, " ") == std::strlen(end);
}

/* Read a number stored as text, if the element exists; false, with a reason, if it is not a number. */
bool decimal(const DataSet &from, uint32_t tag, const char *name, double *value, char why[256])
{
    if (!has(from, tag) || parse(text(from, tag), value)) return true;
    say(why, "its %s '%.40s' is not a number", name, text(from, tag).c_str());
    return false;
}

/* Numbers stored as text, separated by backslashes. */
bool decimals(const DataSet &from, uint32_t tag, double *values, size_t count)
{
    const std::vector<std::string> words = texts(from, tag);
    for (size_t i = 0; i < count; i++)
        if (i >= words.size() || !parse(words[i], &values[i])) return false;
    return true;
}

/* A binary number; false if it is missing. */
template <typename Number>
bool binary(const DataSet &from, uint32_t tag, Number *value, size_t i = 0)
{
    const std::vector<char> bytes = bytes_of(from, tag);
    if (bytes.size() < (i + 1) * sizeof *value) return false;
    std::memcpy(value, &bytes[i * sizeof *value], sizeof *value);
    return true;
}

int whole(const DataSet &from, uint32_t tag, int missing)
{
    uint16_t value;
    return binary(from, tag, &value) ? value : missing;
}

std::vector<DataSet> items(const DataSet &from, uint32_t tag)
{
    std::vector<DataSet> found;
    if (!has(from, tag)) return found;
    const auto sequence = from.GetDataElement(gdcm::Tag(tag)).GetValueAsSQ();
    for (size_t i = 1; sequence && i <= sequence->GetNumberOfItems(); i++)
        found.push_back(sequence->GetItem(i).GetNestedDataSet());
    return found;
}

constexpr uint32_t slope_tag = 0x00281053, intercept_tag = 0x00281052, modality_tables = 0x00283000,
                   shown_tables = 0x00283010, table_size = 0x00283002, table_data = 0x00283006,
                   real_values = 0x00409096, real_slope = 0x00409225, real_intercept = 0x00409224,
                   dose_scaling = 0x3004000e, center_tag = 0x00281050, width_tag = 0x00281051,
                   groups_of_all = 0x52009229, groups_of_frames = 0x52009230, group_of_values = 0x00289145,
                   group_of_windows = 0x00289132;

/* ---- Tables ---- */

/* Read a lookup table. The first input value and the number of entries have 16 bits; the former is signed if samples
 * are. */
bool read_table(const DataSet &item, const dicom_about &about, const char *name, dicom_table *table,
                dicom::meanings *found, char why[256])
{
    uint16_t size[3] = {};
    const std::vector<char> data = bytes_of(item, table_data);
    for (size_t i = 0; i < 3; i++)
        if (!binary(item, table_size, &size[i], i)) size[2] = 0;
    const size_t count = size[0] ? size[0] : 65536;
    const bool in_bytes = size[2] <= 8 && data.size() < 2 * count;
    if (size[2] < 8 || size[2] > 16 || data.size() < (in_bytes ? count : 2 * count)) {
        say(why, "its %s is damaged: it has %zu bytes for %zu values of %d bits", name, data.size(), count, size[2]);
        return false;
    }
    std::vector<uint16_t> &values = found->tables.emplace_back(count);
    for (size_t i = 0; i < count && in_bytes; i++)
        values[i] = static_cast<unsigned char>(data[i]);
    if (!in_bytes) std::memcpy(values.data(), data.data(), 2 * count);
    const bool is_signed = about.is_signed && size[1] >= 0x8000;
    *table = {values.data(), is_signed ? size[1] - 0x10000 : size[1], static_cast<int>(count), size[2]};
    return true;
}

/* ---- Scaling ---- */

/* Read the scaling in the group of a frame, the group of all frames, or the file itself. 1 if there is one, 0 if not,
 * -1 with a reason. */
int read_scaling(const DataSet &from, dicom_meaning *m, char why[256])
{
    if (!has(from, slope_tag) && !has(from, intercept_tag)) return 0;
    if (!decimal(from, slope_tag, "RescaleSlope", &m->slope, why) ||
        !decimal(from, intercept_tag, "RescaleIntercept", &m->intercept, why))
        return -1;
    if (m->slope != 0) return 1;
    say(why, "its RescaleSlope is 0: count its samples as they are stored with --raw");
    return -1;
}

/* Used if there is no other scaling: the mapping to real-world values, if there is only one. */
int read_real_values(const DataSet &from, dicom_meaning *m, bool needed, char why[256])
{
    const std::vector<DataSet> mappings = items(from, real_values);
    if (mappings.empty()) return 0;
    if (mappings.size() == 1 && binary(mappings[0], real_slope, &m->slope) &&
        binary(mappings[0], real_intercept, &m->intercept) && std::isfinite(m->slope) && m->slope != 0 &&
        std::isfinite(m->intercept))
        return 1;
    m->slope = 1;
    m->intercept = 0;
    if (!needed) return 0;
    say(why, "it maps its samples to values (RealWorldValueMappingSequence) by a table or in several ways: count them "
             "as they are stored with --raw");
    return -1;
}

/* Use the first of the places that has a scaling. */
bool find_scaling(const std::vector<const DataSet *> &places, dicom_meaning *m, char why[256])
{
    int is = 0;
    for (size_t i = 0; i < places.size() && is == 0; i++) {
        const std::vector<DataSet> inner = items(*places[i], group_of_values);
        is = read_scaling(inner.empty() ? *places[i] : inner[0], m, why);
    }
    const bool stays = m->slope == 1 && m->intercept == 0;
    int real = 0;
    for (size_t i = 0; i < places.size() && is >= 0 && stays && real == 0; i++)
        real = read_real_values(*places[i], m, is == 0, why);
    return is >= 0 && real >= 0;
}

/* ---- Windows ---- */

struct named_window {
    std::string name;
    dicom_window window;
};

dicom_window line(const DataSet &from, double center, double width)
{
    const std::string function = text(from, 0x00281056);
    dicom_window w = {};
    w.kind = function == "SIGMOID" ? DICOM_SIGMOID : function == "LINEAR_EXACT" ? DICOM_LINEAR_EXACT : DICOM_LINEAR;
    w.center = center;
    w.width = width;
    return w;
}

void read_windows(const DataSet &from, std::vector<named_window> *windows)
{
    const std::vector<std::string> centers = texts(from, center_tag), widths = texts(from, width_tag),
                                   names = texts(from, 0x00281055);
    for (size_t i = 0; i < centers.size() && i < widths.size(); i++) {
        double center, width;
        if (parse(centers[i], &center) && parse(widths[i], &width))
            windows->push_back({i < names.size() ? names[i] : "", line(from, center, width)});
    }
}

bool read_shown_tables(const DataSet &all, const dicom_about &about, std::vector<named_window> *windows,
                       dicom::meanings *found, char why[256])
{
    for (const DataSet &item : items(all, shown_tables)) {
        dicom_window w = {};
        w.kind = DICOM_TABLE;
        if (!read_table(item, about, "VOI LUT", &w.table, found, why)) return false;
        windows->push_back({text(item, 0x00283003), w});
    }
    return true;
}

/* Read the windows of the first of the places that has any. */
void read_lines(const std::vector<const DataSet *> &places, std::vector<named_window> *windows)
{
    const size_t before = windows->size();
    for (size_t i = 0; i < places.size() && windows->size() == before; i++) {
        const std::vector<DataSet> inner = items(*places[i], group_of_windows);
        read_windows(inner.empty() ? *places[i] : inner[0], windows);
    }
}

/* wanted: "auto", for the first window; a name; a number; or a centre and a width. */
bool choose_window(const std::vector<named_window> &windows, const DataSet &from, const char *wanted, dicom_window *w,
                   char why[256])
{
    const std::string words = wanted;
    const size_t comma = words.find(',');
    double center, width;
    std::string list;
    for (size_t i = 0; i < windows.size(); i++) {
        const std::string &name = windows[i].name;
        const std::string number = std::to_string(i);
        list += (i ? ", " : "") + number + (name.empty() ? "" : " (" + name + ")");
        *w = windows[i].window;
        if (strcasecmp(wanted, "auto") == 0 || number == words || (!name.empty() && !strcasecmp(wanted, name.c_str())))
            break;
        *w = {};
    }
    if (w->kind == DICOM_NO_WINDOW && comma != std::string::npos && parse(words.substr(0, comma), &center) &&
        parse(words.substr(comma + 1), &width))
        *w = line(from, center, width);
    const bool is_line = w->kind != DICOM_NO_WINDOW && w->kind != DICOM_TABLE;
    if (is_line && !(w->width >= (w->kind == DICOM_LINEAR ? 1 : 1e-300)))
        say(why, "its window has the width %g", w->width);
    else if (w->kind != DICOM_NO_WINDOW)
        return true;
    else if (windows.empty())
        say(why, "it has no window: give its centre and width, as in --window 40,400");
    else
        say(why, "it has no window '%.40s': its windows are %.120s", wanted, list.c_str());
    return false;
}

/* ---- Frames ---- */

/* Common to all frames. */
struct common {
    const DataSet &all;
    const dicom_wishes &wishes;
    dicom_table table;
    std::vector<named_window> shown; /* windows given by tables, which come first, as in pydicom */
};

bool describe_frame(const common &c, const std::vector<const DataSet *> &places, dicom::meanings *found, char why[256])
{
    dicom_meaning m = {};
    m.slope = 1;
    m.table = c.table;
    if (!c.wishes.raw && c.table.count == 0 && !find_scaling(places, &m, why)) return false;
    if (c.wishes.window) {
        std::vector<named_window> windows = c.shown;
        read_lines(places, &windows);
        if (!choose_window(windows, c.all, c.wishes.window, &m.window, why)) return false;
    }
    found->frames.push_back(m);
    return true;
}

/* Each frame may have its own group, and all frames a common one; otherwise, the file's elements apply to all. */
bool describe_frames(const DataSet &all, const dicom_wishes &wishes, const dicom_about &about, dicom::meanings *found,
                     char why[256])
{
    common c = {all, wishes, {}, {}};
    const std::vector<DataSet> tables = items(all, modality_tables), shared = items(all, groups_of_all),
                               frames = items(all, groups_of_frames);
    if (!tables.empty() && !wishes.raw && !read_table(tables[0], about, "Modality LUT", &c.table, found, why))
        return false;
    if (wishes.window && !read_shown_tables(all, about, &c.shown, found, why)) return false;
    std::vector<const DataSet *> places = {&all};
    if (!shared.empty()) places.insert(places.begin(), &shared[0]);
    if (frames.empty() || (wishes.raw && !wishes.window)) return describe_frame(c, places, found, why);
    if (static_cast<int64_t>(frames.size()) < about.frames) {
        say(why, "its header describes %zu of its %lld frames", frames.size(), static_cast<long long>(about.frames));
        return false;
    }
    places.insert(places.begin(), nullptr);
    for (int64_t i = 0; i < about.frames; i++) {
        places[0] = &frames[static_cast<size_t>(i)];
        if (!describe_frame(c, places, found, why)) return false;
    }
    return true;
}

/* ---- Padding ---- */

/* 16 bits of the header, signed if samples are, whatever the type of the element. */
bool sample(const DataSet &from, uint32_t tag, bool is_signed, int64_t *value)
{
    uint16_t bits;
    if (!binary(from, tag, &bits)) return false;
    *value = is_signed ? static_cast<int16_t>(bits) : bits;
    return true;
}

template <typename Float>
bool find_float_padding(const DataSet &all, uint16_t value_element, uint16_t limit_element, dicom_about *about)
{
    Float value, limit;
    if (!binary(all, 0x00280000U + value_element, &value)) return false;
    if (!binary(all, 0x00280000U + limit_element, &limit)) limit = value;
    about->float_pad_from = std::min<double>(value, limit);
    about->float_pad_to = std::max<double>(value, limit);
    return true;
}

void find_padding(const DataSet &all, dicom_about *about)
{
    int64_t limit;
    if (about->kind == DICOM_FLOATS) {
        about->pads = about->bytes == 4 ? find_float_padding<float>(all, 0x122, 0x124, about)
                                        : find_float_padding<double>(all, 0x123, 0x125, about);
        return;
    }
    about->pads = sample(all, 0x00280120, about->is_signed, &about->pad_from);
    about->pad_to = about->pad_from;
    if (about->pads && sample(all, 0x00280121, about->is_signed, &limit)) {
        about->pad_to = std::max(about->pad_from, limit);
        about->pad_from = std::min(about->pad_from, limit);
    }
}

} // namespace

namespace dicom
{

bool has_image(const gdcm::File &file)
{
    return file.GetDataSet().FindDataElement(gdcm::Tag(0x00280010));
}

bool describe_samples(const gdcm::File &file, int float_bits, dicom_about *about, char why[256])
{
    const DataSet &all = file.GetDataSet();
    const std::vector<unsigned> size = gdcm::ImageHelper::GetDimensionsValue(file);
    if (size.size() < 2 || size[0] == 0 || size[1] == 0) {
        say(why, "it holds no image");
        return false;
    }
    const int bits = float_bits ? float_bits : whole(all, 0x00280100, 0);
    about->columns = size[0];
    about->rows = size[1];
    about->frames = size.size() > 2 && size[2] > 0 ? size[2] : 1;
    about->channels = whole(all, 0x00280002, 1);
    about->kind = float_bits ? DICOM_FLOATS : DICOM_INTEGERS;
    const bool has_bits = bits == 8 || bits == 16 || bits == 32 || float_bits || (bits == 1 && about->channels == 1);
    const double pixels = static_cast<double>(about->columns) * static_cast<double>(about->rows);
    if (about->channels != 1 && about->channels != 3) {
        say(why, "it has %d samples a pixel", about->channels);
        return false;
    }
    if (!has_bits) {
        say(why, "it has samples of %d bits", bits);
        return false;
    }
    if (pixels * about->channels * bits / 8 > 4e9) {
        say(why, "a frame has more than 4 GB");
        return false;
    }
    const int stored = float_bits ? bits : whole(all, 0x00280101, bits);
    const int high = whole(all, 0x00280102, stored - 1);
    about->bytes = bits == 1 ? 1 : bits / 8;
    about->stored = stored < 1 || stored > bits ? bits : stored;
    about->shift = float_bits || high < about->stored - 1 || high >= bits ? 0 : high + 1 - about->stored;
    about->is_signed = !float_bits && bits > 1 && whole(all, 0x00280103, 0) == 1;
    return true;
}

bool describe_values(const gdcm::File &file, const dicom_wishes &wishes, dicom_about *about, meanings *found,
                     char why[256])
{
    const DataSet &all = file.GetDataSet();
    const bool gray = about->channels == 1;
    if (wishes.window && !gray) {
        say(why, "its pixels are colours, and --window is for gray ones");
        return false;
    }
    if (gray) {
        const std::string colors = text(all, 0x00280004);
        about->white_first = colors == "MONOCHROME1" || text(all, 0x20500020) == "INVERSE";
        about->is_dose = !wishes.raw && has(all, dose_scaling);
        if (!wishes.raw) find_padding(all, about);
        if (!describe_frames(all, wishes, *about, found, why)) return false;
    } else {
        dicom_meaning m = {};
        m.slope = 1;
        found->frames.push_back(m);
    }
    about->dtype = dicom_value_dtype(about, found->frames.data(), static_cast<int64_t>(found->frames.size()));
    return true;
}

void describe_place(const gdcm::File &file, dicom_place *place)
{
    const DataSet &all = file.GetDataSet();
    const auto number = [&](uint32_t tag) {
        double value;
        return decimals(all, tag, &value, 1) && std::fabs(value) < 1e15 ? static_cast<int64_t>(value) : INT64_MAX;
    };
    double directions[6];
    std::snprintf(place->series, sizeof place->series, "%s", text(all, 0x0020000e).c_str());
    std::snprintf(place->description, sizeof place->description, "%s", text(all, 0x0008103e).c_str());
    place->series_number = number(0x00200011);
    place->number = number(0x00200013);
    place->has_position = decimals(all, 0x00200032, place->position, 3) && decimals(all, 0x00200037, directions, 6);
    if (!place->has_position) return;
    if (!decimals(all, 0x00280030, place->spacing, 2)) place->spacing[0] = place->spacing[1] = 0;
    if (!decimals(all, 0x00180050, &place->thickness, 1)) place->thickness = 0;
    std::copy(directions, directions + 3, place->row);
    std::copy(directions + 3, directions + 6, place->column);
}

} // namespace dicom
