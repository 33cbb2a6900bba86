/* Applications by the command: a file in, a file out, and the CPU time of the process. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "bench/apps/apps_steps.h"

extern char **environ;

enum { MOST_PATH = 200 };

/* Files in a directory of their own. */
typedef struct files {
    char program[PATH_MAX], folder[MOST_PATH];
    char in[MOST_PATH + 16], out[MOST_PATH + 16], words[2 * MOST_PATH + 40]; /* words: both, for peers */
} files;

static void end(apps_job *job)
{
    files *f = job->state;
    if (!f) return;
    unlink(f->in);
    unlink(f->out);
    rmdir(f->folder);
    free(f);
}

/* The command is next to this program. */
static histo_status find_program(files *f)
{
    char self[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0) return histo_fail(HISTO_UNSUPPORTED, "the path of this program is not known");
    self[length] = '\0';
    const int written = snprintf(f->program, sizeof f->program, "%s/histo", dirname(self));
    if (written >= (int)sizeof f->program || access(f->program, X_OK) != 0)
        return histo_fail(HISTO_UNSUPPORTED, "there is no command histo next to this program");
    return HISTO_OK;
}

static histo_status begin_files(apps_job *job, const char *suffix)
{
    const char *base = getenv("TMPDIR");
    files *f = job->state = calloc(1, sizeof *f);
    if (!f) return histo_fail_memory(sizeof *f, "an application");
    if (!base || !*base) base = "/tmp";
    if (snprintf(f->folder, sizeof f->folder, "%s/histo-XXXXXX", base) >= MOST_PATH || !mkdtemp(f->folder))
        return histo_fail(HISTO_IO, "no directory can be made in %s", base);
    snprintf(f->in, sizeof f->in, "%s/in.%s", f->folder, suffix);
    snprintf(f->out, sizeof f->out, "%s/out.%s", f->folder, suffix);
    snprintf(f->words, sizeof f->words, "%s %s", f->in, f->out);
    job->words = f->words;
    return find_program(f);
}

