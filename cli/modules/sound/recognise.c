/* Recognises sound; part of the command, without the module, which has the reader. */
#include <string.h>

#include "input/readers/readers.h"

bool sound_recognise(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    if (size < 40) return false;
    const unsigned char *kind = head + 8;
    if (memcmp(head, "RIFF", 4) == 0 || memcmp(head, "RF64", 4) == 0) return memcmp(kind, "WAVE", 4) == 0;
    if (memcmp(head, "FORM", 4) == 0) return memcmp(kind, "AIFF", 4) == 0 || memcmp(kind, "AIFC", 4) == 0;
    if (memcmp(head, "OggS", 4) == 0)
        return memcmp(head + 28, "OpusHead", 8) == 0 || memcmp(head + 29, "vorbis", 6) == 0 ||
               memcmp(head + 29, "FLAC", 4) == 0;
    if (memcmp(head, "ID3", 3) == 0) return head[3] < 5; /* MP3, after tags or with a frame header */
    if (head[0] == 0xff && (head[1] & 0xe6) == 0xe2) return head[2] >> 4 < 15 && (head[2] & 0x0c) != 0x0c;
    return memcmp(head, "fLaC", 4) == 0 || memcmp(head, ".snd", 4) == 0 || memcmp(head, "caff", 4) == 0 ||
           memcmp(head, "riff\x2e\x91\xcf\x11", 8) == 0;
}
