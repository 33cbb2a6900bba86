#include "modules/exr/decoder.h"

#include <ImfChannelList.h>
#include <ImfCompression.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfIO.h>
#include <ImfInputPart.h>
#include <ImfMultiPartInputFile.h>
#include <ImfPartType.h>
#include <ImfThreading.h>
#include <ImfTileDescription.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

namespace
{

class stream : public Imf::IStream
{
  public:
    explicit stream(const exr_source &from) : IStream("the file"), source(from), position(0) {}

    bool read(char to[], int size) override
    {
        if (size < 0 || source.read_at(source.user, position, to, static_cast<size_t>(size)) != size)
            throw std::runtime_error("it ends early");
        position += size;
        return position < source.size;
    }

    uint64_t tellg() override { return static_cast<uint64_t>(position); }
    void seekg(uint64_t to) override
    {
        if (to > static_cast<uint64_t>(source.size)) throw std::runtime_error("it ends early");
        position = static_cast<int64_t>(to);
    }

  private:
    exr_source source;
    int64_t position;
};

/* The library's messages begin with the file's name: remove it. */
void complain(const std::exception &error, char complaint[EXR_COMPLAINT_BYTES])
{
    const char *text = error.what(), *rest = text;
    for (const char *at = text; (at = std::strstr(at, "\". ")); rest = at)
        at += 3;
    std::snprintf(complaint, EXR_COMPLAINT_BYTES, "%s", *rest ? rest : text);
    complaint[std::strcspn(complaint, "\n")] = '\0';
    const size_t length = std::strlen(complaint);
    if (length > 0 && complaint[length - 1] == '.') complaint[length - 1] = '\0';
}

/* Scanlines per block. */
int32_t rows_together(Imf::Compression compression)
{
    switch (compression) {
    case Imf::NO_COMPRESSION:
    case Imf::RLE_COMPRESSION:
    case Imf::ZIPS_COMPRESSION:
        return 1;
    case Imf::ZIP_COMPRESSION:
    case Imf::PXR24_COMPRESSION:
        return 16;
    case Imf::PIZ_COMPRESSION:
    case Imf::B44_COMPRESSION:
    case Imf::B44A_COMPRESSION:
    case Imf::DWAA_COMPRESSION:
        return 32;
    default:
        return 256;
    }
}

} // namespace

struct exr_decoder {
    std::unique_ptr<stream> bytes;
    std::unique_ptr<Imf::MultiPartInputFile> file;
    std::unique_ptr<Imf::InputPart> input;
    int current; /* part of `input` */
};

exr_decoder *exr_decoder_open(const exr_source *source, int threads, char complaint[EXR_COMPLAINT_BYTES])
{
    try {
        if (Imf::globalThreadCount() < threads) Imf::setGlobalThreadCount(threads);
        auto d = std::make_unique<exr_decoder>();
        d->bytes = std::make_unique<stream>(*source);
        d->file = std::make_unique<Imf::MultiPartInputFile>(*d->bytes, threads, false);
        return d.release();
    } catch (const std::exception &error) {
        complain(error, complaint);
        return nullptr;
    }
}

void exr_decoder_close(exr_decoder *d)
{
    delete d;
}

int exr_decoder_parts(const exr_decoder *d)
{
    return d->file->parts();
}

exr_part exr_decoder_part(const exr_decoder *d, int part)
{
    const Imf::Header &header = d->file->header(part);
    const Imath::Box2i &window = header.dataWindow();
    exr_part about = {};
    about.deep = header.hasType() && !Imf::isImage(header.type());
    about.left = window.min.x;
    about.top = window.min.y;
    about.right = window.max.x;
    about.bottom = window.max.y;
    if (header.hasTileDescription()) {
        about.block_rows = static_cast<int32_t>(header.tileDescription().ySize);
        about.tile_width = static_cast<int32_t>(header.tileDescription().xSize);
    } else {
        about.block_rows = rows_together(header.compression());
    }
    for (auto channel = header.channels().begin(); channel != header.channels().end(); ++channel)
        about.channels++;
    return about;
}

void exr_decoder_channels(const exr_decoder *d, int part, exr_channel *channels)
{
    const Imf::ChannelList &list = d->file->header(part).channels();
    for (auto channel = list.begin(); channel != list.end(); ++channel)
        *channels++ = {channel.name(),
                       channel.channel().type == Imf::HALF    ? EXR_F16
                       : channel.channel().type == Imf::FLOAT ? EXR_F32
                                                              : EXR_U32,
                       channel.channel().xSampling, channel.channel().ySampling};
}

bool exr_decoder_read(exr_decoder *d, int part, int32_t first, int32_t last, const exr_plane *planes, int count,
                      char complaint[EXR_COMPLAINT_BYTES])
{
    try {
        if (d->current != part) d->input.reset();
        if (!d->input) d->input = std::make_unique<Imf::InputPart>(*d->file, part);
        d->current = part;
        std::vector<exr_channel> channels(static_cast<size_t>(exr_decoder_part(d, part).channels));
        exr_decoder_channels(d, part, channels.data());
        const Imath::Box2i &window = d->file->header(part).dataWindow();
        const Imath::Box2i rows({window.min.x, first}, {window.max.x, last});
        Imf::FrameBuffer buffer;
        for (int i = 0; i < count; i++) {
            const exr_channel &of = channels[static_cast<size_t>(planes[i].channel)];
            const Imf::PixelType type = of.type == EXR_F16 ? Imf::HALF : of.type == EXR_F32 ? Imf::FLOAT : Imf::UINT;
            buffer.insert(of.name, Imf::Slice::Make(type, planes[i].to, rows, of.type == EXR_F16 ? 2 : 4,
                                                    planes[i].pitch, of.step_x, of.step_y));
        }
        d->input->setFrameBuffer(buffer);
        d->input->readPixels(first, last);
        return true;
    } catch (const std::exception &error) {
        complain(error, complaint);
        return false;
    }
}
