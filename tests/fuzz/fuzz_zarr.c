/* libFuzzer target for the Zarr reader: the text of the metadata, up to a NUL, and the bytes of every chunk. */
#define _GNU_SOURCE
#include "drain.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static char folder[] = "/tmp/fuzz_zarr_XXXXXX";

static void write_file(const char *name, const uint8_t *data, size_t size)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    require(file && fwrite(data, 1, size, file) == size, "a file can be written");
    fclose(file);
}

static void remove_folder(void)
{
    char command[PATH_MAX];
    snprintf(command, sizeof command, "rm -r %s", folder);
    require(system(command) == 0, "the folder can be removed");
}

static void make_folder(void)
{
    char path[PATH_MAX];
    if (strcmp(folder + sizeof folder - 7, "XXXXXX") != 0) return;
    require(mkdtemp(folder) != NULL, "a folder can be made");
    snprintf(path, sizeof path, "%s/c", folder);
    require(mkdir(path, 0700) == 0, "a folder can be made");
    snprintf(path, sizeof path, "%s/c/0", folder);
    require(mkdir(path, 0700) == 0, "a folder can be made");
    atexit(remove_folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const chunks[] = {"0", "0.0", "c/1", "c/0/0", "c/0/1"};
    const uint8_t *end = memchr(data, 0, size);
    const size_t text = end ? (size_t)(end - data) : size, rest = end ? size - text - 1 : 0;
    fault f = {0};
    char path[PATH_MAX];
    make_folder();
    write_file("zarr.json", data, text);
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++)
        write_file(chunks[i], rest ? data + text + 1 : data, rest);
    snprintf(path, sizeof path, "%s/zarr.json", folder);
    input *in = input_open(path, &f);
    require(in != NULL, "the metadata open");
    reader *r = reader_open_as(&reader_zarr, in, &(read_options){.header = -1}, &f);
    require(r || (f.status != EXIT_OK && f.text[0]), "a failure has a message");
    if (!r) return 0;
    drain_reader(r);
    reader_close(r);
    return 0;
}
