/* Every thread takes the next undecoded part, not far ahead of the one being counted, and stores its bands there. Rows
 * of text are guessed to begin after a newline: if a quoted newline misleads, the rows of the part before end
 * elsewhere, and the part is decoded again, from there. */
#include "input/feed/prefetch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "input/feed/band_cache.h"

enum { SMALLEST_FILE = 1 << 16, PART = 1 << 20, MOST_PARTS = 1 << 16, MOST_THREADS = 8 };

/* Per thread: decoded and not yet counted. */
enum { BYTES_AHEAD = 8 << 20, PARTS_AHEAD = 3 };

typedef enum part_state { PART_OPEN, PART_BEGUN, PART_ENDED } part_state;

typedef struct part {
    int64_t first, end; /* units */
    part_state state;
    bool placed;         /* begin is known */
    bool partly;         /* not all of its bands are cached */
    bool wrong;          /* its bands are no longer wanted */
    bool at_once;        /* the counting thread decodes it itself */
    int64_t begin, unit; /* where its rows begin and end, if readers guess */
    cached_band *bands;
    int count, taken;              /* bands decoded, and handed out in this pass */
    uint64_t bad, missing, ragged; /* left out after the last band */
    int64_t pages_in_file;
    fault *failed; /* after the last band; NULL: no failure */
} part;

typedef struct prefetcher prefetcher;

typedef struct worker {
    prefetcher *prefetcher;
    reader *reader;
    band_room *room;
    pthread_t thread;
} worker;

struct prefetcher {
    reader base;
    reader *from; /* describes the file, and is read if it is not divided */
    char *path;
    read_options options;
    bool keep;
    int threads;
    size_t limit;
    size_t whole;      /* bytes held by the reader, counted as if cached here */
    histo_view *views; /* [2 * selected.count]: views of the band, and of its marks, cropped in place */
    part *parts;
    int64_t count;
    int64_t at;   /* the part being counted */
    int64_t next; /* no part before it is open */
    int64_t unit; /* after the band */
    size_t bytes; /* decoded, neither counted nor cached */
    bool used;    /* `from` has been read */
    bool stop;
    worker *workers; /* [threads], and one that decodes again after a wrong guess */
    int running;
    pthread_mutex_t lock;
    pthread_cond_t decoded; /* something of the part being counted */
    pthread_cond_t counted; /* enough that more may be decoded */
};

/* ---- Bands ---------------------------------------------------------------------------------------------- */

static bool is_divided(const prefetcher *a)
{
    return a->count > 1;
}

static bool is_cached(const prefetcher *a, const part *p)
{
    return a->keep && !p->partly;
}

static void free_band(prefetcher *a, const part *p, cached_band *b)
{
    if (!b->memory) return;
    if (is_cached(a, p))
        band_cache_release(b->bytes);
    else
        a->bytes -= b->bytes;
    cached_band_free(b);
}

/* Stop caching the part: only the band that is handed out, and those after it, stay until they are counted. */
static void stop_caching(prefetcher *a, part *p)
{
    for (int i = 0; i < p->count; i++) {
        if (i < p->taken - 1) {
            free_band(a, p, &p->bands[i]);
        } else {
            band_cache_release(p->bands[i].bytes);
            a->bytes += p->bands[i].bytes;
        }
    }
    p->partly = true;
}

/* Discard what was decoded, so that the part can be decoded again. */
static void empty(prefetcher *a, part *p)
{
    for (int i = 0; i < p->count; i++)
        free_band(a, p, &p->bands[i]);
    free(p->bands);
    free(p->failed);
    *p = (part){.first = p->first, .end = p->end};
}

/* ---- Decoding ------------------------------------------------------------------------------------------- */

