#include "video/ellipse.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "video/gradient.h"

enum { MOST_SLOTS = 1 << 16 };

/* A rectangle of a frame. */
typedef struct ellipse_pixels {
    int64_t left, top, width, height;
    uint16_t *slots;
    int16_t *across, *down; /* the gradient */
    int64_t room;           /* number of pixels for which there is memory */
} ellipse_pixels;

/* The states of one scale. */
typedef struct ellipse_states {
    const ellipse_shape *shape;
    ellipse_state first;   /* of the first column and row */
    int64_t columns, rows; /* 0: none */
    int32_t *model;        /* [slots]: its counts, scaled to the shape's area */
    uint32_t *gradients;   /* [rows][columns]: sums along the rim */
    int32_t *intersections;
} ellipse_states;

/* A search in a frame. Threads take bands of its rectangle, and then bands of the states of one scale. */
typedef struct ellipse_search {
    const ellipse_tracker *tracker;
    planes *planes;
    ellipse_states *scales; /* [2 * range + 1], by scale */
    int64_t scales_count, bands;
    atomic_bool out_of_memory;
} ellipse_search;

/* ---- Threads ---- */

typedef void search_task(ellipse_search *s, int64_t task);

typedef struct search_team {
    ellipse_search *search;
    search_task *task;
    int64_t tasks;
    atomic_llong next;
} search_team;

static void *take_tasks(void *self)
{
    search_team *team = self;
    for (int64_t task; (task = team->next++) < team->tasks;)
        team->task(team->search, task);
    return NULL;
}

static void run_tasks(ellipse_search *s, int64_t tasks, search_task *task)
{
    search_team team = {.search = s, .task = task, .tasks = tasks};
    const int threads = s->planes->threads ? s->planes->threads : histo_threads();
    pthread_t others[MAX_THREADS];
    int running = 0;
    while (running < threads - 1 && running < tasks - 1 && running < MAX_THREADS &&
           pthread_create(&others[running], NULL, take_tasks, &team) == 0)
        running++;
    take_tasks(&team);
    while (running > 0)
        pthread_join(others[--running], NULL);
}

/* ---- The tracker ---- */

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t clamp(int64_t value, int64_t lowest, int64_t highest)
{
    return smaller(larger(value, lowest), highest);
}

/* The axis of intensity or luma, as bytes; or -1. */
static int find_intensity(const frames *in)
{
    for (int a = 0; a < in->space.naxes; a++) {
        const char *name = space_axis_name(&in->space, a, in->reader);
        const bool bytes = in->space.kind || in->reader->dtypes[0] == HISTO_U8;
        if (bytes && (strcmp(name, "intensity") == 0 || strcmp(name, "y") == 0)) return a;
    }
    return -1;
}

/* Make a map whose values are slot numbers. */
static int map_slots(ellipse_tracker *t, const space *sp, fault *f)
{
    if (histo_map_create(&t->slot_of, sp->naxes, sp->axes, NULL) != HISTO_OK)
        return fault_of_library(f, EXIT_USAGE, "the bins");
    t->slots = histo_map_size(t->slot_of);
    if (t->slots > MOST_SLOTS)
        return fault_set(f, EXIT_USAGE,
                         "--axes makes %" PRId64 " slots where --method ellipse takes up to %d: use fewer bins",
                         t->slots, MOST_SLOTS);
    double *numbers = malloc((size_t)t->slots * sizeof *numbers);
    if (!numbers) return fault_set(f, EXIT_DATA, "no memory for the bins");
    for (int64_t i = 0; i < t->slots; i++)
        numbers[i] = (double)i;
    const histo_status written = histo_map_write(t->slot_of, numbers, t->slots);
    free(numbers);
    return written == HISTO_OK ? 0 : fault_of_library(f, EXIT_DATA, "the bins");
}

/* The ellipse of a scale: 1; 0 if none fits in the frame; -1. */
static int find_shape(const ellipse_tracker *t, int64_t scale, const ellipse_shape **shape, fault *f)
{
    if (scale < ELLIPSE_SMALLEST || scale > smaller(t->largest[0], ELLIPSE_LARGEST)) return 0;
    const int64_t half_height = (2 * scale * t->half_height + t->half_width) / (2 * t->half_width);
    if (half_height < ELLIPSE_SMALLEST || half_height > smaller(t->largest[1], ELLIPSE_LARGEST)) return 0;
    ellipse_shape *e = &t->shapes[scale];
    *shape = e;
    if (e->half_width || ellipse_shape_make(e, scale, half_height)) return 1;
    return fault_set(f, EXIT_DATA, "no memory for an ellipse");
}