/* Runs `histo equalize IN OUT`; the time of its process. 16 bits become 0 ... 65535, as in other libraries. */
static histo_status equalize(apps_job *job, const char *out, double *us)
{
    files *f = job->state;
    char threads[16];
    char *words[11] = {f->program, "equalize", f->in, (char *)out, "--device", "cpu"};
    int count = 6;
    pid_t child;
    int status = -1;
    struct rusage used;
    snprintf(threads, sizeof threads, "%d", job->threads);
    if (job->threads) words[count++] = "--threads", words[count++] = threads;
    if (job->inputs[0].dtype == HISTO_U16) words[count++] = "--bits", words[count++] = "16";
    const double begun = histo_now_us();
    if (posix_spawn(&child, f->program, NULL, NULL, words, environ) != 0 || wait4(child, &status, 0, &used) != child ||
        status != 0)
        return histo_fail(HISTO_IO, "%s equalize failed", f->program);
    const double cpu = 1e6 * (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    *us = job->threads == 1 ? cpu : histo_now_us() - begun;
    return HISTO_OK;
}

static histo_status time_equalize(apps_job *job, double *us)
{
    return equalize(job, ((files *)job->state)->out, us);
}

/* Once more, as peers write the same file: the last frame becomes the result. TIFF goes into a file that is more easily
 * read; the luma of a video is followed by its chroma. */
static histo_status result(apps_job *job)
{
    const files *f = job->state;
    const char *suffix = strrchr(f->out, '.') + 1;
    const size_t bytes = apps_bytes_of(&job->result), rest = strcmp(suffix, "y4m") == 0 ? bytes / 2 : 0;
    char path[MOST_PATH + 16];
    double us;
    snprintf(path, sizeof path, "%s/ours.%s", f->folder, strcmp(suffix, "tif") == 0 ? "npy" : suffix);
    histo_status status = equalize(job, path, &us);
    if (status != HISTO_OK) return status;
    FILE *from = fopen(path, "rb");
    const bool bad = !from || fseek(from, -(long)(bytes + rest), SEEK_END) != 0 ||
                     fread((void *)job->result.data, 1, bytes, from) != bytes;
    if (from) fclose(from);
    unlink(path);
    return bad ? histo_fail(HISTO_IO, "%s cannot be read", path) : HISTO_OK;
}

/* ---- Inputs ---- */

static void put_pgm(FILE *to, const apps_job *job)
{
    const histo_view *image = &job->inputs[0];
    fprintf(to, "P5\n%lld %lld\n255\n", (long long)image->shape[1], (long long)image->shape[0]);
    fwrite(image->data, 1, apps_bytes_of(image), to);
}

/* 16 bits, little endian, as NumPy's peer reads it: one strip without compression behind the header, and the directory
 * at the end. */
static void put_tiff(FILE *to, const apps_job *job)
{
    enum { HEADER = 8, FIELDS = 8, SHORT = 3 << 16, LONG = 4 << 16 };
    const histo_view *image = &job->inputs[0];
    const uint32_t height = (uint32_t)image->shape[0], width = (uint32_t)image->shape[1], bytes = 2 * height * width;
    const uint32_t directory = HEADER + bytes, no_more = 0;
    const uint16_t count = FIELDS;
    const uint32_t fields[FIELDS][3] = {{256 | LONG, 1, width},  {257 | LONG, 1, height},
                                        {258 | SHORT, 1, 16},    /* bits */
                                        {259 | SHORT, 1, 1},     /* no compression */
                                        {262 | SHORT, 1, 1},     /* black is 0 */
                                        {273 | LONG, 1, HEADER}, /* where the strip begins */
                                        {278 | LONG, 1, height}, {279 | LONG, 1, bytes}};
    fwrite("II*\0", 1, 4, to);
    fwrite(&directory, sizeof directory, 1, to);
    fwrite(image->data, 1, bytes, to);
    fwrite(&count, sizeof count, 1, to);
    fwrite(fields, sizeof fields, 1, to);
    fwrite(&no_more, sizeof no_more, 1, to);
}

static void put_video(FILE *to, const apps_job *job)
{
    const histo_view *image = &job->inputs[0];
    const size_t bytes = apps_bytes_of(image);
    fprintf(to, "YUV4MPEG2 W%lld H%lld F30:1 Ip A1:1 C420jpeg\n", (long long)image->shape[1],
            (long long)image->shape[0]);
    for (int i = 0; i < (job->quick ? 6 : 60); i++) {
        fputs("FRAME\n", to);
        fwrite(image->data, 1, bytes, to);
        for (size_t c = 0; c < bytes / 2; c++)
            fputc(128, to);
    }
}

/* The image of the row, and its file. */
static histo_status begin(apps_job *job, const char *suffix, void (*put)(FILE *to, const apps_job *job))
{
    histo_status status = apps_add_images(job);
    if (status == HISTO_OK) status = apps_image_allocate(job->inputs[0].dtype, 2, job->inputs[0].shape, &job->result);
    if (status == HISTO_OK) status = begin_files(job, suffix);
    if (status != HISTO_OK) return status;
    const char *path = ((files *)job->state)->in;
    FILE *to = fopen(path, "wb");
    if (to) put(to, job);
    const bool bad = !to || ferror(to);
    if ((!to || fclose(to) == 0) && !bad) return HISTO_OK;
    return histo_fail(HISTO_IO, "%s cannot be written", path);
}

static histo_status begin_pgm(apps_job *job)
{
    return begin(job, "pgm", put_pgm);
}

static histo_status begin_tiff(apps_job *job)
{
    return begin(job, "tif", put_tiff);
}

static histo_status begin_video(apps_job *job)
{
    return begin(job, "y4m", put_video);
}

#define ROW(its_name, its_work, its_reference, its_begin, its_images, its_library, its_factor)                         \
    {                                                                                                                  \
        .name = "command/" its_name, .work = its_work, .reference = its_reference, .begin = its_begin,                 \
        .images = {its_images}, .targets = {                                                                           \
            {.library = its_library, .factor = its_factor}                                                             \
        }                                                                                                              \
    }
#define BYTES(height, width) HISTO_U8, 1, height, width, 256
#define DEEP HISTO_U16, 1, 4096, 4096, 4096

static const apps_row rows[] = {
    ROW("equalize/pgm/4k", "equalize_file", "OpenCV", begin_pgm, BYTES(2160, 3840), "libvips", 3),
    ROW("equalize/tiff/u16", "equalize_file", "NumPy", begin_tiff, DEEP, "libvips", 3),
    ROW("equalize/y4m/1080p", "equalize_video", "OpenCV", begin_video, BYTES(1080, 1920), "FFmpeg", 1 / 1.5),
};

const apps_table apps_commands = {
    .rows = rows, .count = sizeof rows / sizeof *rows, .time = time_equalize, .result = result, .end = end};
