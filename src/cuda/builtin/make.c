/* Make the kernels of everyday problems: fill each problem as an application would, on a described GPU of each
 * architecture, note the source of every kernel that a strategy asks for, and compile these, in as many processes as
 * there are CPUs.
 *
 *     make_builtin FATBINARY DIRECTORY ARCHITECTURE…
 *
 * writes DIRECTORY/builtin.c and DIRECTORY/builtin.images. FATBINARY: the program of the CUDA toolkit, which compresses
 * code. ARCHITECTURE: a compute capability times ten. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/builtin/described_gpus.h"
#include "cuda/builtin/problems.h"
#include "cuda/builtin/sources.h"
#include "cuda/jit/builtin.h"
#include "cuda/jit/nvrtc.h"

extern char **environ;

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "make_builtin: %s: %s\n", what, why);
    exit(1);
}

/* ---- Compiling ---- */

static bool never(void)
{
    return false;
}

/* A text, for free(). */
__attribute__((format(printf, 1, 2))) static char *text_of(const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) fail("make_builtin", "out of memory");
    va_end(arguments);
    return text;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) fail(path, strerror(errno));
}

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) fail(path, strerror(errno));
    const long end = ftell(file);
    char *bytes = malloc((size_t)end + 1);
    rewind(file);
    if (!bytes || fread(bytes, 1, (size_t)end, file) != (size_t)end) fail(path, "it cannot be read");
    fclose(file);
    *size = (size_t)end;
    return bytes;
}

/* ---- What a kernel needs ---- */

/* The most registers of a thread, by the attributes of the cubin's kernels: entries of a format, an attribute, and a
 * size or a value; of this attribute, a symbol and its number of registers. */
static uint32_t registers_of(const char *attributes, size_t size)
{
    enum { HEAD = 4, WITH_BYTES = 4, REGISTERS = 0x2f };
    uint32_t most = 0;
    for (size_t at = 0; at + HEAD <= size;) {
        uint16_t bytes;
        uint32_t values[2] = {0};
        memcpy(&bytes, attributes + at + 2, sizeof bytes);
        const bool has_bytes = attributes[at] == WITH_BYTES;
        if (has_bytes && attributes[at + 1] == REGISTERS && at + HEAD + sizeof values <= size)
            memcpy(values, attributes + at + HEAD, sizeof values);
        if (values[1] > most) most = values[1];
        at += has_bytes ? (size_t)HEAD + bytes : (size_t)HEAD;
    }
    return most;
}

/* A block must fit a multiprocessor of any GPU: its registers, which come in eights, and its static shared memory. */
static void check_cubin(const histo_noted_source *noted, const char *cubin)
{
    enum { MOST_REGISTERS = 1 << 16, MOST_SHARED = 48 << 10, EIGHT = 8 };
    static const char shared_name[] = ".nv.shared._Z";
    const char *threads = strstr(noted->source.definitions, "threads = ");
    const uint32_t block = threads ? (uint32_t)atoi(threads + strlen("threads = ")) : 0;
    uint32_t registers = 0;
    Elf64_Ehdr header;
    memcpy(&header, cubin, sizeof header);
    const Elf64_Shdr *section = (const Elf64_Shdr *)(const void *)(cubin + header.e_shoff);
    const char *names = cubin + section[header.e_shstrndx].sh_offset;
    for (int i = 0; i < header.e_shnum; i++) {
        const char *name = names + section[i].sh_name;
        if (strcmp(name, ".nv.info") == 0) registers = registers_of(cubin + section[i].sh_offset, section[i].sh_size);
        if (strncmp(name, shared_name, sizeof shared_name - 1) == 0 && section[i].sh_size > MOST_SHARED)
            fail(noted->source.kernel, "its blocks have too much shared memory");
    }
    if (!block || !registers) fail(noted->source.kernel, "its threads and registers are not known");
    if ((registers + EIGHT - 1) / EIGHT * EIGHT * block > MOST_REGISTERS)
        fail(noted->source.kernel, "its blocks have too many registers");
}

/* ---- Images ---- */

static void compress(char *fatbinary, const char *cubin, const char *fatbin, int architecture)
{
    char *create = text_of("--create=%s", fatbin);
    char *image = text_of("--image3=kind=elf,sm=%d,file=%s", architecture, cubin);
    char *arguments[] = {fatbinary, "-64", "--compress-all", "--compress-mode=size", create, image, NULL};
    pid_t pid;
    int status;
    if (posix_spawn(&pid, fatbinary, NULL, NULL, arguments, environ) != 0 || waitpid(pid, &status, 0) != pid ||
        status != 0)
        fail(fatbinary, "it does not compress a kernel");
    free(create);
    free(image);
}