/* Wait until enough earlier bands have been counted, unless the next band is being waited for; locked. */
static bool wait_for_room(prefetcher *a, const part *p)
{
    const size_t limit = (size_t)a->threads * BYTES_AHEAD;
    while (!a->stop && !p->wrong && !p->at_once && a->bytes > limit && !(p == &a->parts[a->at] && p->taken == p->count))
        pthread_cond_wait(&a->counted, &a->lock);
    return !a->stop && !p->wrong;
}

/* Append a band to the part, which then owns it; locked. */
static bool append(prefetcher *a, part *p, const cached_band *b)
{
    cached_band *bands = list_grown(p->bands, p->count, sizeof *bands);
    if (!bands) return false;
    p->bands = bands;
    if (is_cached(a, p) && !band_cache_reserve(b->bytes, a->limit)) stop_caching(a, p);
    if (!is_cached(a, p)) a->bytes += b->bytes;
    p->bands[p->count++] = *b;
    if (p == &a->parts[a->at]) pthread_cond_signal(&a->decoded);
    return true;
}

/* Append a copy of a band: 1, 0 if no more are wanted, -1. */
static int store(prefetcher *a, part *p, cached_band *copy, const band *b, band_room **room, fault *f)
{
    const bool stored = cached_band_copy(copy, b, a->from->selected.count, room);
    pthread_mutex_lock(&a->lock);
    const bool wanted = wait_for_room(a, p), appended = stored && wanted && append(a, p, copy);
    pthread_mutex_unlock(&a->lock);
    if (appended) return 1;
    cached_band_free(copy);
    return wanted ? fault_set(f, EXIT_DATA, "no memory to read %s", a->path) : 0;
}

/* Move to the beginning of the part, at unit `first`. */
static int place(prefetcher *a, part *p, reader *r, int64_t first, fault *f)
{
    const int failed = is_divided(a) ? r->take(r, first, p->end, f) : a->used ? r->rewind(r, f) : 0;
    if (!is_divided(a)) a->used = true;
    pthread_mutex_lock(&a->lock);
    p->begin = !failed && is_divided(a) && r->guesses && first > 0 ? r->unit(r) : -1;
    p->placed = true;
    pthread_cond_signal(&a->decoded);
    pthread_mutex_unlock(&a->lock);
    return failed;
}

static void decode(prefetcher *a, part *p, worker *by, fault *f)
{
    reader *r = by->reader;
    band b;
    uint64_t bad = 0, missing = 0, ragged = 0;
    while (r->next(r, &b, f) > 0) {
        cached_band copy = {.unit = r->unit ? r->unit(r) : -1,
                            .bad = r->bad - bad,
                            .missing = r->missing - missing,
                            .ragged = r->ragged - ragged};
        if (store(a, p, &copy, &b, &by->room, f) < 1) return;
        bad = r->bad;
        missing = r->missing;
        ragged = r->ragged;
    }
    pthread_mutex_lock(&a->lock);
    p->bad = r->bad - bad;
    p->missing = r->missing - missing;
    p->ragged = r->ragged - ragged;
    p->unit = r->unit ? r->unit(r) : -1;
    p->pages_in_file = r->pages_in_file;
    pthread_mutex_unlock(&a->lock);
}

/* Select in another reader of the file the channels that `from` has selected, which do not change while threads
 * decode. */
static int select_in(const prefetcher *a, reader *r, fault *f)
{
    const selection *s = &a->from->selected;
    return reader_select(r, s->wanted, s->forms, s->count, f);
}

static int open_reader(const prefetcher *a, reader **r, fault *f)
{
    if (*r) return 0;
    if (!is_divided(a)) {
        *r = a->from;
        return 0;
    }
    *r = reader_open(a->path, &a->options, false, f);
    if (!*r) return -1;
    if ((*r)->units == a->from->units) return select_in(a, *r, f);
    return fault_set(f, EXIT_DATA, "%s changed while it was read: try again", a->path);
}

