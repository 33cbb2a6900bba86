/* Runs a job: from the options to the complete result. */
#include "apply/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apply/eight_bits.h"
#include "apply/gaps.h"
#include "apply/video.h"
#include "base/failure.h"
#include "base/progress.h"
#include "input/samples/samples.h"
#include "input/samples/select.h"
#include "options/options.h"
#include "output/outfile.h"

/* ---- The result ---- */

static image_page page_of(const job *j)
{
    const reader *r = pages_reader(j->pages);
    const metadata *about = pages_about(j->pages);
    const bool array = about && about->ndim && choice_has_colors(r);
    const channel_model model = r->channels == 3 ? CHANNELS_RGB : CHANNELS_RGBA;
    image_page page = {.model = array ? model : r->model,
                       .channels = r->channels,
                       .dtype = j->top ? HISTO_U8 : j->dtype,
                       .height = pages_height(j->pages),
                       .width = pages_width(j->pages),
                       .about = about};
    if (j->kind->classes) {
        page.model = CHANNELS_GRAY;
        page.channels = 1;
        page.classes = true;
        return page;
    }
    page.has_nodata = j->gaps && gaps_nodata(about, r->dtypes[0], page.dtype, page.nodata);
    page.largest = j->top && j->top < UINT8_MAX                   ? j->top
                   : !j->top && about && j->dtype == r->dtypes[0] ? about->largest
                                                                  : 0;
    page.boolean = j->boolean;
    if (j->settings->bits && page.largest) page.largest = (INT64_C(1) << j->settings->bits) - 1;
    return page;
}

/* Map a tone to rows of the result or, if these are scaled afterwards, of the image's type. */
static int map_tone(job *j, int i, const band *b, unsigned char *rows, fault *f)
{
    const tones *t = &j->tones;
    double lo, hi;
    job_results(j, t->tone[i].table, &lo, &hi);
    const tone_rows out = {rows, j->dtype, j->out->page.channels, b->rows, b->cols, lo, hi};
    const histo_apply_options options = {.threads = j->settings->threads};
    histo_view from;
    if (tones_view(&j->tones, i, b, &from, f) != 0) return -1;
    const histo_view to = j->kind->classes ? histo_view_nd(rows, j->dtype, 2, from.shape) : tones_place(t, i, &out);
    if (j->kind->apply) {
        if (j->kind->apply(j, i, b, &from, &to, f) != 0) return -1;
    } else if (histo_map_apply(j->maps[t->tone[i].table], &from, &to, &options) != HISTO_OK) {
        return fault_of_library(f, EXIT_DATA, job_name(j));
    }
    if (!j->kind->classes) tones_put(t, i, &out);
    return 0;
}

/* If white is the smallest value, invert the values of a picture, so that it looks like its source: the largest value
 * that its bits hold becomes 0. */
static int find_turning(job *j, fault *f)
{
    double least, most;
    job_results(j, 0, &least, &most);
    const int64_t size = j->maps[0] ? histo_map_size(j->maps[0]) : 0;
    double *values = malloc((size_t)(size + 1) * sizeof *values);
    if (!values) return fault_set(f, EXIT_DATA, "no memory to map %s", job_name(j));
    if (size && histo_map_read(j->maps[0], values, size) != HISTO_OK) {
        free(values);
        return fault_of_library(f, EXIT_DATA, job_name(j));
    }
    for (int64_t i = 0; i < size; i++)
        most = fmax(most, values[i]);
    free(values);
    for (j->turning = UINT8_MAX; j->turning < most && j->turning < UINT16_MAX;)
        j->turning = 2 * j->turning + 1;
    return 0;
}

static void turn_values(const job *j, unsigned char *rows, int64_t count)
{
    const histo_dtype dtype = j->out->page.dtype;
    for (int64_t i = 0; i < count && dtype == HISTO_U8; i++)
        rows[i] = (uint8_t)(j->turning - rows[i]);
    uint16_t *wide = (uint16_t *)(void *)rows;
    for (int64_t i = 0; i < count && dtype == HISTO_U16; i++)
        wide[i] = (uint16_t)(j->turning - wide[i]);
}

