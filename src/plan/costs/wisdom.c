/* Wisdom: the strategy that was measured fastest for a kind of problem on a device. Lines of text:
 *
 *     histo-wisdom 1
 *     DEVICE SIGNATURE BACKEND/STRATEGY[:NAME=VALUE,…] MICROSECONDS
 *
 * DEVICE and SIGNATURE contain no blanks. A signature describes the samples, axes and weights, the classes of the
 * numbers of bins and samples, and whether the samples have to be transferred, but not their distribution. Loading
 * skips lines with unknown strategies or parameters; a later line replaces an earlier one. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/floats.h"
#include "base/locale.h"
#include "base/memory.h"
#include "base/outfile.h"
#include "base/system.h"
#include "base/threads/locks.h"
#include "plan/pairs.h"
#include "plan/plan.h"
#include "view/dtype.h"

enum { PARAMS_BYTES = 512 /* of a strategy and its parameters as text */ };

typedef struct entry {
    struct entry *next;
    const histo_row *row;
    int64_t params[HISTO_MAX_PARAMS];
    double us;
    char key[]; /* "DEVICE SIGNATURE" */
} entry;

static entry *entries; /* guarded by histo_wisdom_lock */

/* The largest number of bins expected to behave alike: bins rounded up to 2^k or 3 * 2^(k - 1). */
static int64_t class_of_bins(int64_t bins)
{
    int64_t power = 1;
    while (power < bins)
        power *= 2;
    return bins > power / 4 * 3 || power < 4 ? power : power / 4 * 3;
}

/* How samples find their bins. Only the CPU takes advantage of nearly regular edges. */
static const char *lookup_name(const histo_problem *problem, histo_device device, int axis)
{
    if (!problem->axes[axis].edges) return "uniform";
    return device == HISTO_DEVICE_CPU && problem->off[axis] <= HISTO_NEAR ? "near" : "search";
}

void histo_plan_signature(const histo_plan *plan, int target, char *signature)
{
    const histo_problem *problem = &plan->problem;
    const histo_device device = plan->target[target].device;
    static const char *const weightings[] = {"counts", "fast", "reproducible", "fast-sum", "reproducible-sum"};
    int log2_samples = 0;
    while (log2_samples < 62 && problem->samples >> (log2_samples + 1))
        log2_samples++;
    histo_text text = {.out = signature, .capacity = HISTO_SIGNATURE_BYTES};
    for (int a = 0; a < problem->naxes; a++)
        histo_text_add(&text, "%s%s/%s/%lld", a ? "," : "", histo_dtype_name(problem->sampled[a]),
                       lookup_name(problem, device, a), (long long)class_of_bins(problem->axes[a].bins));
    histo_text_add(&text, ";%s", weightings[problem->weighting]);
    if (problem->storage == HISTO_SPARSE) histo_text_add(&text, ";sparse");
    if (problem->records) histo_text_add(&text, ";records");
    histo_pairs_sign(problem, &text);
    const int optional[] = {problem->weights, problem->mask, problem->where};
    static const char *const names[] = {"weights", "mask", "where"};
    for (int i = 0; i < 3; i++)
        if (optional[i] != HISTO_ABSENT)
            histo_text_add(&text, ";%s=%s", names[i], histo_dtype_name(problem->dtypes[optional[i]]));
    if (device != HISTO_DEVICE_CPU && problem->home == HISTO_DEVICE_CPU) histo_text_add(&text, ";from=host");
    if (device == HISTO_DEVICE_CPU && problem->apart)
        histo_text_add(&text, ";interleaved=%s", problem->apart == HISTO_FAR_APART ? "far" : "near");
    histo_text_add(&text, ";batch=%lld;samples=2^%d;threads=%d", (long long)problem->batch, log2_samples,
                   plan->target[target].threads);
}

/* The caller holds the lock. */
static entry *find(const char *key)
{
    for (entry *e = entries; e; e = e->next)
        if (strcmp(e->key, key) == 0) return e;
    return NULL;
}

static histo_status add(const char *key, const histo_row *row, const int64_t *params, double us)
{
    histo_status status = HISTO_OK;
    pthread_mutex_lock(&histo_wisdom_lock);
    entry *e = find(key);
    size_t bytes = sizeof *e + strlen(key) + 1;
    if (!e && (e = histo_malloc(bytes))) {
        strcpy(e->key, key);
        e->next = entries;
        entries = e;
    }
    if (e) {
        e->row = row;
        e->us = us;
        memset(e->params, 0, sizeof e->params);
        histo_params_default(row, e->params);
        if (params) memcpy(e->params, params, sizeof e->params);
    } else {
        status = histo_fail_memory(bytes, "wisdom");
    }
    pthread_mutex_unlock(&histo_wisdom_lock);
    return status;
}

static void make_key(char *key, size_t capacity, histo_device device, const char *signature)
{
    snprintf(key, capacity, "%s %s", histo_backend_of(device)->device_name(device), signature);
}

bool histo_wisdom_exists(void)
{
    pthread_mutex_lock(&histo_wisdom_lock);
    const bool any = entries;
    pthread_mutex_unlock(&histo_wisdom_lock);
    return any;
}