int ellipse_begin(ellipse_tracker *t, const frames *in, const int64_t window[4], const int64_t range[3], fault *f)
{
    const ellipse_shape *first;
    *t = (ellipse_tracker){.half_width = (window[2] - 1) / 2, .half_height = (window[3] - 1) / 2};
    if (smaller(t->half_width, t->half_height) < ELLIPSE_SMALLEST ||
        larger(t->half_width, t->half_height) > ELLIPSE_LARGEST)
        return fault_set(f, EXIT_USAGE,
                         "--method ellipse follows windows from %d x %d to %d x %d pixels, not one of %" PRId64
                         " x %" PRId64,
                         2 * ELLIPSE_SMALLEST + 1, 2 * ELLIPSE_SMALLEST + 1, 2 * ELLIPSE_LARGEST + 1,
                         2 * ELLIPSE_LARGEST + 1, window[2], window[3]);
    if ((t->intensity = find_intensity(in)) < 0)
        return fault_set(f, EXIT_USAGE,
                         "--method ellipse needs an axis of intensity: i of --space opponent, or y of 8 bits");
    t->state = t->last = (ellipse_state){window[0] + t->half_width, window[1] + t->half_height, t->half_width};
    t->largest[0] = (in->planes.width - 1) / 2;
    t->largest[1] = (in->planes.height - 1) / 2;
    memcpy(t->range, range, sizeof t->range);
    t->shapes = calloc(ELLIPSE_LARGEST + 1, sizeof *t->shapes);
    t->pixels = calloc(1, sizeof *t->pixels);
    if (!t->shapes || !t->pixels) return fault_set(f, EXIT_DATA, "no memory for ellipses");
    return find_shape(t, t->state.scale, &first, f) < 0 ? -1 : map_slots(t, &in->space, f);
}

static void free_pixels(ellipse_pixels *of)
{
    free(of->slots);
    free(of->across);
    free(of->down);
}

void ellipse_end(ellipse_tracker *t)
{
    for (int i = 0; t->shapes && i <= ELLIPSE_LARGEST; i++)
        ellipse_shape_free(&t->shapes[i]);
    if (t->pixels) free_pixels(t->pixels);
    free(t->pixels);
    free(t->shapes);
    free(t->model);
    histo_map_destroy(t->slot_of);
}

/* ---- The model ---- */

int ellipse_count_model(const ellipse_tracker *t, planes *p, model *m, fault *f)
{
    const ellipse_shape *shape = &t->shapes[t->state.scale];
    const int64_t width = 2 * shape->half_width + 1, height = 2 * shape->half_height + 1;
    uint8_t *inside = calloc((size_t)(width * height), 1);
    if (!inside) return fault_set(f, EXIT_DATA, "no memory for the model");
    for (int64_t y = 0; y < height; y++) {
        const int64_t reach = shape->row_reach[llabs(y - shape->half_height)];
        memset(inside + y * width + shape->half_width - reach, 1, (size_t)(2 * reach + 1));
    }
    const histo_view mask = histo_view_nd(inside, HISTO_U8, 2, (const int64_t[]){height, width});
    const int64_t window[] = {t->state.x - shape->half_width, t->state.y - shape->half_height, width, height};
    const int failed = model_count(&m->hist, p, window, &(histo_fill_options){.mask = &mask}, f);
    free(inside);
    return failed;
}

int ellipse_set_model(ellipse_tracker *t, const model *m, fault *f)
{
    t->model = malloc((size_t)t->slots * sizeof *t->model);
    if (!t->model) return fault_set(f, EXIT_DATA, "no memory for the model");
    if (histo_hist_read_counts(m->hist, HISTO_FLOW, t->model, t->slots, NULL) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, "the model");
    for (int64_t i = 0; i < t->slots; i++)
        t->model_count += t->model[i];
    if (t->model_count == 0) return fault_set(f, EXIT_DATA, "the model has counted nothing");
    return 0;
}

/* ---- Pixels ---- */

static int make_room(ellipse_pixels *to, fault *f)
{
    const int64_t room = to->width * to->height;
    if (room <= to->room) return 0;
    free_pixels(to);
    to->slots = malloc((size_t)room * sizeof *to->slots);
    to->across = malloc((size_t)room * sizeof *to->across);
    to->down = malloc((size_t)room * sizeof *to->down);
    if (!to->slots || !to->across || !to->down) return fault_set(f, EXIT_DATA, "no memory for a part of a frame");
    to->room = room;
    return 0;
}

