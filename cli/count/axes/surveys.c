#define _GNU_SOURCE
#include "count/axes/surveys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/text.h"

static const char magic[] = "histo survey 1\n";

/* The last line. Nothing else checks the bits of a survey, and a wrong bit would give wrong bins. */
static const char checksum_format[] = "checksum %08" PRIx32 "\n";

enum { LARGEST_FILE = 1 << 28, MAX_COLUMNS = 1 << 20, MAX_PASSES = 64, LINE_BYTES = 400, CHECKSUM_BYTES = 18 };

/* What an axis has found in a pass: an axis_finding, and the survey. */
typedef struct finding {
    char *data; /* NULL: nothing was looked for */
    size_t size;
} finding;

typedef struct surveys {
    char *name; /* for messages */
    manifest *shards;
    int axes, passes, room;
    bins_spec *specs;    /* [axes] */
    histo_dtype *dtypes; /* [axes] */
    finding *findings;   /* [room], of which passes * axes are used */
    axis_search *search; /* [axes] */
    bool *in_pass;       /* [axes] */
} surveys;

static int fault_memory(fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the surveys");
}

static int fault_damaged(const surveys *s, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s is no survey, or is damaged: make it again", s->name);
}

static int make_room(surveys *s, int axes, int passes, fault *f)
{
    const size_t n = (size_t)axes;
    s->room = axes * (passes + 1); /* a pass may be added */
    s->axes = axes;
    s->passes = passes;
    s->specs = calloc(n, sizeof *s->specs);
    s->dtypes = calloc(n, sizeof *s->dtypes);
    s->findings = calloc((size_t)s->room, sizeof *s->findings);
    s->search = calloc(n, sizeof *s->search);
    s->in_pass = calloc(n, sizeof *s->in_pass);
    return s->specs && s->dtypes && s->findings && s->search && s->in_pass ? 0 : fault_memory(f);
}

static void surveys_free(surveys *s)
{
    for (int i = 0; i < s->room && s->findings; i++)
        free(s->findings[i].data);
    for (int a = 0; a < s->axes && s->search; a++)
        axis_search_free(&s->search[a]);
    manifest_free(s->shards);
    free(s->name);
    free(s->specs);
    free(s->dtypes);
    free(s->findings);
    free(s->search);
    free(s->in_pass);
}

/* ---- Files ---------------------------------------------------------------------------------------------- */

static void put_spec(const bins_spec *b, histo_dtype dtype, FILE *out)
{
    fprintf(out, "%d %d %" PRId64 " %d %d %a %d %d %a %a %d %d\n", (int)dtype, (int)b->kind, b->number, b->fewer,
            (int)b->rule, b->width, b->has_range, (int)b->range, b->lo, b->hi, b->log, b->every_value);
}

static bool take_spec(const char *line, bins_spec *b, histo_dtype *dtype)
{
    int number_of[8];
    const bool read = sscanf(line, "%d %d %" SCNd64 " %d %d %la %d %d %la %la %d %d", &number_of[0], &number_of[1],
                             &b->number, &number_of[2], &number_of[3], &b->width, &number_of[4], &number_of[5], &b->lo,
                             &b->hi, &number_of[6], &number_of[7]) == 12;
    if (!read || number_of[0] < 0 || number_of[0] >= HISTO_DTYPE_COUNT || number_of[1] < 0 || number_of[1] > BINS_EDGES)
        return false;
    *dtype = (histo_dtype)number_of[0];
    b->kind = (bins_kind)number_of[1];
    b->fewer = number_of[2];
    b->rule = (histo_rule)number_of[3];
    b->has_range = number_of[4];
    b->range = (histo_range)number_of[5];
    b->log = number_of[6];
    b->every_value = number_of[7];
    return true;
}

/* The file is read from memory, by lines and blocks. */
typedef struct cursor {
    const char *at, *end;
} cursor;