static void decode_part(prefetcher *a, part *p, worker *by, int64_t first)
{
    fault f = {0};
    if (open_reader(a, &by->reader, &f) == 0 && place(a, p, by->reader, first, &f) == 0) decode(a, p, by, &f);
    fault *failed = f.status == EXIT_OK ? NULL : malloc(sizeof *failed);
    if (failed) *failed = f;
    pthread_mutex_lock(&a->lock);
    p->placed = true;
    p->failed = failed;
    p->state = a->stop ? PART_BEGUN : PART_ENDED;
    pthread_cond_signal(&a->decoded);
    pthread_mutex_unlock(&a->lock);
}

/* The next open part that is near enough, or NULL; locked. */
static part *find_part(prefetcher *a)
{
    while (a->next < a->count && a->parts[a->next].state != PART_OPEN)
        a->next++;
    return a->next < a->count && a->next <= a->at + (int64_t)a->threads * PARTS_AHEAD ? &a->parts[a->next] : NULL;
}

static void *decode_parts(void *self)
{
    worker *h = self;
    prefetcher *a = h->prefetcher;
    pthread_mutex_lock(&a->lock);
    while (!a->stop) {
        part *p = find_part(a);
        if (!p) {
            pthread_cond_wait(&a->counted, &a->lock);
            continue;
        }
        p->state = PART_BEGUN;
        pthread_mutex_unlock(&a->lock);
        decode_part(a, p, h, p->first);
        pthread_mutex_lock(&a->lock);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

static void stop_threads(prefetcher *a)
{
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_broadcast(&a->counted);
    pthread_mutex_unlock(&a->lock);
    for (; a->running > 0; a->running--)
        pthread_join(a->workers[a->running - 1].thread, NULL);
    for (int i = 0; i <= a->threads; i++)
        band_room_leave(&a->workers[i].room);
    a->stop = false;
}

static int start_threads(prefetcher *a, fault *f)
{
    while (a->running < a->threads &&
           pthread_create(&a->workers[a->running].thread, NULL, decode_parts, &a->workers[a->running]) == 0)
        a->running++;
    return a->running ? 0 : fault_set(f, EXIT_DATA, "no thread can be started to read %s", a->path);
}

/* ---- The reader ----------------------------------------------------------------------------------------- */

/* Discard what was decoded, and the readers that decoded it. */
static void forget(prefetcher *a)
{
    stop_threads(a);
    for (int64_t i = 0; i < a->count; i++)
        empty(a, &a->parts[i]);
    for (int i = 0; i <= a->threads; i++) {
        reader *r = a->workers[i].reader;
        if (r != a->from) reader_close(r);
        a->workers[i].reader = NULL;
    }
    a->at = a->next = 0;
}

static int prefetch_select(reader *base, fault *f)
{
    prefetcher *a = (prefetcher *)base;
    selection *s = &base->selected;
    forget(a);
    a->views = arena_take(&s->memory, 2 * (size_t)s->count, sizeof *a->views);
    if (!a->views) return fault_set(f, EXIT_DATA, "no memory to read %s", a->path);
    return reader_select(a->from, s->wanted, s->forms, s->count, f);
}

/* Continue with a part. If its rows do not begin where those of the previous part ended, it is decoded again. */
static void begin_part(prefetcher *a, part *p)
{
    const int64_t ended = a->at > 0 ? p[-1].unit : -1;
    pthread_mutex_lock(&a->lock);
    while (!p->placed)
        pthread_cond_wait(&a->decoded, &a->lock);
    const bool wrong = p->begin >= 0 && p->begin != ended;
    p->wrong = wrong;
    if (wrong) pthread_cond_broadcast(&a->counted);
    while (wrong && p->state != PART_ENDED)
        pthread_cond_wait(&a->decoded, &a->lock);
    if (wrong) {
        empty(a, p);
        p->state = PART_BEGUN; /* keeps other threads from decoding it again */
    }
    p->at_once = wrong;
    pthread_mutex_unlock(&a->lock);
    if (wrong) decode_part(a, p, &a->workers[a->threads], ended);
}

/* The next band of the part: false at its end. The previous one has been counted. */
static bool next_band(prefetcher *a, part *p, band *b)
{
    pthread_mutex_lock(&a->lock);
    const bool limited = a->bytes > 0; /* threads may be waiting for room */
    if (p->taken > 0 && !is_cached(a, p)) free_band(a, p, &p->bands[p->taken - 1]);
    if (limited) pthread_cond_broadcast(&a->counted);
    while (p->taken == p->count && p->state != PART_ENDED)
        pthread_cond_wait(&a->decoded, &a->lock);
    const bool more = p->taken < p->count;
    if (more) {
        const cached_band *cached = &p->bands[p->taken++];
        const size_t bytes = (size_t)a->base.selected.count * sizeof *a->views;
        a->unit = cached->unit;
        a->base.bad += cached->bad;
        a->base.missing += cached->missing;
        a->base.ragged += cached->ragged;
        *b = cached->band;
        b->views = memcpy(a->views, b->views, bytes);
        if (b->valid) b->valid = memcpy(a->views + a->base.selected.count, b->valid, bytes);
    }
    pthread_mutex_unlock(&a->lock);
    return more;
}

/* The other readers of the file find more columns when asked for one that they lack. */
static bool prefetch_find_more(reader *base)
{
    reader *from = ((prefetcher *)base)->from;
    base->find_more = NULL;
    if (!from->find_more || !from->find_more(from)) return false;
    base->channels = from->channels;
    base->names = from->names;
    base->dtypes = from->dtypes;
    base->numeric = from->numeric;
    base->blank = from->blank;
    base->reals = from->reals;
    base->kinds = from->kinds;
    base->styles = from->styles;
    return true;
}

static int prefetch_next(reader *base, band *b, fault *f)
{
    prefetcher *a = (prefetcher *)base;
    if (!a->running && start_threads(a, f) != 0) return -1;
    for (; a->at < a->count;) {
        part *p = &a->parts[a->at];
        if (p->taken == 0) begin_part(a, p);
        if (next_band(a, p, b)) return 1;
        if (p->failed) return fault_set(f, p->failed->status, "%s", p->failed->text);
        base->bad += p->bad;
        base->missing += p->missing;
        base->ragged += p->ragged;
        base->pages_in_file = p->pages_in_file;
        pthread_mutex_lock(&a->lock);
        a->at++;
        pthread_cond_broadcast(&a->counted);
        pthread_mutex_unlock(&a->lock);
    }
    return 0;
}

static int prefetch_rewind(reader *base, fault *f)
{
    prefetcher *a = (prefetcher *)base;
    (void)f;
    stop_threads(a);
    for (int64_t i = 0; i < a->count; i++) {
        part *p = &a->parts[i];
        if (p->state == PART_ENDED && !p->failed && is_cached(a, p))
            p->taken = 0;
        else
            empty(a, p);
    }
    a->at = a->next = 0;
    base->bad = base->missing = base->ragged = 0;
    return 0;
}

/* Only if a single thread decodes; several are busy with the previous file. */
static void prefetch_start(reader *base)
{
    prefetcher *a = (prefetcher *)base;
    fault later = {0};
    if (!is_divided(a) && !a->running) start_threads(a, &later);
}

static bool prefetch_caches_all(const reader *base)
{
    const prefetcher *a = (const prefetcher *)base;
    bool all = a->at == a->count && !a->from->whole_bytes;
    for (int64_t i = 0; i < a->count && all; i++)
        all = is_cached(a, &a->parts[i]);
    return all || a->whole > 0;
}

static int64_t prefetch_unit(const reader *base)
{
    return ((const prefetcher *)base)->unit;
}

static int64_t prefetch_position(const reader *base)
{
    const prefetcher *a = (const prefetcher *)base;
    return is_divided(a) ? (int64_t)((double)input_size(base->in) * (double)a->at / (double)a->count)
                         : input_position(base->in);
}

static void prefetch_close(reader *base)
{
    prefetcher *a = (prefetcher *)base;
    stop_threads(a);
    if (a->whole) band_cache_release(a->whole);
    for (int64_t i = 0; i < a->count && a->parts; i++)
        empty(a, &a->parts[i]);
    for (int i = 0; i <= a->threads && a->workers; i++)
        if (a->workers[i].reader != a->from) reader_close(a->workers[i].reader);
    reader_destroy(a->from);
    pthread_cond_destroy(&a->decoded);
    pthread_cond_destroy(&a->counted);
    pthread_mutex_destroy(&a->lock);
    free(a->parts);
    free(a->workers);
    free(a->path);
}

static int64_t bytes_of(const reader *r)
{
    return r->data_bytes ? r->data_bytes : input_size(r->in);
}

/* Divide the file into parts of about PART bytes, or leave it whole. */
static bool divide(prefetcher *a, bool parts)
{
    const int64_t units = a->from->units, size = bytes_of(a->from);
    const bool again =
        strcmp(a->path, "-") != 0 && !input_was_spooled(a->from->in); /* can be opened by other readers */
    int64_t each = units;
    if (parts && again && units > 1 && size > 0) {
        const int64_t bytes = size / MOST_PARTS < PART ? PART : size / MOST_PARTS + 1;
        each = (int64_t)((double)units * (double)bytes / (double)size);
        if (each < 1) each = units / MOST_PARTS + 1;
    }
    a->count = units > each ? (units - 1) / each + 1 : 1;
    a->parts = calloc((size_t)a->count, sizeof *a->parts);
    for (int64_t i = 0; i < a->count && a->parts; i++) {
        a->parts[i].first = i * each;
        a->parts[i].end = i + 1 < a->count ? (i + 1) * each : units;
    }
    return a->parts != NULL;
}

reader *prefetch_open(reader *from, const char *path, const read_options *options, bool keep, bool parts, int threads)
{
    if (from->maps || from->video || options->about || !input_can_rewind(from->in) || bytes_of(from) < SMALLEST_FILE)
        return from;
    prefetcher *a = calloc(1, sizeof *a);
    if (!a) return from;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->decoded, NULL);
    pthread_cond_init(&a->counted, NULL);
    a->from = from;
    a->options = *options;
    a->options.in_parts = true;
    a->keep = keep;
    a->base = *from;
    a->path = strdup(path);
    if (!threads) threads = histo_threads();
    a->threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    a->limit = band_cache_limit(a->threads);
    if (from->whole_bytes) {
        a->keep = false;
        if (keep && band_cache_reserve((size_t)from->whole_bytes, a->limit)) a->whole = (size_t)from->whole_bytes;
    }
    bool made = a->path && divide(a, parts);
    if (!is_divided(a)) a->threads = 1;
    a->workers = calloc((size_t)a->threads + 1, sizeof *a->workers);
    if (!made || !a->workers) {
        if (a->whole) band_cache_release(a->whole);
        free(a->parts);
        free(a->workers);
        free(a->path);
        free(a);
        return from;
    }
    for (int i = 0; i < a->threads; i++)
        a->workers[i].prefetcher = a;
    a->base.selected = (selection){0};
    a->base.memory = (arena){0};
    a->base.about = metadata_share(from->about);
    a->base.take = NULL;
    a->base.unit = prefetch_unit;
    a->base.position = prefetch_position;
    if (from->find_more) a->base.find_more = prefetch_find_more;
    a->base.select = prefetch_select;
    a->base.next = prefetch_next;
    a->base.rewind = prefetch_rewind;
    a->base.close = prefetch_close;
    a->base.start = prefetch_start;
    a->base.caches_all = prefetch_caches_all;
    return &a->base;
}
