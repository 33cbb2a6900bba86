#include "modules/dicom/decode.h"

#include <gdcmBoxRegion.h>
#include <gdcmImageChangePlanarConfiguration.h>
#include <gdcmImageHelper.h>
#include <gdcmImageReader.h>
#include <gdcmImageRegionReader.h>
#include <gdcmTrace.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "modules/dicom/header.h"
#include "modules/dicom/source.h"

namespace
{

using dicom::say;

constexpr double whole_most = 1 << 28; /* bytes of frames that are decoded at once; larger files: frame by frame */

} // namespace

/* A range of bytes of the file. */
struct span {
    uint64_t at, bytes;
};

struct dicom_file {
    dicom_about about = {};
    dicom::meanings meanings;
    std::string path;
    bool whole = false, plain = false, has_runs = false, is_ybr = false, is_bits = false, is_planar = false,
         is_swapped = false, in_words = false, has_palette = false;
    dicom::source in;
    uint64_t begin = 0;
    std::vector<char> packed;
    std::vector<span> fragments;        /* of compressed pixels, in the file */
    std::vector<size_t> first_of_frame; /* the number of its first fragment */
    gdcm::ImageRegionReader region;
    std::vector<char> samples, colors;
    size_t stored_frame = 0; /* bytes of a decoded frame, before its palette is applied */
};

