/* Video files, decoded by ffmpeg: a process that writes the frames of the first video stream as YUV4MPEG2, unscaled,
 * each once, in that container's pixel format nearest to the file's. Its output is read like a y4m file. */
#include <string.h>

#include "base/process/child.h"
#include "input/readers/readers.h"

/* The pixel formats of YUV4MPEG2, with ffmpeg's extensions. */
static const char formats[] =
    "format=gray|gray9le|gray10le|gray12le|gray16le|yuv411p|yuv420p|yuvj420p|yuv422p|yuvj422p|yuv444p|yuvj444p|"
    "yuv420p9le|yuv422p9le|yuv444p9le|yuv420p10le|yuv422p10le|yuv444p10le|yuv420p12le|yuv422p12le|yuv444p12le|"
    "yuv420p14le|yuv422p14le|yuv444p14le|yuv420p16le|yuv422p16le|yuv444p16le";

/* The file is its standard input, which is seekable. */
static const char *const decode[] = {"ffmpeg",       "-v",        "error",
                                     "-nostdin",     "-xerror",   "-protocol_whitelist",
                                     "file,pipe",    "-i",        "file:/dev/stdin",
                                     "-map",         "0:V:0",     "-vf",
                                     formats,        "-fps_mode", "passthrough",
                                     "-strict",      "-1",        "-f",
                                     "yuv4mpegpipe", "pipe:1",    NULL};

/* Whether the data consist of packets of an MPEG transport stream. They have 188 bytes; on discs, a timestamp of 4
 * bytes precedes each. */
static bool has_packets(const unsigned char *head, size_t size, size_t first, size_t step)
{
    for (int i = 0; i < 4; i++, first += step)
        if (first >= size || head[first] != 0x47) return false;
    return true;
}

bool video_recognise(const unsigned char *head, size_t size, const char *path)
{
    static const struct {
        size_t at, length;
        const char *bytes;
    } signatures[] = {
        {4, 4, "ftyp"},                             /* MP4, MOV, 3GP */
        {0, 4, "\x1a\x45\xdf\xa3"},                 /* Matroska, WebM */
        {8, 4, "AVI "},                             /* in RIFF */
        {0, 4, "FLV\1"},                            /* Flash */
        {0, 8, "\x30\x26\xb2\x75\x8e\x66\xcf\x11"}, /* ASF, WMV */
        {0, 4, "\0\0\1\xba"},                       /* MPEG program streams */
        {0, 4, "\0\0\1\xb3"},                       /* MPEG-1 and -2 */
        {0, 4, "\x06\x0e\x2b\x34"},                 /* MXF */
        {0, 4, "OggS"},
        {0, 4, "DKIF"}, /* IVF */
    };
    (void)path;
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
        if (size >= signatures[i].at + signatures[i].length &&
            memcmp(head + signatures[i].at, signatures[i].bytes, signatures[i].length) == 0)
            return true;
    /* QuickTime without ftyp; the length before it is not text */
    if (size >= 8 && head[0] < ' ' &&
        (memcmp(head + 4, "moov", 4) == 0 || memcmp(head + 4, "mdat", 4) == 0 || memcmp(head + 4, "wide", 4) == 0))
        return true;
    return has_packets(head, size, 0, 188) || has_packets(head, size, 4, 192);
}

reader *video_open(input *in, const read_options *options, fault *f)
{
    const char *path = input_path(in, f);
    child *c = path ? child_create(decode, path) : NULL;
    if (path && !c) fault_set(f, EXIT_DATA, "%s: out of memory", input_name(in));
    return c && input_decode_by(in, c, f) == 0 ? reader_y4m.open(in, options, f) : NULL;
}
