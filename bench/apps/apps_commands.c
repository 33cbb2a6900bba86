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
#include "bench/apps/apps.h"

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

static histo_status end_image(const apps_job *job, FILE *to)
{
    const bool bad = !to || ferror(to);
    if ((!to || fclose(to) == 0) && !bad) return HISTO_OK;
    return histo_fail(HISTO_IO, "%s cannot be written", ((files *)job->state)->in);
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

/* Once more, as peers write the same file: the bytes of OUT that are followed by `rest` more become the result. */
static histo_status read_result(apps_job *job, const char *suffix, size_t rest)
{
    const size_t bytes = (size_t)histo_view_size(&job->result) * histo_dtype_size(job->result.dtype);
    char path[MOST_PATH + 16];
    double us;
    snprintf(path, sizeof path, "%s/ours.%s", ((files *)job->state)->folder, suffix);
    histo_status status = equalize(job, path, &us);
    if (status != HISTO_OK) return status;
    FILE *from = fopen(path, "rb");
    const bool bad = !from || fseek(from, -(long)(bytes + rest), SEEK_END) != 0 ||
                     fread((void *)job->result.data, 1, bytes, from) != bytes;
    if (from) fclose(from);
    unlink(path);
    return bad ? histo_fail(HISTO_IO, "%s cannot be read", path) : HISTO_OK;
}

/* Pixels as the input, and its file, to be written. */
static histo_status begin_image(apps_job *job, histo_dtype dtype, int64_t height, int64_t width, const char *suffix,
                                FILE **to)
{
    const int64_t shape[2] = {height, width};
    histo_status status = apps_image_allocate(dtype, 2, shape, &job->inputs[job->input_count++]);
    if (status == HISTO_OK) status = apps_image_allocate(dtype, 2, shape, &job->result);
    void *pixels = (void *)job->inputs[0].data;
    if (status == HISTO_OK && dtype == HISTO_U8) apps_image_gray(job->photo, width, height, pixels);
    if (status == HISTO_OK && dtype == HISTO_U16) apps_image_deep(job->photo, width, height, pixels);
    if (status == HISTO_OK) status = begin_files(job, suffix);
    if (status == HISTO_OK) *to = fopen(((files *)job->state)->in, "wb");
    return status;
}

/* ---- PGM ---- */

static histo_status begin_pgm(apps_job *job)
{
    const int64_t height = job->quick ? 720 : 2160, width = job->quick ? 1280 : 3840;
    FILE *to = NULL;
    histo_status status = begin_image(job, HISTO_U8, height, width, "pgm", &to);
    if (status != HISTO_OK) return status;
    if (to) fprintf(to, "P5\n%lld %lld\n255\n", (long long)width, (long long)height);
    if (to) fwrite(job->inputs[0].data, 1, (size_t)(width * height), to);
    return end_image(job, to);
}

static histo_status result_pgm(apps_job *job)
{
    return read_result(job, "pgm", 0);
}

/* ---- TIFF of 16 bits ---- */

/* Little endian, as NumPy's peer reads it: one strip without compression behind the header, and the directory at the
 * end. */
static void put_tiff(FILE *to, const uint16_t *pixels, int64_t height, int64_t width)
{
    enum { HEADER = 8, FIELDS = 8, SHORT = 3 << 16, LONG = 4 << 16 };
    const uint32_t bytes = (uint32_t)(2 * height * width), directory = HEADER + bytes, no_more = 0;
    const uint16_t count = FIELDS;
    const uint32_t fields[FIELDS][3] = {{256 | LONG, 1, (uint32_t)width},
                                        {257 | LONG, 1, (uint32_t)height},
                                        {258 | SHORT, 1, 16},    /* bits */
                                        {259 | SHORT, 1, 1},     /* no compression */
                                        {262 | SHORT, 1, 1},     /* black is 0 */
                                        {273 | LONG, 1, HEADER}, /* where the strip begins */
                                        {278 | LONG, 1, (uint32_t)height},
                                        {279 | LONG, 1, bytes}};
    fwrite("II*\0", 1, 4, to);
    fwrite(&directory, sizeof directory, 1, to);
    fwrite(pixels, 1, bytes, to);
    fwrite(&count, sizeof count, 1, to);
    fwrite(fields, sizeof fields, 1, to);
    fwrite(&no_more, sizeof no_more, 1, to);
}

static histo_status begin_tiff(apps_job *job)
{
    const int64_t side = job->quick ? 1024 : 4096;
    FILE *to = NULL;
    histo_status status = begin_image(job, HISTO_U16, side, side, "tif", &to);
    if (status == HISTO_OK && to) put_tiff(to, job->inputs[0].data, side, side);
    return status == HISTO_OK ? end_image(job, to) : status;
}

/* The result goes into a file that is easily read. */
static histo_status result_tiff(apps_job *job)
{
    return read_result(job, "npy", 0);
}

/* ---- Video ---- */

static histo_status begin_video(apps_job *job)
{
    const int64_t height = job->quick ? 360 : 1080, width = job->quick ? 640 : 1920, frames = job->quick ? 6 : 60;
    FILE *to = NULL;
    histo_status status = begin_image(job, HISTO_U8, height, width, "y4m", &to);
    if (status != HISTO_OK) return status;
    if (to) fprintf(to, "YUV4MPEG2 W%lld H%lld F30:1 Ip A1:1 C420jpeg\n", (long long)width, (long long)height);
    for (int64_t i = 0; to && i < frames; i++) {
        fputs("FRAME\n", to);
        fwrite(job->inputs[0].data, 1, (size_t)(width * height), to);
        for (int64_t c = 0; c < width * height / 2; c++)
            fputc(128, to);
    }
    return end_image(job, to);
}

/* The last frame's luma, which is followed by its chroma. */
static histo_status result_video(apps_job *job)
{
    return read_result(job, "y4m", (size_t)histo_view_size(&job->result) / 2);
}

#define ROW(its_name, its_work, its_reference, its_begin, its_result, its_library, its_factor)                         \
    {                                                                                                                  \
        .name = "command/" its_name, .work = its_work, .reference = its_reference, .begin = its_begin,                 \
        .result = its_result, .targets = {                                                                             \
            {.library = its_library, .factor = its_factor}                                                             \
        }                                                                                                              \
    }

static const apps_row rows[] = {
    ROW("equalize/pgm/4k", "equalize_file", "OpenCV", begin_pgm, result_pgm, "libvips", 3),
    ROW("equalize/tiff/u16", "equalize_file", "NumPy", begin_tiff, result_tiff, "libvips", 3),
    ROW("equalize/y4m/1080p", "equalize_video", "OpenCV", begin_video, result_video, "FFmpeg", 1 / 1.5),
};

const apps_table apps_commands = {.rows = rows, .count = sizeof rows / sizeof *rows, .time = time_equalize, .end = end};