static bool take_line(cursor *c, char line[LINE_BYTES])
{
    const char *end = memchr(c->at, '\n', (size_t)(c->end - c->at));
    if (!end || end - c->at >= LINE_BYTES) return false;
    memcpy(line, c->at, (size_t)(end - c->at));
    line[end - c->at] = '\0';
    c->at = end + 1;
    return true;
}

/* The line FORMAT with a number of bytes, and these. */
static bool take_block(cursor *c, const char *format, const char **data, size_t *size)
{
    char line[LINE_BYTES];
    if (!take_line(c, line) || sscanf(line, format, size) != 1 || *size > (size_t)(c->end - c->at)) return false;
    *data = c->at;
    c->at += *size;
    return true;
}

static int read_all(surveys *s, cursor c, fault *f)
{
    char line[LINE_BYTES];
    const char *data;
    size_t size;
    int axes, passes;
    if (!take_line(&c, line) || strlen(line) + 1 != strlen(magic) || strncmp(line, magic, strlen(line)) != 0 ||
        !take_block(&c, "shards %zu", &data, &size))
        return fault_damaged(s, f);
    if (!(s->shards = manifest_read(data, size, s->name, f))) return -1;
    if (!take_line(&c, line) || sscanf(line, "axes %d passes %d", &axes, &passes) != 2 || axes < 1 ||
        axes > MAX_COLUMNS || passes < 1 || passes > MAX_PASSES || axes * passes > c.end - c.at)
        return fault_damaged(s, f);
    if (make_room(s, axes, passes, f) != 0) return -1;
    for (int a = 0; a < axes; a++)
        if (!take_line(&c, line) || !take_spec(line, &s->specs[a], &s->dtypes[a])) return fault_damaged(s, f);
    for (int i = 0; i < axes * passes; i++) {
        if (!take_block(&c, "%zu", &data, &size) || (size && size < sizeof(axis_finding))) return fault_damaged(s, f);
        if (!size) continue;
        s->findings[i] = (finding){malloc(size), size};
        if (!s->findings[i].data) return fault_memory(f);
        memcpy(s->findings[i].data, data, size);
    }
    return 0;
}

/* Take off the last line: is it the checksum of all lines before it? */
static bool take_checksum(const char *data, size_t *size)
{
    char line[CHECKSUM_BYTES + 1];
    if (*size < CHECKSUM_BYTES) return false;
    *size -= CHECKSUM_BYTES;
    snprintf(line, sizeof line, checksum_format, text_checksum(data, *size));
    return memcmp(data + *size, line, CHECKSUM_BYTES) == 0;
}

static int surveys_read(surveys *s, const char *path, fault *f)
{
    size_t size;
    char *data = text_of_file(path, LARGEST_FILE, &size);
    *s = (surveys){.name = strdup(path)};
    if (!data || !s->name) {
        const int error = errno;
        free(data);
        return fault_set(f, EXIT_DATA, "%s: %s", path,
                         error == ENOENT ? "there is no such file" : strerror(error ? error : ENOMEM));
    }
    const bool whole = take_checksum(data, &size);
    const int failed = whole ? read_all(s, (cursor){data, data + size}, f) : fault_damaged(s, f);
    free(data);
    return failed;
}

static int write_all(const surveys *s, FILE *out, fault *f)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory) manifest_write(s->shards, memory);
    if (!memory || fclose(memory) != 0) {
        free(text);
        return fault_memory(f);
    }
    fprintf(out, "%sshards %zu\n%s", magic, size, text);
    free(text);
    fprintf(out, "axes %d passes %d\n", s->axes, s->passes);
    for (int a = 0; a < s->axes; a++)
        put_spec(&s->specs[a], s->dtypes[a], out);
    for (int i = 0; i < s->axes * s->passes; i++) {
        fprintf(out, "%zu\n", s->findings[i].size);
        fwrite(s->findings[i].data, 1, s->findings[i].size, out);
    }
    return 0;
}