namespace
{

/* Find how uncompressed pixels are stored, and check that all of them are in the file. */
bool find_plain(dicom_file *d, const gdcm::TransferSyntax &syntax, char why[256])
{
    const bool big = syntax == gdcm::TransferSyntax::ExplicitVRBigEndian;
    const uint64_t size = d->in.size();
    const uint64_t frames = static_cast<uint64_t>(d->about.frames);
    const uint64_t need = d->is_bits ? (d->stored_frame * frames + 7) / 8 : d->stored_frame * frames;
    char type[2] = {};
    d->is_swapped = big && d->about.bytes > 1;
    d->in_words = big && d->about.bytes == 1 && d->begin > 8 && d->in.read(d->begin - 8, type, 2) &&
                  std::memcmp(type, "OW", 2) == 0;
    d->plain = true;
    if (size >= d->begin && size - d->begin >= need) return true;
    say(why, "it is truncated: %llu of the %llu bytes of its pixels are there",
        static_cast<unsigned long long>(size > d->begin ? size - d->begin : 0), static_cast<unsigned long long>(need));
    return false;
}

void swap_bytes(std::vector<char> &samples, int bytes)
{
    for (size_t i = 0; i + static_cast<size_t>(bytes) <= samples.size(); i += static_cast<size_t>(bytes))
        std::reverse(samples.begin() + static_cast<std::ptrdiff_t>(i),
                     samples.begin() + static_cast<std::ptrdiff_t>(i) + bytes);
}

/* Read bytes of uncompressed pixels. If they are stored in byte-swapped words, swap the bytes of each word. */
bool read_bytes(dicom_file *d, size_t from, size_t bytes, std::vector<char> &to)
{
    if (!d->in_words) {
        to.resize(bytes);
        return d->in.read(d->begin + from, to.data(), bytes);
    }
    const size_t odd = from % 2;
    to.resize((odd + bytes + 1) / 2 * 2);
    if (!d->in.read(d->begin + from - odd, to.data(), to.size())) return false;
    swap_bytes(to, 2);
    to.erase(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(odd));
    to.resize(bytes);
    return true;
}

bool read_plain(dicom_file *d, int64_t frame, char why[256])
{
    const uint64_t first = d->stored_frame * static_cast<uint64_t>(frame);
    d->samples.resize(d->stored_frame);
    const size_t from = d->is_bits ? first / 8 : first;
    const size_t bytes = d->is_bits ? (first + d->stored_frame + 7) / 8 - from : d->stored_frame;
    std::vector<char> &to = d->is_bits || d->is_planar ? d->packed : d->samples;
    if (!read_bytes(d, from, bytes, to)) {
        say(why, "its pixels are truncated");
        return false;
    }
    if (d->is_swapped) swap_bytes(to, d->about.bytes);
    for (size_t i = 0; d->is_bits && i < d->stored_frame; i++) { /* the lowest bit of a byte is the first */
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

/* Replace indices by the palette's colours, which have as many bits per channel. */
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
    d->about.shift = 0;
    d->stored_frame *= 3;
    return true;
}

uint64_t little(const char *at)
{
    const auto *b = reinterpret_cast<const unsigned char *>(at);
    return b[0] | b[1] << 8 | b[2] << 16 | static_cast<uint64_t>(b[3]) << 24;
}

/* Find the fragments of compressed pixels, the first of which is the table of frames. Fails if the last one is
 * truncated, since GDCM would fill in missing bytes. */
bool find_fragments(dicom_file *d, uint64_t at, char why[256])
{
    const uint64_t size = d->in.size();
    char item[8]; /* its tag and length, little-endian */
    while (at + sizeof item <= size) {
        if (!d->in.read(at, item, sizeof item)) break;
        if (std::memcmp(item, "\xfe\xff\0\xe0", 4) != 0) return true; /* the delimiter after the last fragment */
        d->fragments.push_back({at + sizeof item, little(item + 4)});
        at += sizeof item + d->fragments.back().bytes;
    }
    if (at <= size) return true;
    say(why, "it is truncated within its compressed pixels");
    return false;
}

/* ---- Run-length encoding: GDCM decodes 16-bit colours wrongly, and crashes on 32-bit ones ---- */

bool read_span(dicom_file *d, const span &from, std::vector<char> &to)
{
    const size_t before = to.size();
    to.resize(before + from.bytes);
    return d->in.read(from.at, to.data() + before, from.bytes);
}

/* Find the first fragment of each frame. */
bool find_runs(dicom_file *d, char why[256])
{
    const auto frames = static_cast<size_t>(d->about.frames);
    std::vector<char> table; /* byte offsets of the frames after it; may be empty */
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

/* Unpack the runs of one byte of all pixels. Each byte of a pixel has its own, the highest first. to: this byte of the
 * first pixel. */
bool unpack_run(const char *from, const char *end, char *to, size_t pixels, size_t step)
{
    for (size_t i = 0; i < pixels;) {
        if (from == end) return false;
        const auto head = static_cast<unsigned char>(*from++);
        if (head == 128) continue; /* no operation */
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
    constexpr size_t header = 64; /* the number of byte planes, and 15 offsets */
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
    if (!good) say(why, "the run lengths of frame %lld are truncated or damaged", static_cast<long long>(frame));
    return good;
}

/* Take the format that the decoder reports, which is more reliable than the header's. */
bool take_format(const gdcm::PixelFormat &format, dicom_about *about, char why[256])
{
    const int bits = format.GetBitsAllocated(), stored = format.GetBitsStored();
    if (bits != 8 * about->bytes) {
        say(why, "its compressed pixels have samples of %d bits, and its header says %d", bits, 8 * about->bytes);
        return false;
    }
    about->stored = stored < 1 || stored > bits ? bits : stored;
    about->is_signed = format.GetPixelRepresentation() == 1;
    return true;
}

/* Decode all frames at once. */
bool read_whole(dicom_file *d, char why[256])
{
    gdcm::ImageReader reader;
    reader.SetStream(d->in.rewound());
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
    if (!take_format(image->GetPixelFormat(), &d->about, why)) return false;
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
    say(why, "frame %u is truncated or damaged", z);
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

/* Whether the value of this element of group 7fe0 begins here, after its tag, perhaps its type, and its length. */
bool begins(dicom::source *in, uint64_t at, char element)
{
    const char little_tag[] = {'\xe0', '\x7f', element, 0}, big_tag[] = {'\x7f', '\xe0', 0, element};
    char head[12];
    if (at < sizeof head || !in->read(at - sizeof head, head, sizeof head)) return false;
    return std::memcmp(head, little_tag, 4) == 0 || std::memcmp(head, big_tag, 4) == 0 ||
           std::memcmp(head + 4, little_tag, 4) == 0;
}

/* Find floats, which a file may have instead of integer pixels. Returns their bits, or 0 if there are none. */
int find_floats(dicom::source *in, size_t *begin)
{
    const gdcm::Tag floats(0x7fe0, 8), doubles(0x7fe0, 9), pixels(0x7fe0, 0x10);
    for (const gdcm::Tag &tag : {floats, doubles}) {
        gdcm::Reader reader;
        reader.SetStream(in->rewound());
        if (!reader.ReadUpToTag(tag, {floats, doubles, pixels})) return 0;
        *begin = reader.GetStreamCurrentPosition();
        if (begins(in, *begin, static_cast<char>(tag.GetElement()))) return tag == floats ? 32 : 64;
    }
    return 0;
}

/* Read the header: the size of the image, and the type of its samples. */
bool describe(dicom_file *d, gdcm::Reader *reader, int *float_bits, char why[256])
{
    const gdcm::File &file = reader->GetFile();
    d->begin = reader->GetStreamCurrentPosition();                                   /* where the pixels begin */
    const bool has_type = file.GetDataSet().FindDataElement(gdcm::Tag(0x28, 0x103)); /* present for all integers */
    *float_bits = has_type ? 0 : find_floats(&d->in, &d->begin);
    if (!dicom::describe_samples(file, *float_bits, &d->about, why)) return false;
    d->is_bits =
        !*float_bits && d->about.stored == 1 && gdcm::ImageHelper::GetPixelFormatValue(file).GetBitsAllocated() == 1;
    d->stored_frame = static_cast<size_t>(d->about.columns) * static_cast<size_t>(d->about.rows) *
                      static_cast<size_t>(d->about.channels * d->about.bytes);
    const auto colors = gdcm::ImageHelper::GetPhotometricInterpretationValue(file);
    d->has_palette = colors == gdcm::PhotometricInterpretation::PALETTE_COLOR && !d->is_bits;
    return true;
}

/* Prepare to read the pixels, depending on how they are stored. */
bool open_pixels(dicom_file *d, const gdcm::File &file, bool floats, char why[256])
{
    using interpretation = gdcm::PhotometricInterpretation;
    const gdcm::TransferSyntax &syntax = file.GetHeader().GetDataSetTransferSyntax();
    const interpretation colors = gdcm::ImageHelper::GetPhotometricInterpretationValue(file);
    const bool compressed = syntax.IsEncapsulated();
    const double all = static_cast<double>(d->stored_frame) * static_cast<double>(d->about.frames);
    d->is_ybr = colors == interpretation::YBR_FULL;
    d->is_planar = d->about.channels == 3 && gdcm::ImageHelper::GetPlanarConfigurationValue(file) == 1;
    if (floats && compressed) {
        say(why, "its floats are compressed");
        return false;
    }
    if (!compressed && colors != interpretation::YBR_FULL_422 && !d->has_palette) return find_plain(d, syntax, why);
    if (compressed && !find_fragments(d, d->begin, why)) return false;
    if (syntax == gdcm::TransferSyntax::RLELossless && !d->has_palette && !d->is_bits) return find_runs(d, why);
    if (d->about.shift > 0) {
        say(why, "the highest bit of its compressed samples is %d of %d", d->about.shift + d->about.stored - 1,
            d->about.stored);
        return false;
    }
    if (d->about.channels > 1 || d->has_palette || all <= whole_most) return read_whole(d, why);
    d->region.SetFileName(d->path.c_str());
    if (d->region.ReadInformation()) return true;
    say(why, "it is damaged");
    return false;
}

bool prepare(dicom_file *d, const dicom_wishes &wishes, dicom_place *place, char why[256])
{
    gdcm::Reader reader;
    int float_bits;
    if (!d->in.open(d->path.c_str(), &reader, why)) return false;
    if (!dicom::has_image(reader.GetFile())) {
        say(why, "it holds no image");
        return false;
    }
    if (!describe(d, &reader, &float_bits, why) || !open_pixels(d, reader.GetFile(), float_bits > 0, why) ||
        !dicom::describe_values(reader.GetFile(), wishes, &d->about, &d->meanings, why))
        return false;
    if (place) dicom::describe_place(reader.GetFile(), place);
    if (!d->is_ybr || d->about.bytes == 1) return true;
    say(why, "its colours are YBR in samples of %d bits", 8 * d->about.bytes);
    return false;
}

/* The result of work, or `failure` with a reason: GDCM throws exceptions for damage that it does not expect. */
template <typename Result, typename Work>
Result guarded(char why[256], Result failure, Work work)
{
    try {
        return work();
    } catch (const std::bad_alloc &) {
        say(why, "there is no memory, or it is damaged");
    } catch (const std::exception &e) {
        say(why, "%s", e.what());
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

dicom_found describe_file(const char *path, const dicom_wishes &wishes, dicom_about *about, dicom_place *place,
                          char why[256])
{
    gdcm::Reader reader;
    dicom_file d;
    int float_bits;
    if (!d.in.open(path, &reader, why)) return DICOM_DAMAGED;
    if (!dicom::has_image(reader.GetFile())) return DICOM_OTHER;
    dicom::describe_place(reader.GetFile(), place);
    if (!describe(&d, &reader, &float_bits, why)) return DICOM_IMAGE;
    if (d.has_palette) d.about.channels = 3;
    if (dicom::describe_values(reader.GetFile(), wishes, &d.about, &d.meanings, why)) *about = d.about;
    return DICOM_IMAGE;
}

} // namespace

extern "C" dicom_found dicom_decode_header(const char *path, const dicom_wishes *wishes, dicom_about *about,
                                           dicom_place *place, char why[256])
{
    be_quiet();
    *about = {};
    *place = {};
    return guarded(why, DICOM_DAMAGED, [&] { return describe_file(path, *wishes, about, place, why); });
}

extern "C" dicom_file *dicom_decode_open(const char *path, const dicom_wishes *wishes, dicom_about *about,
                                         dicom_place *place, char why[256])
{
    be_quiet();
    return guarded(why, static_cast<dicom_file *>(nullptr), [&] {
        auto d = std::make_unique<dicom_file>();
        d->path = path;
        if (!prepare(d.get(), *wishes, place, why)) return static_cast<dicom_file *>(nullptr);
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

extern "C" const dicom_meaning *dicom_decode_meaning(const dicom_file *d, int64_t frame)
{
    const auto &frames = d->meanings.frames;
    return &frames[frames.size() > 1 ? static_cast<size_t>(frame) : 0];
}
