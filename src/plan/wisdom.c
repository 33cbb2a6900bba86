/* Wisdom: which strategy measurement found best for a kind of problem on a device. Lines of text:
 *
 *     histo-wisdom 1
 *     DEVICE SIGNATURE BACKEND/STRATEGY MICROSECONDS
 *
 * DEVICE and SIGNATURE have no blanks. Lines that name unknown strategies are skipped when loading. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "view/dtype.h"

typedef struct entry {
    struct entry *next;
    const histo_row *row;
    double us;
    char key[]; /* "DEVICE SIGNATURE" */
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry *known;

void histo_problem_signature(const histo_problem *problem, int threads, char *signature, size_t capacity)
{
    static const char *const weightings[] = {"counts", "fast", "reproducible"};
    int log2_samples = 0;
    while (log2_samples < 62 && problem->samples >> (log2_samples + 1))
        log2_samples++;
    histo_text text = {.out = signature, .capacity = capacity};
    for (int a = 0; a < problem->naxes; a++)
        histo_text_add(&text, "%s%s/%s/%lld", a ? "," : "", histo_dtype_name(problem->dtypes[a]),
                       problem->axes[a].edges ? "search" : "uniform", (long long)problem->axes[a].bins);
    histo_text_add(&text, ";%s", weightings[problem->weighting]);
    const int optional[] = {problem->weights, problem->mask, problem->where};
    static const char *const names[] = {"weights", "mask", "where"};
    for (int i = 0; i < 3; i++)
        if (optional[i] != HISTO_ABSENT)
            histo_text_add(&text, ";%s=%s", names[i], histo_dtype_name(problem->dtypes[optional[i]]));
    histo_text_add(&text, ";batch=%lld;samples=2^%d;threads=%d", (long long)problem->batch, log2_samples, threads);
}

static entry *find(const char *key)
{
    for (entry *e = known; e; e = e->next)
        if (strcmp(e->key, key) == 0) return e;
    return NULL;
}

/* With the lock held. */
static histo_status remember(const char *key, const histo_row *row, double us)
{
    entry *e = find(key);
    if (!e) {
        size_t bytes = sizeof *e + strlen(key) + 1;
        e = malloc(bytes);
        if (!e) return histo_fail_memory(bytes, "wisdom");
        strcpy(e->key, key);
        e->next = known;
        known = e;
    }
    e->row = row;
    e->us = us;
    return HISTO_OK;
}

static void make_key(char *key, size_t capacity, histo_device device, const char *signature)
{
    snprintf(key, capacity, "%s %s", histo_backend_of(device)->device_name(device), signature);
}

const histo_row *histo_wisdom_find(histo_device device, const char *signature, double *us)
{
    char key[HISTO_SIGNATURE_BYTES + 128];
    make_key(key, sizeof key, device, signature);
    pthread_mutex_lock(&lock);
    const entry *e = find(key);
    const histo_row *row = e ? e->row : NULL;
    if (e) *us = e->us;
    pthread_mutex_unlock(&lock);
    return row;
}

histo_status histo_wisdom_add(histo_device device, const char *signature, const histo_row *row, double us)
{
    char key[HISTO_SIGNATURE_BYTES + 128];
    make_key(key, sizeof key, device, signature);
    pthread_mutex_lock(&lock);
    histo_status status = remember(key, row, us);
    pthread_mutex_unlock(&lock);
    return status;
}

void histo_wisdom_forget(void)
{
    pthread_mutex_lock(&lock);
    while (known) {
        entry *next = known->next;
        free(known);
        known = next;
    }
    pthread_mutex_unlock(&lock);
}

histo_status histo_wisdom_save(const char *path)
{
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return histo_fail(HISTO_IO, "cannot write wisdom to %s: %s", path ? path : "(NULL)", strerror(errno));
    fputs("histo-wisdom 1\n", file);
    pthread_mutex_lock(&lock);
    for (const entry *e = known; e; e = e->next)
        fprintf(file, "%s %s/%s %.6g\n", e->key, e->row->backend->name, e->row->name, e->us);
    pthread_mutex_unlock(&lock);
    bool failed = ferror(file);
    if (fclose(file) != 0 || failed)
        return histo_fail(HISTO_IO, "cannot write wisdom to %s: %s", path, strerror(errno));
    return HISTO_OK;
}

histo_status histo_wisdom_load(const char *path)
{
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) return histo_fail(HISTO_IO, "cannot read wisdom from %s: %s", path ? path : "(NULL)", strerror(errno));
    char line[HISTO_SIGNATURE_BYTES + 512];
    histo_status status = HISTO_OK;
    if (!fgets(line, sizeof line, file) || strcmp(line, "histo-wisdom 1\n") != 0)
        status = histo_fail(HISTO_CORRUPT, "%s is no wisdom file of this version", path);
    pthread_mutex_lock(&lock);
    while (status == HISTO_OK && fgets(line, sizeof line, file)) {
        char device[128], signature[HISTO_SIGNATURE_BYTES], strategy[64], key[sizeof device + sizeof signature];
        double us;
        if (sscanf(line, "%127s %383s %63s %lf", device, signature, strategy, &us) != 4) continue;
        const histo_row *row = histo_row_find(strategy, NULL);
        if (!row) continue;
        snprintf(key, sizeof key, "%s %s", device, signature);
        status = remember(key, row, us);
    }
    pthread_mutex_unlock(&lock);
    fclose(file);
    return status;
}
