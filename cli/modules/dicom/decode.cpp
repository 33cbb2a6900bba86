#include "modules/dicom/decode.h"

#include <gdcmBoxRegion.h>
#include <gdcmImageChangePlanarConfiguration.h>
#include <gdcmImageHelper.h>
#include <gdcmImageReader.h>
#include <gdcmImageRegionReader.h>
#include <gdcmStringFilter.h>
#include <gdcmTrace.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace
{

constexpr double whole_most = 1 << 28; /* bytes of a file that is decoded at once; others are frame by frame */

void say(char why[256], const char *what)
{
    std::snprintf(why, 256, "%s", what);
}

} // namespace

/* Bytes of the file. */
struct span {
    uint64_t at, bytes;
};

struct dicom_file {
    dicom_about about = {};
    std::string path;
    bool whole = false, plain = false, has_runs = false, is_ybr = false, is_bits = false, is_planar = false,
         is_swapped = false;
    std::ifstream in; /* of plain pixels, which begin at `begin` */
    uint64_t begin = 0;
    std::vector<char> packed;
    std::vector<span> fragments;        /* of compressed pixels, in the file */
    std::vector<size_t> first_of_frame; /* the number of its first fragment */
    gdcm::ImageRegionReader region;
    std::vector<char> samples, colors;
    size_t stored_frame = 0; /* bytes of a frame as it is decoded, before palettes are applied */
};