static int surveys_write(const surveys *s, FILE *out, fault *f)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    int failed = memory ? write_all(s, memory, f) : fault_memory(f);
    if (memory && fclose(memory) != 0 && !failed) failed = fault_memory(f);
    if (!failed) {
        fwrite(text, 1, size, out);
        fprintf(out, checksum_format, text_checksum(text, size));
    }
    free(text);
    return failed;
}

/* ---- Passes --------------------------------------------------------------------------------------------- */

static int begin_searches(surveys *s, fault *f)
{
    for (int a = 0; a < s->axes; a++) {
        if (axis_search_begin_part(&s->search[a], &s->specs[a], s->dtypes[a], s->axes, f) != 0) return -1;
    }
    return 0;
}

/* Begin a pass: does any axis need it? */
static bool next_pass(surveys *s)
{
    bool any = false;
    for (int a = 0; a < s->axes; a++) {
        s->in_pass[a] = axis_search_next_pass(&s->search[a]);
        any = any || s->in_pass[a];
    }
    return any;
}

/* Add what was found in the pass that was begun, or replace it. */
static int take_findings(surveys *s, const surveys *from, int pass, bool replace, fault *f)
{
    for (int a = 0; a < s->axes; a++) {
        const finding *it = &from->findings[pass * s->axes + a];
        axis_finding found;
        if (s->in_pass[a] != (it->size > 0)) return fault_damaged(from, f);
        if (!s->in_pass[a]) continue;
        memcpy(&found, it->data, sizeof found);
        axis_search *search = &s->search[a];
        const char *data = it->data + sizeof found;
        const size_t size = it->size - sizeof found;
        histo_stats *positive = &search->found.positive;
        if (positive->samples == positive->infinite) *positive = found.positive;
        search->found.some_fraction |= found.some_fraction;
        if ((replace ? histo_survey_replace(search->survey, data, size)
                     : histo_survey_merge(search->survey, data, size)) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, from->name);
    }
    return 0;
}

/* Repeat the passes before `passes`, in which all shards agreed. */
static int repeat_passes(surveys *s, const surveys *from, int passes, fault *f)
{
    for (int pass = 0; pass < passes; pass++) {
        next_pass(s);
        if (take_findings(s, from, pass, true, f) != 0) return -1;
    }
    return 0;
}

/* What the pass has found, after the findings before. */
static int keep_findings(surveys *s, fault *f)
{
    for (int a = 0; a < s->axes; a++) {
        finding *to = &s->findings[s->passes * s->axes + a];
        void *data;
        size_t size;
        if (!s->in_pass[a]) continue;
        if (histo_survey_save(s->search[a].survey, &data, &size) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, "the survey");
        *to = (finding){malloc(sizeof(axis_finding) + size), sizeof(axis_finding) + size};
        if (to->data) {
            memcpy(to->data, &s->search[a].found, sizeof(axis_finding));
            memcpy(to->data + sizeof(axis_finding), data, size);
        }
        histo_free(data);
        if (!to->data) return fault_memory(f);
    }
    s->passes++;
    return 0;
}

/* Findings of passes before the last are those of `from`. */
static int copy_findings(surveys *s, const surveys *from, fault *f)
{
    for (int i = 0; i < s->axes * s->passes; i++) {
        const finding *it = &from->findings[i];
        if (!it->size) continue;
        s->findings[i] = (finding){malloc(it->size), it->size};
        if (!s->findings[i].data) return fault_memory(f);
        memcpy(s->findings[i].data, it->data, it->size);
    }
    return 0;
}

/* ---- Surveying ------------------------------------------------------------------------------------------ */

static int survey_piece(void *self, int file, const piece *p, fault *f)
{
    run *r = self;
    for (int i = 0; i < r->count; i++) {
        const int a = run_axis_of(r, i);
        histo_fill_options fill = piece_fill(p, i);
        fill.weights = NULL;
        if (r->in_pass[a] && axis_search_add(&r->search[a], &p->views[i], &fill, feed_name(&r->feed, file), f) != 0)
            return -1;
    }
    return 0;
}