const histo_row *histo_wisdom_find(histo_device device, const char *signature, int64_t *params, double *us)
{
    char key[HISTO_SIGNATURE_BYTES + 128];
    make_key(key, sizeof key, device, signature);
    pthread_mutex_lock(&histo_wisdom_lock);
    const entry *e = find(key);
    const histo_row *row = e ? e->row : NULL;
    if (e) *us = e->us;
    if (e) memcpy(params, e->params, sizeof e->params);
    pthread_mutex_unlock(&histo_wisdom_lock);
    return row;
}

histo_status histo_wisdom_add(histo_device device, const char *signature, const histo_row *row, const int64_t *params,
                              double us)
{
    char key[HISTO_SIGNATURE_BYTES + 128];
    make_key(key, sizeof key, device, signature);
    return add(key, row, params, us);
}

void histo_wisdom_forget(void)
{
    pthread_mutex_lock(&histo_wisdom_lock);
    while (entries) {
        entry *next = entries->next;
        histo_free(entries);
        entries = next;
    }
    pthread_mutex_unlock(&histo_wisdom_lock);
}

/* Add all wisdom as the text of a file. The caller holds the lock. */
static void print(histo_text *text)
{
    histo_text_add(text, "histo-wisdom 1\n");
    for (const entry *e = entries; e; e = e->next) {
        char params[PARAMS_BYTES] = "";
        histo_params_print(e->row, e->params, &(histo_text){.out = params, .capacity = sizeof params});
        histo_text_add(text, "%s %s/%s%s%s %.6g\n", e->key, e->row->backend->name, e->row->name, *params ? ":" : "",
                       params, e->us);
    }
}

/* The text, which the caller frees, or NULL. Made in memory, so that nobody waits for the lock during slow I/O. */
static char *text_of_all(void)
{
    histo_text text = {0};
    pthread_mutex_lock(&histo_wisdom_lock);
    print(&text);
    text = (histo_text){.out = histo_malloc(text.length + 1), .capacity = text.length + 1};
    if (text.out) print(&text);
    pthread_mutex_unlock(&histo_wisdom_lock);
    return text.out;
}

static histo_status save(const char *path)
{
    char *text = text_of_all();
    if (!text) return histo_fail(HISTO_NO_MEMORY, "out of memory: the text of wisdom");
    histo_outfile out;
    int error = histo_outfile_open(&out, path);
    if (!error) {
        fputs(text, out.stream);
        error = histo_outfile_close(&out);
    }
    histo_free(text);
    return error ? histo_fail_file("cannot write wisdom to", path, error) : HISTO_OK;
}

static histo_status load_line(const char *line)
{
    char device[128], signature[HISTO_SIGNATURE_BYTES], strategy[PARAMS_BYTES];
    double us;
    if (sscanf(line, "%127s %383s %511s %lf", device, signature, strategy, &us) != 4) return HISTO_OK;
    if (!(us >= 0 && us < 1e300)) return HISTO_OK;
    char *values = strchr(strategy, ':');
    if (values) *values++ = 0;
    const histo_row *row = histo_row_find(strategy, NULL);
    if (row && !row->strategy && histo_backend_load(NULL) == HISTO_OK) row = histo_row_find(strategy, NULL);
    if (!row || !row->strategy) return HISTO_OK;
    int64_t params[HISTO_MAX_PARAMS] = {0};
    histo_params_default(row, params);
    if (histo_params_parse(row, values, params) != HISTO_OK) return HISTO_OK;
    char key[sizeof device + sizeof signature];
    snprintf(key, sizeof key, "%s %s", device, signature);
    return add(key, row, params, us);
}

static histo_status load(const char *path)
{
    FILE *file = histo_open_to_read(path);
    if (!file) return histo_fail_file("cannot read wisdom from", path, errno);
    char line[HISTO_SIGNATURE_BYTES + 512];
    histo_status status = HISTO_OK;
    bool headed = fgets(line, sizeof line, file) && strcmp(line, "histo-wisdom 1\n") == 0;
    while (headed && status == HISTO_OK && fgets(line, sizeof line, file))
        status = load_line(line);
    if (ferror(file))
        status = histo_fail_file("cannot read wisdom from", path, errno);
    else if (!headed)
        status = histo_fail(HISTO_CORRUPT,
                            "%s is not a wisdom file of this version: its line 1 should be 'histo-wisdom 1'; remove it "
                            "and save wisdom anew",
                            path);
    fclose(file);
    return status;
}

/* Call `act` on the named file, with numbers in the "C" locale. */
static histo_status in_c_locale(histo_status (*act)(const char *path), const char *path)
{
    if (!path) return histo_fail(HISTO_INVALID, "the path of the wisdom file is NULL: give one");
    histo_c_locale locale;
    histo_status status = histo_c_locale_begin(&locale);
    if (status != HISTO_OK) return status;
    status = act(path);
    histo_c_locale_end(&locale);
    return status;
}

histo_status histo_wisdom_save(const char *path)
{
    HISTO_STANDARD_FLOATS;
    return in_c_locale(save, path);
}

histo_status histo_wisdom_load(const char *path)
{
    HISTO_STANDARD_FLOATS;
    return in_c_locale(load, path);
}