/* The rectangle around all states. */
static void enclose(const ellipse_search *s, ellipse_pixels *to)
{
    int64_t left = INT64_MAX, top = INT64_MAX, right = 0, bottom = 0;
    for (int64_t i = 0; i < s->scales_count; i++) {
        const ellipse_states *one = &s->scales[i];
        if (!one->columns) continue;
        left = smaller(left, one->first.x - one->shape->half_width);
        top = smaller(top, one->first.y - one->shape->half_height);
        right = larger(right, one->first.x + one->columns + one->shape->half_width);
        bottom = larger(bottom, one->first.y + one->rows + one->shape->half_height);
    }
    to->left = left;
    to->top = top;
    to->width = right - left;
    to->height = bottom - top;
}

/* Convert a row of blocks of the rectangle, including the margin that its gradients depend on. */
static void convert_band(ellipse_search *s, int64_t i)
{
    const ellipse_pixels *to = s->tracker->pixels;
    const int64_t block = larger(to->top - GRADIENT_MARGIN, 0) / PLANES_BLOCK_ROWS + i;
    const int64_t left = larger(to->left - GRADIENT_MARGIN, 0);
    const int64_t right = smaller(to->left + to->width + GRADIENT_MARGIN, s->planes->width);
    histo_view views[SPACE_CHANNELS];
    planes_window(s->planes, (const int64_t[]){left, block * PLANES_BLOCK_ROWS, right - left, 1}, views);
}

static void find_gradients(ellipse_search *s, int64_t i)
{
    const ellipse_pixels *to = s->tracker->pixels;
    const histo_view *image = &s->planes->views[s->tracker->intensity];
    const gradient_part part = {to->left, to->top, to->width};
    if (!gradient_find(image, part, to->height * i / s->bands, to->height * (i + 1) / s->bands, to->across, to->down))
        s->out_of_memory = true;
}

static int read_pixels(ellipse_search *s, fault *f)
{
    const ellipse_tracker *t = s->tracker;
    ellipse_pixels *to = t->pixels;
    if (make_room(to, f) != 0) return -1;
    const int64_t first = larger(to->top - GRADIENT_MARGIN, 0) / PLANES_BLOCK_ROWS;
    const int64_t last = smaller(to->top + to->height + GRADIENT_MARGIN, s->planes->height) - 1;
    run_tasks(s, last / PLANES_BLOCK_ROWS - first + 1, convert_band);
    run_tasks(s, s->bands, find_gradients);
    histo_view views[SPACE_CHANNELS];
    planes_window(s->planes, (const int64_t[]){to->left, to->top, to->width, to->height}, views);
    const histo_view out = histo_view_nd(to->slots, HISTO_U16, 2, views[0].shape);
    if (histo_map_apply(t->slot_of, views, &out, &(histo_apply_options){.threads = s->planes->threads}) != HISTO_OK)
        return fault_of_library(f, EXIT_DATA, "the window");
    return 0;
}

/* ---- The gradient's score ---- */

static inline void add_products(const int16_t *across, const int16_t *down, const int16_t normal[2], int64_t n,
                                uint32_t *restrict sums)
{
    const int16_t nx = normal[0], ny = normal[1];
    for (int64_t i = 0; i < n; i++)
        sums[i] += (uint32_t)abs(across[i] * nx + down[i] * ny) >> RIM_NORMAL_BITS;
}

/* Sums of |n g|. Each pixel of the rim is processed for all states of several rows at once, which are close together in
 * memory. */
static void score_gradients(const ellipse_pixels *in, ellipse_states *of, int64_t begin, int64_t end)
{
    const ellipse_shape *e = of->shape;
    memset(of->gradients + begin * of->columns, 0, (size_t)((end - begin) * of->columns) * sizeof *of->gradients);
    for (const rim_pixel *r = e->rim; r < e->rim + e->rim_count; r++)
        for (int64_t row = begin; row < end; row++) {
            const int64_t y = of->first.y + row + r->y - in->top, at = y * in->width + of->first.x + r->x - in->left;
            add_products(in->across + at, in->down + at, r->normal, of->columns, of->gradients + row * of->columns);
        }
}

/* ---- The colours' score ---- */

/* How many pixels of a slot are inside the ellipse, and how many the model has. */
typedef struct slot_counts {
    int32_t inside, model;
} slot_counts;

/* Add or remove a pixel, and return by how much the intersection grows or shrinks. */
static inline int32_t put_in(slot_counts *of)
{
    return of->inside++ < of->model;
}

static inline int32_t take_out(slot_counts *of)
{
    return --of->inside < of->model;
}

