/* histo clahe: equalize the neighbourhood of each pixel, with limited contrast (Zuiderveld 1994). */
#include <math.h>
#include <stdlib.h>

#include "apply/command.h"
#include "apply/tiles.h"
#include "base/failure.h"

typedef struct clahe {
    tiles *tiles; /* [tables] */
    tile_grid grid;
} clahe;

static int fault_memory(const job *j, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the tiles of %s", job_name(j));
}

static int begin(job *j, fault *f)
{
    clahe *own = j->own = calloc(1, sizeof *own);
    if (!own) return fault_memory(j, f);
    own->tiles = calloc((size_t)j->tones.tables, sizeof *own->tiles);
    return own->tiles ? 0 : fault_memory(j, f);
}

static void drop_tiles(job *j)
{
    const clahe *own = j->own;
    for (int t = 0; t < j->tones.tables && own->tiles; t++)
        tiles_free(&own->tiles[t]);
}

/* If the bins, or the values of results, depend on the samples, count these first. */
static int find_levels(job *j, fault *f)
{
    const bool are_given =
        j->settings->tiles[0] < 2 &&
        (j->tones.dtype == HISTO_U8 || (j->tones.dtype == HISTO_U16 && (j->settings->bits || j->largest)));
    if (!are_given) {
        if (job_count(j, f) != 0) return -1;
    } else if (job_find_levels(j, f) != 0) {
        return -1;
    }
    for (int t = 0; t < j->tones.tables; t++) {
        levels *l = &j->levels[t];
        const int64_t values = (int64_t)(l->hi - l->lo) + 1;
        if (l->within == HISTO_MAP_LINEAR || l->axis.kind != HISTO_INTEGER) continue;
        l->axis = histo_axis_integer((int64_t)l->lo, values);
    }
    return 0;
}

static int count(job *j, void *context, int i, const histo_view *view, const job_part *part, fault *f)
{
    const clahe *own = context;
    const settings *s = j->settings;
    const histo_plan_options options = {.device = s->device, .threads = s->threads};
    return tiles_add(&own->tiles[j->tones.tone[i].table], part->y, view, part->fill.mask, &options, f);
}

static int find_grid(job *j, fault *f)
{
    static const int64_t usual[] = {1, 8, 8};
    clahe *own = j->own;
    const settings *s = j->settings;
    const int64_t height = pages_height(j->pages), width = pages_width(j->pages);
    const int64_t *count = s->tiles[2] ? s->tiles : usual;
    if (height == 0 || width == 0) return job_fault_nothing(j, f);
    if (j->frame && count[0] > 1)
        return fault_set(f, EXIT_USAGE,
                         "%s is video, whose frames are mapped one by one: leave out the third of --tiles",
                         job_name(j));
    if (!s->tile_size[0]) {
        own->grid = tiles_fit(count, s->overlap, count[0] > 1 ? j->pages_read : 1, height, width);
        return 0;
    }
    if (s->tile_size[0] > height || s->tile_size[1] > width)
        return fault_set(f, EXIT_USAGE,
                         "tiles of %lld x %lld pixels are larger than a page of %s, which has %lld x %lld: make them "
                         "smaller",
                         (long long)s->tile_size[1], (long long)s->tile_size[0], job_name(j), (long long)width,
                         (long long)height);
    if (s->tile_size[0] % s->overlap || s->tile_size[1] % s->overlap)
        return fault_set(f, EXIT_USAGE,
                         "tiles of %lld x %lld pixels cannot begin at %d equal steps: make --overlap divide both",
                         (long long)s->tile_size[1], (long long)s->tile_size[0], s->overlap);
    own->grid = tiles_of_size(s->tile_size, s->overlap, height, width);
    return 0;
}

static int gather(job *j, fault *f)
{
    clahe *own = j->own;
    drop_tiles(j);
    if (find_levels(j, f) != 0 || find_grid(j, f) != 0) return -1;
    for (int t = 0; t < j->tones.tables; t++)
        if (tiles_begin(&own->tiles[t], &own->grid, pages_height(j->pages), pages_width(j->pages), &j->levels[t].axis,
                        j->tones.dtype, f) != 0)
            return -1;
    return job_visit(j, count, own, f);
}

static int make(job *j, int t, fault *f)
{
    const clahe *own = j->own;
    const levels *l = &j->levels[t];
    const double clip = j->settings->clip;
    double lo, hi;
    job_results(j, t, &lo, &hi);
    const histo_make_options options = {.lo = lo, .hi = hi, .clip = clip > 0 ? clip : INFINITY};
    histo_map_destroy(j->maps[t]);
    j->maps[t] = NULL;
    return tiles_map(&own->tiles[t], l->within, &options, &j->maps[t], f);
}

/* Rows of one page of a volume. */
static histo_view in_volume(const histo_view *rows)
{
    return (histo_view){.data = rows->data,
                        .dtype = rows->dtype,
                        .ndim = 3,
                        .shape = {1, rows->shape[0], rows->shape[1]},
                        .strides = {0, rows->strides[0], rows->strides[1]}};
}

static int apply(job *j, int i, const band *b, const histo_view *from, const histo_view *to, fault *f)
{
    const clahe *own = j->own;
    const tile_grid *g = &own->grid;
    const bool volume = g->count[0] > 1;
    const histo_view places[2][2] = {{*from, *to}, {in_volume(from), in_volume(to)}};
    histo_apply_options options = {.threads = j->settings->threads, .origin = {b->y, 0}};
    if (volume) options = (histo_apply_options){.threads = options.threads, .origin = {j->pages_written - 1, b->y, 0}};
    tiles_place(g, volume ? 3 : 2, &options);
    const histo_view *views = places[volume];
    return histo_map_apply(j->maps[j->tones.tone[i].table], &views[0], &views[1], &options) == HISTO_OK
               ? 0
               : fault_of_library(f, EXIT_DATA, job_name(j));
}

static void end(job *j)
{
    clahe *own = j->own;
    if (!own) return;
    drop_tiles(j);
    free(own->tiles);
    free(own);
}

int command_clahe(const settings *s)
{
    static const job_kind kind = {.verb = "equalizing",
                                  .shows = true,
                                  .by_page = true,
                                  .bins = 4096,
                                  .begin = begin,
                                  .gather = gather,
                                  .make = make,
                                  .apply = apply,
                                  .end = end};
    return job_command(s, &kind);
}