/* Copy all channels of the band: to the result's rows as 8 bits, to the wide rows unchanged. */
static int show_rest(job *j, const band *b, fault *f)
{
    const int channels = j->out->page.channels;
    const size_t pitch = (size_t)(b->cols * channels) * histo_dtype_size(b->views[0].dtype);
    if (!scratch_reserve(&j->wide, pitch * (size_t)b->rows))
        return fault_set(f, EXIT_DATA, "no memory for the rows of %s", job_name(j));
    pages_interleave(b, channels, j->wide.data, pitch);
    eight_bits_rest(j, j->wide.data, b->rows * b->cols * channels, j->rows.data);
    return 0;
}

/* Scale the colours that were changed in the image's type, three per pixel. */
static void show_colors(job *j, const band *b)
{
    const int channels = j->out->page.channels, first = j->tones.tone[0].channel;
    const size_t size = histo_dtype_size(j->dtype);
    double lo, hi;
    job_results(j, 0, &lo, &hi);
    for (int64_t i = 0; i < b->rows * b->cols; i++) {
        const int64_t at = i * channels + first;
        eight_bits_scale(j, j->wide.data + (size_t)at * size, 3, lo, hi, j->rows.data + at);
    }
}

static int map_band(job *j, const band *b, fault *f)
{
    const image_page *page = &j->out->page;
    const size_t pitch = image_row_bytes(page);
    if (!scratch_reserve(&j->rows, pitch * (size_t)b->rows))
        return fault_set(f, EXIT_DATA, "no memory for the rows of %s", job_name(j));
    const tones *t = &j->tones;
    const bool some = !j->kind->classes && (t->kind != TONE_CHANNEL || t->count < page->channels);
    if (!j->top && some) pages_interleave(b, page->channels, j->rows.data, pitch);
    if (j->top && some && show_rest(j, b, f) != 0) return -1;
    unsigned char *to = eight_bits_scales(j) ? j->wide.data : j->rows.data;
    for (int i = 0; i < t->count; i++)
        if (map_tone(j, i, b, to, f) != 0) return -1;
    if (eight_bits_scales(j)) show_colors(j, b);
    if (j->turns) turn_values(j, j->rows.data, b->rows * b->cols * page->channels);
    if (gaps_keep(j, b, f) != 0) return -1;
    return image_rows(j->out, j->rows.data, b->rows, f);
}

static int write_unit(job *j, fault *f)
{
    band b;
    int more;
    j->pages_written = 0;
    while ((more = pages_next(j->pages, &b, f)) > 0) {
        const image_page page = page_of(j);
        j->pages_written += b.y == 0;
        if (b.y == 0 && image_begin(j->out, &page, f) != 0) return -1;
        if (map_band(j, &b, f) != 0) return -1;
    }
    return more;
}

/* ---- The whole command ---- */

static int take_nothing(job *j, void *context, int i, const histo_view *view, const job_part *part, fault *f)
{
    (void)j, (void)context, (void)i, (void)view, (void)part, (void)f;
    return 0;
}

static int run_unit(job *j, fault *f)
{
    if ((j->kind->gather ? j->kind->gather : job_count)(j, f) != 0) return -1;
    for (int t = 0; t < j->tones.tables; t++)
        if (j->kind->make(j, t, f) != 0) return -1;
    if (!j->out) return 0;
    if (j->turns && find_turning(j, f) != 0) return -1;
    if (j->out->pages < 0 && j->out->writer->counts && j->pages_read == 0 && job_visit(j, take_nothing, NULL, f) != 0)
        return -1;
    if (!pages_are_units(j->pages) && j->pages_read > 0)
        j->out->pages = j->pages_read; /* nothing is read if the range
                                        * is given */
    return write_unit(j, f);
}

/* Keep booleans in formats that have them. */
static void keep_booleans(job *j, const image_writer *writer)
{
    const metadata *about = pages_about(j->pages);
    j->boolean = about && about->boolean && writer->booleans && !j->kind->classes && !j->settings->bits && !j->top;
    if (j->boolean) j->largest = 1;
}

/* If white is the smallest value, invert pictures; for other results, print a note. */
static void keep_white(job *j, const image_writer *writer)
{
    const metadata *about = pages_about(j->pages);
    if (!about || !about->white_first || j->kind->classes) return;
    j->turns = writer->shows && (j->top || j->dtype == HISTO_U8 || j->dtype == HISTO_U16);
    if (j->settings->quiet) return;
    note(j->turns ? "%s: its smallest value is white (MONOCHROME1), and that of the picture is black: its values are "
                    "turned round"
                  : "%s: its smallest value is white (MONOCHROME1), as that of the result",
         job_name(j));
}