/* Move the ellipse by one pixel, at offset `ahead`. Each line in this direction gains one pixel and loses one; `aside`
 * leads from one line to the next. */
static int32_t move(const uint16_t *center, int64_t ahead, int64_t aside, const int32_t *reach, int64_t lines,
                    slot_counts *counts)
{
    int32_t change = 0;
    for (int64_t i = -lines; i <= lines; i++) {
        const uint16_t *line = center + i * aside;
        const int64_t end = reach[i < 0 ? -i : i];
        change += put_in(&counts[line[(end + 1) * ahead]]);
        change -= take_out(&counts[line[-end * ahead]]);
    }
    return change;
}

static int32_t count_inside(const uint16_t *center, int64_t stride, const ellipse_shape *e, slot_counts *counts)
{
    int32_t both = 0;
    for (int64_t y = -e->half_height; y <= e->half_height; y++) {
        const int64_t reach = e->row_reach[llabs(y)];
        for (int64_t x = -reach; x <= reach; x++)
            both += put_in(&counts[center[y * stride + x]]);
    }
    return both;
}

/* Rows are traversed in alternating directions, so that each state is next to the previous one. */
static void score_colors(const ellipse_pixels *in, ellipse_states *of, int64_t begin, int64_t end, slot_counts *counts)
{
    const ellipse_shape *e = of->shape;
    const uint16_t *center = in->slots + (of->first.y + begin - in->top) * in->width + of->first.x - in->left;
    int32_t both = count_inside(center, in->width, e, counts);
    int64_t column = 0, ahead = 1;
    for (int64_t row = begin;;) {
        int32_t *scores = of->intersections + row * of->columns;
        scores[column] = both;
        for (int64_t i = 1; i < of->columns; i++) {
            both += move(center, ahead, in->width, e->row_reach, e->half_height, counts);
            center += ahead;
            column += ahead;
            scores[column] = both;
        }
        if (++row == end) return;
        both += move(center, in->width, 1, e->column_reach, e->half_width, counts);
        center += in->width;
        ahead = -ahead;
    }
}

/* ---- A search ---- */

/* The model scaled as if it had counted as many pixels as the shape has. */
static void scale_model(const ellipse_tracker *t, ellipse_states *of)
{
    for (int64_t i = 0; i < t->slots; i++) {
        const double scaled = (double)t->model[i] * (double)of->shape->area / (double)t->model_count;
        of->model[i] = (int32_t)lrint(scaled);
    }
}

/* The states of a scale around the predicted one that are inside the frame. */
static int make_states(const ellipse_tracker *t, const planes *p, ellipse_state around, const int64_t range[3],
                       ellipse_states *to, fault *f)
{
    const int found = find_shape(t, around.scale, &to->shape, f);
    if (found <= 0) return found;
    const int64_t w = to->shape->half_width, h = to->shape->half_height;
    const int64_t left = larger(around.x - range[0], w), right = smaller(around.x + range[0], p->width - 1 - w);
    const int64_t top = larger(around.y - range[1], h), bottom = smaller(around.y + range[1], p->height - 1 - h);
    if (left > right || top > bottom) return 0;
    to->first = (ellipse_state){left, top, around.scale};
    to->columns = right - left + 1;
    to->rows = bottom - top + 1;
    const size_t states = (size_t)(to->columns * to->rows);
    to->model = malloc((size_t)t->slots * sizeof *to->model);
    to->gradients = malloc(states * sizeof *to->gradients);
    to->intersections = malloc(states * sizeof *to->intersections);
    if (!to->model || !to->gradients || !to->intersections) return fault_set(f, EXIT_DATA, "no memory for a search");
    scale_model(t, to);
    return 0;
}

static void score_band(ellipse_search *s, int64_t task)
{
    ellipse_states *of = &s->scales[task / s->bands];
    const int64_t slots = s->tracker->slots, i = task % s->bands;
    const int64_t begin = of->rows * i / s->bands, end = of->rows * (i + 1) / s->bands;
    if (begin == end) return;
    slot_counts *counts = malloc((size_t)slots * sizeof *counts);
    s->out_of_memory = s->out_of_memory || !counts;
    if (!counts) return;
    for (int64_t slot = 0; slot < slots; slot++)
        counts[slot] = (slot_counts){0, of->model[slot]};
    score_colors(s->tracker->pixels, of, begin, end, counts);
    score_gradients(s->tracker->pixels, of, begin, end);
    free(counts);
}

/* Scores are normalised over all states of the search. */
typedef struct score_range {
    double lowest, highest;
} score_range;

static double gradient_of(const ellipse_states *in, int64_t i)
{
    return in->gradients[i] / (double)in->shape->rim_count;
}