/* Read what all shards agree on, for the run of s. */
static int read_agreed(surveys *agreed, const settings *s, const manifest *mine, int axes, fault *f)
{
    char missing[600];
    if (surveys_read(agreed, s->agreed, f) != 0 ||
        manifest_compare_runs(mine, "this run", agreed->shards, s->agreed, f) != 0)
        return -1;
    if (!manifest_is_complete(agreed->shards))
        return fault_set(f, EXIT_DATA, "%s is no survey of all samples: %s; merge them with histo survey --merge",
                         s->agreed, manifest_missing(agreed->shards, missing, sizeof missing));
    return agreed->axes == axes ? 0 : fault_damaged(agreed, f);
}

static int survey_shard(surveys *mine, surveys *agreed, run *r, fault *f)
{
    const settings *s = r->settings;
    if (s->agreed && read_agreed(agreed, s, mine->shards, r->axis_count, f) != 0) return -1;
    if (make_room(mine, r->axis_count, agreed->passes, f) != 0) return -1;
    for (int a = 0; a < r->axis_count; a++) {
        const bins_spec *spec = bins_of_axis(&r->bins, a, r->axis_count, f);
        if (!spec) return -1;
        mine->specs[a] = *spec;
        mine->dtypes[a] = r->dtypes[a];
    }
    bool needed = false;
    for (int a = 0; a < r->axis_count; a++)
        needed = needed || bins_need_data(&r->bins, r->dtypes[a]);
    if (!needed) return fault_set(f, EXIT_USAGE, "the bins do not depend on the samples: nothing is to be surveyed");
    if (copy_findings(mine, agreed, f) != 0 || begin_searches(mine, f) != 0 ||
        repeat_passes(mine, agreed, agreed->passes, f) != 0)
        return -1;
    if (!next_pass(mine))
        return fault_set(f, EXIT_DATA, "%s needs no other pass: count with --survey %s", s->agreed, s->agreed);
    axis_search *const before = r->search;
    bool *const in_pass = r->in_pass;
    r->search = mine->search;
    r->in_pass = mine->in_pass;
    const feed_visitor visitor = {.verb = "surveying", .take = survey_piece, .self = r};
    const int failed = feed_visit(&r->feed, &visitor, f);
    r->search = before;
    r->in_pass = in_pass;
    return failed ? -1 : keep_findings(mine, f);
}

int surveys_make(const settings *s, FILE *out, fault *f)
{
    result none = {0};
    run r;
    surveys mine = {0}, agreed = {0};
    if (!(mine.shards = manifest_make(s, f))) return -1;
    int failed = run_open(&r, s, &none, f);
    if (!failed && run_has_words(&r))
        failed =
            fault_set(f, EXIT_USAGE, "strings are not surveyed: count each shard, and histo merge adds up by value");
    if (!failed) failed = survey_shard(&mine, &agreed, &r, f);
    if (!failed) failed = surveys_write(&mine, out, f);
    run_end(&r);
    surveys_free(&mine);
    surveys_free(&agreed);
    return failed;
}

/* ---- Merging -------------------------------------------------------------------------------------------- */

/* Add the last pass of a survey to the sum of those before it. */
static int add_survey(surveys *sum, surveys *more, const char *first, fault *f)
{
    if (manifest_compare(sum->shards, first, more->shards, more->name, f) != 0) return -1;
    if (more->axes != sum->axes || more->passes != sum->passes + 1)
        return fault_set(f, EXIT_DATA, "%s is of pass %d, and %s of another: survey all shards in the same pass", first,
                         sum->passes + 1, more->name);
    const int64_t common = manifest_common(sum->shards, more->shards);
    if (common) return fault_set(f, EXIT_DATA, "shard %" PRId64 " is in %s again: leave one out", common, more->name);
    if (manifest_add(sum->shards, more->shards, f) != 0) return -1;
    return take_findings(sum, more, more->passes - 1, false, f);
}

