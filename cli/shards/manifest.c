#define _GNU_SOURCE
#include "shards/manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

static int fault_memory(fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the list of files");
}

/* ---- The run -------------------------------------------------------------------------------------------- */

static int put_file(const char *role, const char *path, FILE *out, fault *f)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return fault_set(f, EXIT_DATA, "%s: %s", path, errno == ENOENT ? "there is no such file" : strerror(errno));
    if (!S_ISREG(status.st_mode))
        return fault_set(f, EXIT_USAGE, "%s is not a regular file: it cannot be recognised when it is read again",
                         path);
    fprintf(out, "%s %lld %lld.%09ld ", role, (long long)status.st_size, (long long)status.st_mtim.tv_sec,
            status.st_mtim.tv_nsec);
    text_put_line(path, out);
    return 0;
}

/* The sizes and checksums of the files of edges in a list such as that of --edges. Pipes are skipped, since they can be
 * read only once. */
static int put_edges(const char *list, FILE *out, fault *f)
{
    enum { LARGEST = 1 << 28 };
    for (const char *item = list; item && *item;) {
        const size_t length = strcspn(item, ";");
        char *path = *item == '@' ? strndup(item + 1, length - 1) : NULL, *text = NULL;
        struct stat status;
        size_t size;
        if (*item == '@' && !path) return fault_memory(f);
        if (path && stat(path, &status) == 0 && S_ISREG(status.st_mode)) text = text_of_file(path, LARGEST, &size);
        if (text) {
            fprintf(out, "edges %zu %08" PRIx32 " ", size, text_checksum(text, size));
            text_put_line(path, out);
        }
        free(text);
        free(path);
        item += length + (item[length] == ';');
    }
    return 0;
}

static int put_run(const settings *s, FILE *out, fault *f)
{
    fputs(s->what, out);
    if (put_edges(s->bins, out, f) != 0 || put_edges(s->edges, out, f) != 0) return -1;
    for (int i = 0; i < s->files_count; i++) {
        if (strcmp(s->files[i], "-") == 0)
            return fault_set(f, EXIT_USAGE, "standard input cannot be read again: name files");
        if (put_file("file", s->files[i], out, f) != 0) return -1;
    }
    if (s->files_count == 0) return fault_set(f, EXIT_USAGE, "standard input cannot be read again: name files");
    return s->mask ? put_file("mask", s->mask, out, f) : 0;
}

manifest *manifest_make(const settings *s, fault *f)
{
    manifest *m = calloc(1, sizeof *m);
    size_t size;
    FILE *out = m ? open_memstream(&m->run, &size) : NULL;
    int failed = out ? put_run(s, out, f) : fault_memory(f);
    if (out && fclose(out) != 0 && !failed) failed = fault_memory(f);
    if (!failed && !(m->counted = malloc(sizeof *m->counted))) failed = fault_memory(f);
    if (failed) {
        manifest_free(m);
        return NULL;
    }
    m->shards = s->shards ? s->shards : 1;
    m->counted[m->ranges++] = (shard_range){s->shard + 1, s->shard + 1};
    return m;
}

void manifest_free(manifest *m)
{
    if (!m) return;
    free(m->run);
    free(m->counted);
    free(m->place);
    free(m);
}

/* ---- As text -------------------------------------------------------------------------------------------- */

static void put_range(shard_range r, FILE *out)
{
    fprintf(out, "%" PRId64, r.first);
    if (r.last > r.first) fprintf(out, "-%" PRId64, r.last);
}

void manifest_write(const manifest *m, FILE *out)
{
    fputs("shards ", out);
    for (int64_t i = 0; i < m->ranges; i++) {
        if (i) fputc(',', out);
        put_range(m->counted[i], out);
    }
    fprintf(out, " of %" PRId64 "\n", m->shards);
    if (m->place) fprintf(out, "at %s\n", m->place);
    fputs(m->run, out);
}

/* A number that ends with one of `ends`; -1 if invalid. */
static int64_t take_number(const char **at, const char *ends)
{
    char *end;
    errno = 0;
    const int64_t number = **at >= '0' && **at <= '9' ? strtoll(*at, &end, 10) : -1;
    if (number < 0 || errno || !*end || !strchr(ends, *end)) return -1;
    *at = end;
    return number;
}

/* "1-3,7 of 8" up to the end of the line. */
static bool take_shards(manifest *m, const char **at)
{
    do {
        shard_range r;
        const int64_t before = m->ranges ? m->counted[m->ranges - 1].last + 1 : 0;
        r.first = r.last = take_number(at, "-, ");
        if (**at == '-') {
            ++*at;
            r.last = take_number(at, ", ");
        }
        shard_range *more = realloc(m->counted, (size_t)(m->ranges + 1) * sizeof *more);
        if (!more) return false;
        m->counted = more;
        if (r.first <= before || r.last < r.first) return false;
        m->counted[m->ranges++] = r;
    } while (*(*at)++ == ',');
    if (strncmp(*at, "of ", 3) != 0) return false;
    *at += 3;
    m->shards = take_number(at, "\n");
    return m->shards <= MAX_SHARDS && m->counted[m->ranges - 1].last <= m->shards;
}

/* text ends with a NUL. */
static bool parse(manifest *m, const char *text)
{
    if (strncmp(text, "shards ", 7) != 0) return false;
    text += 7;
    if (!take_shards(m, &text)) return false;
    text++;
    if (strncmp(text, "at ", 3) == 0) {
        const char *end = strchr(text, '\n');
        if (!end || !(m->place = strndup(text + 3, (size_t)(end - text - 3)))) return false;
        text = end + 1;
    }
    m->run = strdup(text);
    return m->run != NULL;
}