static double color_of(const ellipse_states *in, int64_t i)
{
    return in->intersections[i] / (double)in->shape->area;
}

static void extend(score_range *range, double score)
{
    range->lowest = fmin(range->lowest, score);
    range->highest = fmax(range->highest, score);
}

static double stretched(score_range range, double score)
{
    return range.highest > range.lowest ? (score - range.lowest) / (range.highest - range.lowest) : 0;
}

static int64_t distance(ellipse_state a, ellipse_state b)
{
    const int64_t x = a.x - b.x, y = a.y - b.y, scale = a.scale - b.scale;
    return x * x + y * y + scale * scale;
}

/* Among equal states, the nearest to the predicted one wins, then the first. */
static void choose(const ellipse_search *s, ellipse_state predicted, ellipse_state *best, ellipse_match *match)
{
    score_range gradients = {INFINITY, -INFINITY}, colors = gradients;
    for (int64_t k = 0; k < s->scales_count; k++)
        for (int64_t i = 0; i < s->scales[k].columns * s->scales[k].rows; i++) {
            extend(&gradients, gradient_of(&s->scales[k], i));
            extend(&colors, color_of(&s->scales[k], i));
        }
    double highest = -INFINITY;
    *match = (ellipse_match){0};
    for (int64_t k = 0; k < s->scales_count; k++) {
        const ellipse_states *in = &s->scales[k];
        for (int64_t i = 0; i < in->columns * in->rows; i++) {
            const double score = stretched(gradients, gradient_of(in, i)) + stretched(colors, color_of(in, i));
            const ellipse_state state = {in->first.x + i % in->columns, in->first.y + i / in->columns, in->first.scale};
            if (score < highest || (score == highest && distance(state, predicted) >= distance(*best, predicted)))
                continue;
            highest = score;
            *best = state;
            match->shape = in->shape;
            match->gradient = gradient_of(in, i) / GRADIENT_UNIT;
            match->intersection = in->intersections[i];
        }
        match->states += in->columns * in->rows;
    }
}

static int search(ellipse_tracker *t, planes *p, ellipse_state predicted, const int64_t range[3], ellipse_match *match,
                  fault *f)
{
    ellipse_search s = {.tracker = t, .planes = p, .scales_count = 2 * range[2] + 1};
    const int64_t threads = p->threads ? p->threads : histo_threads();
    s.scales = calloc((size_t)s.scales_count, sizeof *s.scales);
    /* Each band of states counts its first ellipse from scratch: there are only as many bands as keep the threads
     * busy. */
    s.bands = threads > 1 ? (2 * threads + s.scales_count - 1) / s.scales_count : 1;
    int failed = s.scales ? 0 : fault_set(f, EXIT_DATA, "no memory for a search");
    for (int64_t k = 0; !failed && k < s.scales_count; k++) {
        const ellipse_state around = {predicted.x, predicted.y, predicted.scale + k - range[2]};
        failed = make_states(t, p, around, range, &s.scales[k], f);
    }
    if (!failed) enclose(&s, t->pixels);
    if (!failed) failed = read_pixels(&s, f);
    if (!failed) run_tasks(&s, s.bands * s.scales_count, score_band);
    if (s.out_of_memory) failed = fault_set(f, EXIT_DATA, "no memory for a search");
    if (!failed) choose(&s, predicted, &t->state, match);
    for (int64_t k = 0; s.scales && k < s.scales_count; k++) {
        free(s.scales[k].model);
        free(s.scales[k].gradients);
        free(s.scales[k].intersections);
    }
    free(s.scales);
    return failed;
}

/* At constant velocity, but inside the frame. */
static ellipse_state predict(const ellipse_tracker *t, const planes *p)
{
    const ellipse_shape *e = &t->shapes[t->state.scale];
    const int64_t x = 2 * t->state.x - t->last.x, y = 2 * t->state.y - t->last.y;
    return (ellipse_state){clamp(x, e->half_width, p->width - 1 - e->half_width),
                           clamp(y, e->half_height, p->height - 1 - e->half_height), t->state.scale};
}

int ellipse_find(ellipse_tracker *t, planes *p, ellipse_match *match, fault *f)
{
    const ellipse_state state = t->state;
    if (search(t, p, predict(t, p), t->range, match, f) != 0) return -1;
    t->last = state;
    return 0;
}

int ellipse_score(ellipse_tracker *t, planes *p, ellipse_match *match, fault *f)
{
    return search(t, p, t->state, (const int64_t[]){0, 0, 0}, match, f);
}