namespace
{

/* A number in the header; false if it is not there. */
bool number(const gdcm::File &file, uint16_t group, uint16_t element, double *value)
{
    const gdcm::Tag tag(group, element);
    if (!file.GetDataSet().FindDataElement(tag)) return false;
    gdcm::StringFilter text;
    text.SetFile(file);
    const std::string words = text.ToString(tag);
    char *end;
    *value = std::strtod(words.c_str(), &end);
    return end != words.c_str() && std::isfinite(*value);
}

/* 16 bits of the header as samples are: possibly signed, whatever the header says of the value. */
bool sample(const gdcm::File &file, uint16_t group, uint16_t element, bool is_signed, int64_t *value)
{
    const gdcm::Tag tag(group, element);
    if (!file.GetDataSet().FindDataElement(tag)) return false;
    const gdcm::ByteValue *bytes = file.GetDataSet().GetDataElement(tag).GetByteValue();
    double as_text;
    if (!bytes || bytes->GetLength() < 2 || !number(file, group, element, &as_text)) return false;
    const auto whole = static_cast<int64_t>(as_text);
    *value = is_signed ? static_cast<int16_t>(whole & 0xffff) : whole & 0xffff;
    return true;
}

bool describe_samples(const gdcm::PixelFormat &format, dicom_about *about, char why[256])
{
    const auto type = format.GetScalarType();
    about->kind =
        type == gdcm::PixelFormat::FLOAT32 || type == gdcm::PixelFormat::FLOAT64 ? DICOM_FLOATS : DICOM_INTEGERS;
    const int bits = format.GetBitsAllocated();
    if (bits != 8 && bits != 16 && bits != 32 && !(bits == 64 && about->kind == DICOM_FLOATS)) {
        std::snprintf(why, 256, "it has samples of %d bits", bits);
        return false;
    }
    about->bytes = bits / 8;
    about->stored = about->kind == DICOM_FLOATS ? bits : format.GetBitsStored();
    about->is_signed = format.GetPixelRepresentation() == 1;
    if (about->stored < 1 || about->stored > bits) about->stored = bits;
    return true;
}

void describe_values(const gdcm::File &file, dicom_about *about)
{
    double value;
    if (file.GetDataSet().FindDataElement(gdcm::Tag(0x5200, 0x9229))) { /* of all frames */
        const std::vector<double> found = gdcm::ImageHelper::GetRescaleInterceptSlopeValue(file);
        about->intercept = found.size() == 2 ? found[0] : 0;
        about->slope = found.size() == 2 ? found[1] : 1;
    }
    if (number(file, 0x0028, 0x1052, &value)) about->intercept = value;
    if (number(file, 0x0028, 0x1053, &value)) about->slope = value;
    if (about->slope == 0) about->slope = 1;
    about->pads = sample(file, 0x0028, 0x0120, about->is_signed, &about->pad_from);
    about->pad_to = about->pad_from;
    int64_t limit;
    if (about->pads && sample(file, 0x0028, 0x0121, about->is_signed, &limit)) {
        about->pad_to = std::max(about->pad_from, limit);
        about->pad_from = std::min(about->pad_from, limit);
    }
}

/* Find pixels that are not compressed: the place of the first one in the file. */
bool find_plain(dicom_file *d, const gdcm::TransferSyntax &syntax, size_t begin, char why[256])
{
    const bool big = syntax == gdcm::TransferSyntax::ExplicitVRBigEndian;
    d->in.open(d->path, std::ios::binary);
    d->in.seekg(0, std::ios::end);
    const auto size = static_cast<uint64_t>(d->in.tellg());
    const uint64_t frames = static_cast<uint64_t>(d->about.frames);
    const uint64_t need = d->is_bits ? (d->stored_frame * frames + 7) / 8 : d->stored_frame * frames;
    d->begin = begin;
    d->is_swapped = big && d->about.bytes > 1;
    d->plain = true;
    if (size >= d->begin && size - d->begin >= need) return true;
    std::snprintf(why, 256, "it is truncated: %llu of the %llu bytes of its pixels are there",
                  static_cast<unsigned long long>(size > d->begin ? size - d->begin : 0),
                  static_cast<unsigned long long>(need));
    return false;
}

void swap_bytes(std::vector<char> &samples, int bytes)
{
    for (size_t i = 0; i + static_cast<size_t>(bytes) <= samples.size(); i += static_cast<size_t>(bytes))
        std::reverse(samples.begin() + static_cast<std::ptrdiff_t>(i),
                     samples.begin() + static_cast<std::ptrdiff_t>(i) + bytes);
}

bool read_plain(dicom_file *d, int64_t frame, char why[256])
{
    const uint64_t first = d->stored_frame * static_cast<uint64_t>(frame);
    d->samples.resize(d->stored_frame);
    const size_t from = d->is_bits ? first / 8 : first;
    const size_t bytes = d->is_bits ? (first + d->stored_frame + 7) / 8 - from : d->stored_frame;
    std::vector<char> &to = d->is_bits || d->is_planar ? d->packed : d->samples;
    to.resize(bytes);
    d->in.clear();
    d->in.seekg(static_cast<std::streamoff>(d->begin + from));
    if (!d->in.read(to.data(), static_cast<std::streamsize>(bytes))) {
        say(why, "its pixels are truncated");
        return false;
    }
    if (d->is_swapped) swap_bytes(to, d->about.bytes);
    for (size_t i = 0; d->is_bits && i < d->stored_frame; i++) { /* the first bit is the lowest of its byte */
        const size_t bit = first % 8 + i;
        d->samples[i] = static_cast<char>(d->packed[bit / 8] >> bit % 8 & 1);
    }
    const auto size = static_cast<size_t>(d->about.bytes);
    const size_t plane = d->is_planar ? d->stored_frame / 3 : 0;
    for (size_t i = 0; i < plane; i += size)
        for (size_t c = 0; c < 3; c++)
            std::memcpy(&d->samples[3 * i + c * size], &d->packed[c * plane + i], size);
    return true;
}

/* The colours of a palette, of as many bits as its indices have. */
bool apply_palette(dicom_file *d, const gdcm::LookupTable &palette, char why[256])
{
    std::vector<char> colors(3 * d->samples.size());
    if (!palette.Initialized() || !palette.Decode(colors.data(), colors.size(), d->samples.data(), d->samples.size())) {
        say(why, "its palette is missing or damaged");
        return false;
    }
    d->samples.swap(colors);
    d->about.channels = 3;
    d->about.stored = 8 * d->about.bytes;
    d->stored_frame *= 3;
    return true;
}

uint64_t little(const char *at)
{
    const auto *b = reinterpret_cast<const unsigned char *>(at);
    return b[0] | b[1] << 8 | b[2] << 16 | static_cast<uint64_t>(b[3]) << 24;
}

/* Find the fragments of compressed pixels, the first of which is the table of frames, and see that all of the last one
 * is in the file: GDCM would fill up what is missing. */
bool find_fragments(dicom_file *d, uint64_t at, char why[256])
{
    d->in.open(d->path, std::ios::binary | std::ios::ate);
    const auto size = static_cast<uint64_t>(d->in.tellg());
    char item[8]; /* its tag and its length, in little endian */
    while (at + sizeof item <= size) {
        d->in.seekg(static_cast<std::streamoff>(at));
        if (!d->in.read(item, sizeof item)) break;
        if (std::memcmp(item, "\xfe\xff\0\xe0", 4) != 0) return true; /* the delimiter behind the last one */
        d->fragments.push_back({at + sizeof item, little(item + 4)});
        at += sizeof item + d->fragments.back().bytes;
    }
    if (at <= size) return true;
    say(why, "it is truncated within its compressed pixels");
    return false;
}

/* ---- Run lengths, which GDCM decodes wrongly in colours of 16 bits, and crashes on in 32 bits ---- */

bool read_span(dicom_file *d, const span &from, std::vector<char> &to)
{
    const size_t before = to.size();
    to.resize(before + from.bytes);
    d->in.clear();
    d->in.seekg(static_cast<std::streamoff>(from.at));
    return static_cast<bool>(d->in.read(to.data() + before, static_cast<std::streamsize>(from.bytes)));
}

/* Which fragments are whose frames'. */
bool find_runs(dicom_file *d, char why[256])
{
    const auto frames = static_cast<size_t>(d->about.frames);
    std::vector<char> table; /* places of the frames behind it, in bytes; possibly empty */
    d->has_runs = true;
    if (!d->fragments.empty() && !read_span(d, d->fragments[0], table)) d->fragments.clear();
    const size_t count = d->fragments.empty() ? 0 : d->fragments.size() - 1;
    if (count == frames || (frames == 1 && count > 0)) {
        for (size_t i = 0; i < frames; i++)
            d->first_of_frame.push_back(1 + i);
    } else if (table.size() == 4 * frames) {
        for (size_t i = 0, k = 1; i < frames; i++) {
            while (k <= count && d->fragments[k].at - d->fragments[1].at < little(&table[4 * i]))
                k++;
            d->first_of_frame.push_back(k);
        }
    }
    d->first_of_frame.push_back(1 + count);
    if (d->first_of_frame.size() == frames + 1) return true;
    say(why, "it does not say which of its compressed pixels are those of which frame");
    return false;
}

/* One run of bytes for each byte of a pixel, the highest first: `to` is the first pixel's. */
bool unpack_run(const char *from, const char *end, char *to, size_t pixels, size_t step)
{
    for (size_t i = 0; i < pixels;) {
        if (from == end) return false;
        const auto head = static_cast<unsigned char>(*from++);
        if (head == 128) continue; /* nothing */
        const bool repeats = head > 128;
        const size_t count = repeats ? 257U - head : 1U + head, bytes = repeats ? 1 : count;
        if (static_cast<size_t>(end - from) < bytes) return false;
        for (size_t k = 0; k < count && i < pixels; k++, i++)
            to[i * step] = from[repeats ? 0 : k];
        from += bytes;
    }
    return true;
}

bool read_runs(dicom_file *d, int64_t frame, char why[256])
{
    constexpr size_t header = 64; /* the number of runs, and their places in 15 more numbers */
    const auto f = static_cast<size_t>(frame), bytes = static_cast<size_t>(d->about.bytes);
    const size_t runs = bytes * static_cast<size_t>(d->about.channels), pixels = d->stored_frame / runs;
    d->packed.clear();
    bool good = true;
    for (size_t k = d->first_of_frame[f]; good && k < d->first_of_frame[f + 1]; k++)
        good = read_span(d, d->fragments[k], d->packed);
    const char *packed = d->packed.data();
    const size_t size = d->packed.size();
    good = good && size >= header && little(packed) == runs && runs < header / 4;
    if (good) d->samples.resize(d->stored_frame);
    for (size_t r = 0; good && r < runs; r++) {
        const uint64_t begin = little(packed + 4 + 4 * r), end = r + 1 < runs ? little(packed + 8 + 4 * r) : size;
        const size_t place = r / bytes * bytes + bytes - 1 - r % bytes;
        good = begin >= header && begin <= end && end <= size &&
               unpack_run(packed + begin, packed + end, &d->samples[place], pixels, runs);
    }
    if (!good)
        std::snprintf(why, 256, "the run lengths of frame %lld are truncated or damaged",
                      static_cast<long long>(frame));
    return good;
}

/* Decode all frames at once. */
bool read_whole(dicom_file *d, char why[256])
{
    gdcm::ImageReader reader;
    reader.SetFileName(d->path.c_str());
    if (!reader.Read()) {
        say(why, "its pixels are truncated or damaged");
        return false;
    }
    const gdcm::Image *image = &reader.GetImage();
    gdcm::ImageChangePlanarConfiguration interleave;
    if (image->GetPixelFormat().GetSamplesPerPixel() > 1 && image->GetPlanarConfiguration() == 1) {
        interleave.SetPlanarConfiguration(0);
        interleave.SetInput(*image);
        if (!interleave.Change()) {
            say(why, "its colours are truncated or damaged");
            return false;
        }
        image = static_cast<const gdcm::Image *>(&interleave.GetOutput());
    }
    const unsigned long bytes = image->GetBufferLength();
    if (bytes < d->stored_frame * static_cast<size_t>(d->about.frames)) {
        say(why, "its pixels are fewer than its header says");
        return false;
    }
    d->samples.resize(bytes);
    if (!image->GetBuffer(d->samples.data())) {
        say(why, "its pixels are truncated or damaged");
        return false;
    }
    /* Decoders know better what they made. */
    if (!describe_samples(image->GetPixelFormat(), &d->about, why)) return false;
    d->is_ybr = image->GetPhotometricInterpretation() == gdcm::PhotometricInterpretation::YBR_FULL ||
                image->GetPhotometricInterpretation() == gdcm::PhotometricInterpretation::YBR_FULL_422;
    d->whole = true;
    if (image->GetPhotometricInterpretation() == gdcm::PhotometricInterpretation::PALETTE_COLOR)
        return apply_palette(d, image->GetLUT(), why);
    return true;
}

bool read_frame(dicom_file *d, int64_t frame, char why[256])
{
    gdcm::BoxRegion box;
    const auto z = static_cast<unsigned>(frame);
    box.SetDomain(0, static_cast<unsigned>(d->about.columns - 1), 0, static_cast<unsigned>(d->about.rows - 1), z, z);
    d->region.SetRegion(box);
    d->samples.resize(d->stored_frame);
    if (d->region.ComputeBufferLength() <= d->stored_frame &&
        d->region.ReadIntoBuffer(d->samples.data(), d->samples.size()))
        return true;
    std::snprintf(why, 256, "frame %u is truncated or damaged", z);
    return false;
}

unsigned char clamp(double value)
{
    return static_cast<unsigned char>(value < 0 ? 0 : value > 255 ? 255 : std::lround(value));
}

void to_rgb(const char *from, char *to, size_t pixels)
{
    const auto *ybr = reinterpret_cast<const unsigned char *>(from);
    for (size_t i = 0; i < pixels; i++) {
        const double y = ybr[3 * i], cb = ybr[3 * i + 1] - 128.0, cr = ybr[3 * i + 2] - 128.0;
        to[3 * i] = static_cast<char>(clamp(y + 1.402 * cr));
        to[3 * i + 1] = static_cast<char>(clamp(y - 0.114 * 1.772 / 0.587 * cb - 0.299 * 1.402 / 0.587 * cr));
        to[3 * i + 2] = static_cast<char>(clamp(y + 1.772 * cb));
    }
}

/* The size of the image and its samples. */
bool describe(dicom_file *d, const gdcm::File &file, char why[256])
{
    dicom_about *about = &d->about;
    const std::vector<unsigned> size = gdcm::ImageHelper::GetDimensionsValue(file);
    const gdcm::PixelFormat format = gdcm::ImageHelper::GetPixelFormatValue(file);
    if (size.size() < 2 || size[0] == 0 || size[1] == 0) {
        say(why, "it holds no image");
        return false;
    }
    about->columns = size[0];
    about->rows = size[1];
    about->frames = size.size() > 2 && size[2] > 0 ? size[2] : 1;
    about->channels = format.GetSamplesPerPixel();
    if (about->channels != 1 && about->channels != 3) {
        std::snprintf(why, 256, "it has %d samples a pixel", about->channels);
        return false;
    }
    d->is_bits = format.GetBitsAllocated() == 1 && about->channels == 1;
    if (d->is_bits)
        about->bytes = about->stored = 1;
    else if (!describe_samples(format, about, why))
        return false;
    const double frame = static_cast<double>(about->columns) * static_cast<double>(about->rows) *
                         static_cast<double>(about->channels) * about->bytes;
    if (frame > 4e9) {
        say(why, "a frame has more than 4 GB");
        return false;
    }
    d->stored_frame = static_cast<size_t>(frame);
    return true;
}

/* All in front of the pixels. */
bool read_header(gdcm::Reader *reader, const char *path, char why[256])
{
    const gdcm::Tag pixels(0x7fe0, 0x0010);
    reader->SetFileName(path);
    try {
        if (reader->ReadUpToTag(pixels, {pixels})) return true;
    } catch (const std::bad_alloc &) { /* claims more than there can be */
    }
    say(why, "its header is truncated or damaged");
    return false;
}

bool has_image(const gdcm::File &file)
{
    return file.GetDataSet().FindDataElement(gdcm::Tag(0x0028, 0x0010));
}

std::string text(const gdcm::File &file, uint16_t group, uint16_t element)
{
    gdcm::StringFilter filter;
    filter.SetFile(file);
    std::string words = filter.ToString(gdcm::Tag(group, element));
    words.erase(std::find(words.begin(), words.end(), '\0'), words.end());
    words.erase(words.find_last_not_of(' ') + 1);
    return words;
}

/* Numbers with backslashes between them. */
bool numbers(const gdcm::File &file, uint16_t group, uint16_t element, double *values, int count)
{
    const std::string words = text(file, group, element);
    const char *at = words.c_str();
    for (int i = 0; i < count; i++) {
        char *end;
        values[i] = std::strtod(at, &end);
        if (end == at || !std::isfinite(values[i])) return false;
        at = end + (*end == '\\');
    }
    return true;
}

int64_t whole_number(const gdcm::File &file, uint16_t group, uint16_t element)
{
    double value;
    const bool is_number = numbers(file, group, element, &value, 1) && std::fabs(value) < 1e15;
    return is_number ? static_cast<int64_t>(value) : INT64_MAX;
}

void describe_place(const gdcm::File &file, dicom_place *place)
{
    double directions[6];
    std::snprintf(place->series, sizeof place->series, "%s", text(file, 0x0020, 0x000e).c_str());
    std::snprintf(place->description, sizeof place->description, "%s", text(file, 0x0008, 0x103e).c_str());
    place->series_number = whole_number(file, 0x0020, 0x0011);
    place->number = whole_number(file, 0x0020, 0x0013);
    place->has_position =
        numbers(file, 0x0020, 0x0032, place->position, 3) && numbers(file, 0x0020, 0x0037, directions, 6);
    if (!place->has_position) return;
    std::copy(directions, directions + 3, place->row);
    std::copy(directions + 3, directions + 6, place->column);
}

bool prepare(dicom_file *d, char why[256])
{
    using interpretation = gdcm::PhotometricInterpretation;
    gdcm::Reader reader;
    if (!read_header(&reader, d->path.c_str(), why)) return false;
    const size_t begin = reader.GetStreamCurrentPosition(); /* of the value of pixels */
    const gdcm::File &file = reader.GetFile();
    if (!has_image(file)) {
        say(why, "it holds no image");
        return false;
    }
    if (!describe(d, file, why)) return false;
    const gdcm::TransferSyntax &syntax = file.GetHeader().GetDataSetTransferSyntax();
    const interpretation colors = gdcm::ImageHelper::GetPhotometricInterpretationValue(file);
    const bool compressed = syntax.IsEncapsulated() || syntax == gdcm::TransferSyntax::DeflatedExplicitVRLittleEndian;
    const double all = static_cast<double>(d->stored_frame) * static_cast<double>(d->about.frames);
    d->is_ybr = colors == interpretation::YBR_FULL;
    d->is_planar = d->about.channels == 3 && gdcm::ImageHelper::GetPlanarConfigurationValue(file) == 1;
    /* Bytes of words in the other order, and colours by number, are left to GDCM. */
    const bool in_words = syntax == gdcm::TransferSyntax::ExplicitVRBigEndian && d->about.bytes == 1;
    const bool has_palette = colors == interpretation::PALETTE_COLOR && !d->is_bits;
    if (!compressed && colors != interpretation::YBR_FULL_422 && !has_palette && (!in_words || d->is_bits)) {
        if (!find_plain(d, syntax, begin, why)) return false;
    } else if (syntax.IsEncapsulated() && !find_fragments(d, begin, why)) {
        return false;
    } else if (syntax == gdcm::TransferSyntax::RLELossless && !has_palette && !d->is_bits) {
        if (!find_runs(d, why)) return false;
    } else if (d->about.channels > 1 || has_palette || in_words || all <= whole_most) {
        if (!read_whole(d, why)) return false;
    } else {
        d->region.SetFileName(d->path.c_str());
        if (!d->region.ReadInformation()) {
            say(why, "it is damaged");
            return false;
        }
    }
    if (d->about.channels == 1) describe_values(file, &d->about);
    if (!d->is_ybr || d->about.bytes == 1) return true;
    std::snprintf(why, 256, "its colours are YBR in samples of %d bits", 8 * d->about.bytes);
    return false;
}

/* The result of work, or the other one with a reason. GDCM throws at damage that it does not expect. */
template <typename Result, typename Work>
Result guarded(char why[256], Result failure, Work work)
{
    try {
        return work();
    } catch (const std::bad_alloc &) {
        say(why, "there is no memory, or it is damaged");
    } catch (const std::exception &e) {
        say(why, e.what());
    } catch (...) {
        say(why, "it is damaged");
    }
    return failure;
}

bool read_any(dicom_file *d, int64_t frame, char why[256])
{
    return d->plain      ? read_plain(d, frame, why)
           : d->has_runs ? read_runs(d, frame, why)
                         : d->whole || read_frame(d, frame, why);
}

void be_quiet()
{
    gdcm::Trace::DebugOff();
    gdcm::Trace::WarningOff();
    gdcm::Trace::ErrorOff();
}

dicom_found describe_file(const char *path, dicom_about *about, dicom_place *place, char why[256])
{
    gdcm::Reader reader;
    if (!read_header(&reader, path, why)) return DICOM_DAMAGED;
    const gdcm::File &file = reader.GetFile();
    if (!has_image(file)) return DICOM_OTHER;
    describe_place(file, place);
    dicom_file d;
    d.about.slope = 1;
    if (!describe(&d, file, why)) return DICOM_IMAGE;
    if (d.about.channels == 1) describe_values(file, &d.about);
    const auto colors = gdcm::ImageHelper::GetPhotometricInterpretationValue(file);
    if (colors == gdcm::PhotometricInterpretation::PALETTE_COLOR && !d.is_bits) d.about.channels = 3;
    *about = d.about;
    return DICOM_IMAGE;
}

} // namespace

