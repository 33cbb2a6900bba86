#include "modules/dicom/source.h"

#include <zlib.h>

#include <algorithm>
#include <iterator>
#include <new>

#include "modules/dicom/header.h"

namespace dicom
{

namespace
{

const char deflated[] = "1.2.840.10008.1.2.1.99", plain[sizeof deflated] = "1.2.840.10008.1.2.1";

constexpr size_t most_meta = 4096; /* bytes at the beginning that contain the meta information */

/* The file with the data set, which follows the meta information, inflated; empty if it is damaged. */
std::string inflate_file(const std::string &stored)
{
    constexpr size_t length = 140; /* where the length of the meta information after it is stored */
    if (stored.size() < length + 4) return {};
    const auto *field = reinterpret_cast<const unsigned char *>(&stored[length]);
    const size_t begin = length + 4 + (field[0] | field[1] << 8 | field[2] << 16 | static_cast<size_t>(field[3]) << 24);
    const size_t name = stored.find(deflated);
    if (begin > stored.size() || name > begin) return {};
    std::string all = stored.substr(0, begin).replace(name, sizeof plain - 1, plain, sizeof plain - 1);
    z_stream z = {};
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK) return {};
    std::string piece(1 << 20, '\0');
    int status = Z_OK;
    size_t at = begin;
    while (status == Z_OK && (z.avail_in > 0 || at < stored.size())) {
        if (z.avail_in == 0) {
            z.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(&stored[at]));
            z.avail_in = static_cast<uInt>(std::min(stored.size() - at, piece.size()));
            at += z.avail_in;
        }
        z.next_out = reinterpret_cast<Bytef *>(piece.data());
        z.avail_out = static_cast<uInt>(piece.size());
        status = inflate(&z, Z_NO_FLUSH);
        all.append(piece, 0, piece.size() - z.avail_out);
    }
    inflateEnd(&z);
    return status == Z_STREAM_END ? all : std::string();
}

} // namespace

std::istream &source::in()
{
    return inflated ? static_cast<std::istream &>(memory) : file;
}

std::istream &source::rewound()
{
    in().clear();
    in().seekg(0);
    return in();
}

bool source::read(uint64_t at, char *to, size_t bytes)
{
    in().clear();
    in().seekg(static_cast<std::streamoff>(at));
    return static_cast<bool>(in().read(to, static_cast<std::streamsize>(bytes)));
}

uint64_t source::size()
{
    in().clear();
    in().seekg(0, std::ios::end);
    return static_cast<uint64_t>(in().tellg());
}

bool source::open(const char *path, gdcm::Reader *header, char why[256])
{
    const gdcm::Tag pixels(0x7fe0, 0x10), floats(0x7fe0, 8), doubles(0x7fe0, 9);
    char head[most_meta] = {};
    file.open(path, std::ios::binary);
    file.read(head, sizeof head);
    const std::string begins(head, static_cast<size_t>(file.gcount()));
    if (begins.find(deflated) != std::string::npos) {
        const std::string stored(std::istreambuf_iterator<char>(rewound()), {});
        memory.str(inflate_file(stored));
        inflated = true;
    }
    try {
        header->SetStream(rewound());
        if (header->ReadUpToTag(pixels, {floats, doubles, pixels})) return true;
    } catch (const std::bad_alloc &) { /* a length is larger than memory */
    }
    say(why, "its header is truncated or damaged");
    return false;
}

} // namespace dicom
