/* libFuzzer target for `histo survey --merge`: any bytes are either surveys that are merged, or fail with a sentence.
 * They are also tried with a corrected checksum, to reach the code behind the check. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"
#include "count/axes/surveys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static void merge(const char *data, size_t size)
{
    static FILE *nowhere;
    char path[64];
    const char *const files[] = {path};
    bool again;
    fault f = {0};
    const int descriptor = memfd_create("survey", 0);
    if (!nowhere) nowhere = fopen("/dev/null", "w");
    require(nowhere && descriptor >= 0 && write(descriptor, data, size) == (ssize_t)size, "there is a file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    const int failed = surveys_merge(files, 1, nowhere, nowhere, &again, &f);
    require(!failed || (f.status == EXIT_DATA && f.text[0]), "a failure has a sentence");
    close(descriptor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { CHECKSUM_BYTES = 4 };
    char *sealed = malloc(size + 1);
    require(sealed, "memory for a copy");
    memcpy(sealed, data, size);
    merge(sealed, size);
    const uint32_t sum = text_checksum(sealed, size < CHECKSUM_BYTES ? 0 : size - CHECKSUM_BYTES);
    for (size_t i = 0; i < CHECKSUM_BYTES && size >= CHECKSUM_BYTES; i++)
        sealed[size - CHECKSUM_BYTES + i] = (char)(unsigned char)(sum >> 8 * i);
    merge(sealed, size);
    free(sealed);
    return 0;
}