manifest *manifest_read(const char *text, size_t size, const char *path, fault *f)
{
    manifest *m = calloc(1, sizeof *m);
    char *copy = strndup(text, size);
    const bool good = m && copy && strlen(copy) == size && parse(m, copy);
    free(copy);
    if (good) return m;
    manifest_free(m);
    fault_set(f, EXIT_DATA, "%s is damaged: what it says of shards is not valid; make it again", path);
    return NULL;
}

/* ---- Comparing and adding up ---------------------------------------------------------------------------- */

/* A line of a run, truncated for messages. */
typedef struct run_line {
    char text[240];
} run_line;

static run_line line_at(const char *run, size_t at)
{
    while (at > 0 && run[at - 1] != '\n')
        at--;
    run_line line;
    snprintf(line.text, sizeof line.text, "%.*s", (int)strcspn(run + at, "\n"), run + at);
    return line;
}

/* The name after "file SIZE TIME "; NULL for options. */
static const char *name_in(const run_line *line)
{
    const char *at = strncmp(line->text, "--", 2) != 0 ? line->text : NULL;
    for (int blanks = 0; at && blanks < 3; blanks++) {
        at = strchr(at, ' ');
        if (at) at++;
    }
    return at;
}

int manifest_compare(const manifest *m, const char *name, const manifest *other, const char *other_name, fault *f)
{
    if (m->shards == other->shards) return manifest_compare_runs(m, name, other, other_name, f);
    return fault_set(f, EXIT_DATA, "%s is of a run in %" PRId64 " shards, and %s of one in %" PRId64, name, m->shards,
                     other_name, other->shards);
}

int manifest_compare_runs(const manifest *m, const char *name, const manifest *other, const char *other_name, fault *f)
{
    size_t at = 0;
    while (m->run[at] == other->run[at] && m->run[at])
        at++;
    if (m->run[at] == other->run[at]) return 0;
    const run_line mine = line_at(m->run, at), theirs = line_at(other->run, at);
    const char *file = name_in(&mine), *other_file = name_in(&theirs);
    if (file && other_file && strcmp(file, other_file) == 0)
        return fault_set(f, EXIT_DATA, "%s changed between %s and %s: count all shards of the same file", file, name,
                         other_name);
    return fault_set(f, EXIT_DATA, "%s is of another run than %s: it counted %s, and the other %s", name, other_name,
                     file         ? file
                     : *mine.text ? mine.text
                                  : "no more",
                     other_file     ? other_file
                     : *theirs.text ? theirs.text
                                    : "no more");
}

int64_t manifest_common(const manifest *m, const manifest *other)
{
    for (int64_t i = 0, k = 0; i < m->ranges && k < other->ranges;) {
        const shard_range a = m->counted[i], b = other->counted[k];
        if (a.last >= b.first && b.last >= a.first) return a.first > b.first ? a.first : b.first;
        if (a.last < b.first)
            i++;
        else
            k++;
    }
    return 0;
}

static int compare_ranges(const void *a, const void *b)
{
    const shard_range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

int manifest_merge(manifest *m, const manifest *other, fault *f)
{
    shard_range *all = realloc(m->counted, (size_t)(m->ranges + other->ranges) * sizeof *all);
    if (!all) return fault_memory(f);
    m->counted = all;
    memcpy(all + m->ranges, other->counted, (size_t)other->ranges * sizeof *all);
    const int64_t count = m->ranges + other->ranges;
    qsort(all, (size_t)count, sizeof *all, compare_ranges);
    m->ranges = 1;
    for (int64_t i = 1; i < count; i++) {
        if (all[i].first == all[m->ranges - 1].last + 1)
            all[m->ranges - 1].last = all[i].last;
        else
            all[m->ranges++] = all[i];
    }
    return 0;
}

bool manifest_is_complete(const manifest *m)
{
    return m->ranges == 1 && m->counted[0].first == 1 && m->counted[0].last == m->shards;
}

char *manifest_missing(const manifest *m, char *text, size_t size)
{
    char list[400] = "";
    size_t used = 0;
    int64_t missing = 0, next = 1;
    for (int64_t i = 0; i <= m->ranges; i++) {
        const shard_range gap = {next, i < m->ranges ? m->counted[i].first - 1 : m->shards};
        if (i < m->ranges) next = m->counted[i].last + 1;
        if (gap.last < gap.first) continue;
        if (used + 60 > sizeof list) {
            snprintf(list + used, sizeof list - used, ", …");
            break;
        }
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%" PRId64, missing ? ", " : "", gap.first);
        if (gap.last > gap.first) used += (size_t)snprintf(list + used, sizeof list - used, "-%" PRId64, gap.last);
        missing += gap.last - gap.first + 1;
    }
    snprintf(text, size, "shard%s %s of %" PRId64 " %s missing", missing == 1 ? "" : "s", list, m->shards,
             missing == 1 ? "is" : "are");
    return text;
}

bool manifest_has_option(const manifest *m, const char *option)
{
    const size_t length = strlen(option);
    bool has = false;
    for (const char *line = m->run; *line && !has; line += strcspn(line, "\n"), line += *line == '\n')
        has = strncmp(line, option, length) == 0 && (line[length] == ' ' || line[length] == '\n');
    return has;
}