/* Write the image of a source, as histo_kernel_image has it, with its code compressed. */
static void make_image(char *fatbinary, const histo_noted_source *noted, const char *path)
{
    char *log, *cubin = text_of("%s.cubin", path), *fatbin = text_of("%s.fatbin", path);
    histo_kernel_image image;
    const histo_kernel_source *source = &noted->source;
    char *text = text_of("%s\n%s\n", source->includes, source->definitions);
    if (!histo_nvrtc_compile(text, source->kernel, noted->architecture, never, &image, &log))
        fail(source->kernel, log ? log : "it is not compiled");
    if (memcmp(image.bytes + image.code_at, "\177ELF", 4) != 0)
        fail(source->kernel, "this NVRTC does not know the architecture");
    check_cubin(noted, image.bytes + image.code_at);
    write_file(cubin, image.bytes + image.code_at, image.size - image.code_at);
    compress(fatbinary, cubin, fatbin, noted->architecture);
    size_t size;
    char *compressed = read_file(fatbin, &size), *all = calloc(1, image.code_at + size);
    if (!all) fail(path, "out of memory");
    memcpy(all, image.bytes, image.code_at);
    memcpy(all + image.code_at, compressed, size);
    write_file(path, all, image.code_at + size);
    unlink(cubin);
    unlink(fatbin);
    char *const texts[] = {all, compressed, image.bytes, text, log, cubin, fatbin};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
}

static char *path_of(const char *directory, int index)
{
    return text_of("%s/%d.image", directory, index);
}

/* NVRTC compiles one kernel at a time in each process. */
static void compile_all(char *fatbinary, const char *directory)
{
    cpu_set_t cpus;
    const int jobs = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
    for (int j = 0; j < jobs; j++) {
        const pid_t pid = fork();
        if (pid < 0) fail("fork", strerror(errno));
        if (pid > 0) continue;
        for (int i = j; i < histo_noted_count(); i += jobs) {
            char *path = path_of(directory, i);
            make_image(fatbinary, histo_noted_at(i), path);
            free(path);
        }
        exit(0);
    }
    bool failed = false;
    for (int j = 0, status; j < jobs; j++)
        failed |= wait(&status) < 0 || status != 0;
    if (failed) exit(1);
}

/* ---- The table ---- */

/* Append an image, and return its size; *at: where it is, and then where the next one will be. */
static size_t add_image(FILE *images, const char *path, size_t *at)
{
    static const char zeros[HISTO_BUILTIN_ALIGNMENT];
    size_t size;
    char *image = read_file(path, &size);
    const size_t padding = (HISTO_BUILTIN_ALIGNMENT - size % HISTO_BUILTIN_ALIGNMENT) % HISTO_BUILTIN_ALIGNMENT;
    if (fwrite(image, 1, size, images) != size || fwrite(zeros, 1, padding, images) != padding)
        fail(path, strerror(errno));
    free(image);
    unlink(path);
    *at += size + padding;
    return size;
}

static void write_table(const char *directory, int architectures, const int *architecture)
{
    char *path = text_of("%s/builtin.c", directory), *images_path = text_of("%s/builtin.images", directory);
    FILE *table = fopen(path, "w"), *images = fopen(images_path, "wb");
    if (!table || !images) fail(directory, strerror(errno));
    fprintf(table,
            "#include \"cuda/jit/builtin.h\"\n\n"
            "__asm__(\".section .rodata\\n.balign %d\\n.globl histo_builtin_images\\n\"\n"
            "        \".hidden histo_builtin_images\\nhisto_builtin_images:\\n.incbin \\\"%s\\\"\\n.previous\");\n\n"
            "const int histo_builtin_architectures[] = {",
            HISTO_BUILTIN_ALIGNMENT, images_path);
    for (int i = 0; i < architectures; i++)
        fprintf(table, "%d, ", architecture[i]);
    fprintf(table, "0};\nconst int histo_builtin_count = %d;\nconst histo_builtin histo_builtins[] = {\n",
            histo_noted_count());
    size_t at = 0;
    for (int i = 0; i < histo_noted_count(); i++) {
        const histo_noted_source *noted = histo_noted_at(i);
        uint64_t digest[2];
        char *image = path_of(directory, i);
        histo_builtin_digest(&noted->source, digest);
        const size_t begin = at, size = add_image(images, image, &at);
        fprintf(table, "    {{0x%016llxu, 0x%016llxu}, %d, %zu, %zu},\n", (unsigned long long)digest[0],
                (unsigned long long)digest[1], noted->architecture, begin, size);
        free(image);
    }
    fprintf(table, "};\n");
    if (fclose(table) != 0 || fclose(images) != 0) fail(directory, strerror(errno));
    free(path);
    free(images_path);
    printf("%d kernels of everyday problems: %zu bytes\n", histo_noted_count(), at);
}

int main(int argc, char **argv)
{
    enum { FIRST = 3, MOST = 16 };
    int architectures[MOST], count = 0;
    if (argc <= FIRST || argc > FIRST + MOST) fail("usage", "make_builtin FATBINARY DIRECTORY ARCHITECTURE…");
    for (int i = FIRST; i < argc; i++)
        if (described_gpu_of(atoi(argv[i])))
            architectures[count++] = atoi(argv[i]);
        else
            printf("make_builtin: no GPU of architecture %s is described, and so nothing is built in for it\n",
                   argv[i]);
    histo_note_sources(count, architectures);
    const char *why = histo_nvrtc_unavailable();
    if (why) fail("NVRTC", why);
    compile_all(argv[1], argv[2]);
    write_table(argv[2], count, architectures);
    return 0;
}