extern "C" dicom_found dicom_decode_header(const char *path, dicom_about *about, dicom_place *place, char why[256])
{
    be_quiet();
    *about = {};
    *place = {};
    return guarded(why, DICOM_DAMAGED, [&] { return describe_file(path, about, place, why); });
}

extern "C" dicom_file *dicom_decode_open(const char *path, dicom_about *about, char why[256])
{
    be_quiet();
    return guarded(why, static_cast<dicom_file *>(nullptr), [&] {
        auto d = std::make_unique<dicom_file>();
        d->about.slope = 1;
        d->path = path;
        if (!prepare(d.get(), why)) return static_cast<dicom_file *>(nullptr);
        *about = d->about;
        return d.release();
    });
}

extern "C" void dicom_decode_close(dicom_file *d)
{
    delete d;
}

extern "C" const void *dicom_decode_frame(dicom_file *d, int64_t frame, char why[256])
{
    return guarded(why, static_cast<const void *>(nullptr), [&]() -> const void * {
        if (!read_any(d, frame, why)) return nullptr;
        const char *samples = d->samples.data() + (d->whole ? d->stored_frame * static_cast<size_t>(frame) : 0);
        if (!d->is_ybr || d->about.bytes != 1) return samples;
        d->colors.resize(d->stored_frame);
        to_rgb(samples, d->colors.data(), d->stored_frame / 3);
        return d->colors.data();
    });
}