/* If only the sample type prevents a format from holding the result, suggest the option that converts it to a
 * picture. */
static void hint_at_8_bits(const job *j, const image_writer *writer, const image_page *page, fault *f)
{
    static const char hint[] = ", or add --to 8bit";
    image_page narrow = *page;
    narrow.dtype = HISTO_U8;
    if (!j->kind->shows || !writer->limit || !writer->limit(page) || writer->limit(&narrow)) return;
    const size_t length = strlen(f->text);
    if (length + sizeof hint <= sizeof f->text) memcpy(f->text + length, hint, sizeof hint);
}

static int begin(job *j, fault *f)
{
    const settings *s = j->settings;
    const image_writer *writer = s->output ? image_writer_find(s->output, pages_reader(j->pages), f) : NULL;
    if (s->output && !writer) return -1;
    if (job_choose_tones(j, s->mask, s->color ? s->color : j->kind->color, f) != 0) return -1;
    if (eight_bits_begin(j, f) != 0) return -1;
    if (writer) keep_booleans(j, writer);
    if (writer) keep_white(j, writer);
    j->gaps = writer && writer->gaps;
    if (j->kind->begin && j->kind->begin(j, f) != 0) return -1;
    if (!writer) return 0;
    const image_page page = page_of(j);
    j->out = image_create_file(s->output, writer, &page, pages_count(j->pages), f);
    if (!j->out) hint_at_8_bits(j, writer, &page, f);
    return j->out ? 0 : -1;
}

/* The result may overwrite the image, but no other input. */
static int spare_others(const settings *s, fault *f)
{
    if (outfile_spare(s->output, s->mask, "the mask", f) != 0 ||
        outfile_spare(s->output, s->reference_mask, "the mask of the reference", f) != 0 ||
        outfile_spare(s->output, s->with, "the file of landmarks", f) != 0)
        return -1;
    for (int i = 1; i < s->files_count; i++)
        if (outfile_spare(s->output, s->files[i], "the reference", f) != 0) return -1;
    return 0;
}

/* Report the parts of the input that were not read, and what the result lacks. */
static void remark(const job *j, const image_file *out)
{
    const reader *r = pages_reader(j->pages);
    const leftovers left = {.pages_in_file = r->first_only ? r->pages_in_file : 0,
                            .copies = r->copies,
                            .first_only = r->first_only,
                            .note = r->note};
    progress_end();
    leftovers_remark(&left, job_name(j), j->settings);
    if (out->lost) note("%s is without %s", outfile_name(out->out), out->lost);
    if (j->unsaid) gaps_remark(j, out->writer->name);
}

static int run(job *j, fault *f)
{
    char label[256];
    int more;
    const settings *s = j->settings;
    if (s->files_count < 1 || (!s->output && !j->kind->reads_only))
        return fault_set(f, EXIT_USAGE, "'histo %s' takes %s: name them all", s->command,
                         command_find(s->command)->operands);
    if (spare_others(s, f) != 0 || job_open_pages(j, s->files[0], f) != 0) return -1;
    if (!pages_video(j->pages) && begin(j, f) != 0) return -1;
    snprintf(label, sizeof label, "%s %.200s", j->kind->verb, job_name(j));
    progress_start(label, j->settings->quiet);
    if (pages_video(j->pages)) return video_run(j, f);
    for (j->unit = 0; (more = pages_unit(j->pages, f)) > 0; j->unit++)
        if (run_unit(j, f) != 0) return -1;
    image_file *out = j->out;
    j->out = NULL;
    if (more == 0 && out && !s->quiet) remark(j, out);
    if (more == 0 && out) return image_commit(out, f);
    image_abandon(out);
    return more;
}

int job_command(const settings *s, const job_kind *kind)
{
    fault f = {0};
    job j = {.settings = s, .kind = kind, .mask_page = -1};
    int failed = run(&j, &f);
    progress_end();
    if (kind->end) kind->end(&j);
    job_close(&j);
    return failed ? fault_report(&f) : EXIT_OK;
}