/* The sum begins like the first survey, before its last pass. */
static int begin_sum(surveys *sum, surveys *first, fault *f)
{
    if (make_room(sum, first->axes, first->passes - 1, f) != 0) return -1;
    memcpy(sum->specs, first->specs, (size_t)sum->axes * sizeof *sum->specs);
    memcpy(sum->dtypes, first->dtypes, (size_t)sum->axes * sizeof *sum->dtypes);
    if (copy_findings(sum, first, f) != 0 || begin_searches(sum, f) != 0 ||
        repeat_passes(sum, first, sum->passes, f) != 0)
        return -1;
    next_pass(sum);
    if (take_findings(sum, first, first->passes - 1, false, f) != 0) return -1;
    sum->shards = first->shards;
    first->shards = NULL;
    return 0;
}

static int print_bins(surveys *sum, FILE *to, fault *f)
{
    for (int a = 0; a < sum->axes; a++) {
        char lo[TEXT_NUMBER_BYTES], hi[TEXT_NUMBER_BYTES];
        if (sum->specs[a].kind == BINS_EDGES) continue; /* given, and not in the survey */
        if (axis_search_end(&sum->search[a], sum->name, f) != 0) return -1;
        const histo_axis *axis = &sum->search[a].axis;
        fprintf(to, "%" PRId64 "\t%s\t%s\n", axis->bins, text_exact(axis->lo, lo), text_exact(axis->hi, hi));
    }
    return 0;
}

static int merge_all(surveys *sum, const char *const *files, int count, FILE *out, FILE *bins, bool *again, fault *f)
{
    char missing[600];
    sum->name = strdup("the sum");
    for (int i = 0; i < count; i++) {
        surveys more = {0};
        int failed = surveys_read(&more, files[i], f);
        if (!failed) failed = i ? add_survey(sum, &more, files[0], f) : begin_sum(sum, &more, f);
        surveys_free(&more);
        if (failed) return -1;
    }
    if (!manifest_is_complete(sum->shards))
        return fault_set(f, EXIT_DATA, "%s", manifest_missing(sum->shards, missing, sizeof missing));
    if (keep_findings(sum, f) != 0 || surveys_write(sum, out, f) != 0) return -1;
    *again = next_pass(sum);
    return *again ? 0 : print_bins(sum, bins, f);
}

int surveys_merge(const char *const *files, int count, FILE *out, FILE *bins, bool *again, fault *f)
{
    surveys sum = {0};
    const int failed = merge_all(&sum, files, count, out, bins, again, f);
    surveys_free(&sum);
    return failed;
}

/* ---- Counting ------------------------------------------------------------------------------------------- */

int surveys_load(run *r, fault *f)
{
    surveys agreed = {0};
    manifest *mine = manifest_make(r->settings, f);
    int failed = mine ? read_agreed(&agreed, r->settings, mine, r->axis_count, f) : -1;
    for (int a = 0; a < r->axis_count && !failed; a++) {
        const bins_spec *spec = bins_of_axis(&r->bins, a, r->axis_count, f);
        failed = spec ? 0 : -1;
        if (spec) agreed.specs[a] = *spec;
        if (agreed.dtypes[a] != r->dtypes[a]) failed = fault_damaged(&agreed, f);
    }
    if (!failed) failed = begin_searches(&agreed, f);
    if (!failed) failed = repeat_passes(&agreed, &agreed, agreed.passes, f);
    if (!failed && next_pass(&agreed))
        failed = fault_set(f, EXIT_DATA, "%s needs another pass: histo survey --survey %s", r->settings->agreed,
                           r->settings->agreed);
    for (int a = 0; a < r->axis_count && !failed; a++) {
        const bins_spec *spec = bins_of_axis(&r->bins, a, r->axis_count, f);
        r->search[a] = agreed.search[a];
        r->search[a].spec = spec;
        agreed.search[a] = (axis_search){0};
    }
    manifest_free(mine);
    surveys_free(&agreed);
    return failed;
}
