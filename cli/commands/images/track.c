/* histo track: follow a window, or the ellipse in it, through frames. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "output/rows.h"
#include "video/ellipse.h"
#include "video/frames.h"
#include "video/shift.h"

typedef struct track {
    settings settings;
    shift_method *method; /* NULL: by ellipse */
    bool by_kernel;
    ellipse_tracker ellipse;
    ellipse_match match;
    frames frames;
    model model;
    rows *to;
    int64_t window[4];
    int steps;
} track;

/* ---- Windows ---- */

/* The model is the window of the first frame, unless one is saved. */
static int find_model(track *t, fault *f)
{
    float *profile = NULL;
    histo_view weights;
    if (t->by_kernel) {
        if (!(profile = shift_profile(t->window))) return fault_set(f, EXIT_DATA, "no memory for the window");
        weights = histo_view_nd(profile, HISTO_F32, 2, (const int64_t[]){t->window[3], t->window[2]});
    }
    const histo_fill_options options = {.weights = profile ? &weights : NULL};
    int failed = t->settings.model ? 0 : model_count(&t->model.hist, &t->frames.planes, t->window, &options, f);
    free(profile);
    return failed ? -1 : model_project(&t->model, &t->frames.space, f);
}

static int move_window(track *t, bool first, bool moves, fault *f)
{
    if (first && find_model(t, f) != 0) return -1;
    return moves ? t->method(&t->model, &t->frames.planes, t->window, &t->steps, f) : 0;
}

/* ---- Ellipses ---- */

static int find_ellipse(track *t, bool first, bool moves, fault *f)
{
    planes *p = &t->frames.planes;
    ellipse_tracker *e = &t->ellipse;
    if (first && !t->settings.model && ellipse_count_model(e, p, &t->model, f) != 0) return -1;
    if (first && ellipse_set_model(e, &t->model, f) != 0) return -1;
    if ((moves ? ellipse_find : ellipse_score)(e, p, &t->match, f) != 0) return -1;
    const int64_t half[] = {t->match.shape->half_width, t->match.shape->half_height};
    for (int d = 0; d < 2; d++) {
        t->window[d] = (d ? e->state.y : e->state.x) - half[d];
        t->window[2 + d] = 2 * half[d] + 1;
    }
    t->steps = (int)t->match.states;
    return 0;
}

static void write_scores(track *t)
{
    rows_count(t->to, (uint64_t)t->ellipse.state.scale);
    rows_number(t->to, t->match.gradient);
    rows_number(t->to, t->match.intersection / (double)t->match.shape->area);
}

/* ---- The command ---- */

static int choose_method(track *t, fault *f)
{
    settings *s = &t->settings;
    const char *name = s->method ? s->method : "meanshift";
    const bool by_ellipse = strcmp(name, "ellipse") == 0;
    t->by_kernel = strcmp(name, "comaniciu") == 0;
    if (!by_ellipse) t->method = t->by_kernel ? shift_kernel : strcmp(name, "camshift") == 0 ? shift_cam : shift_mean;
    if (by_ellipse && !s->space) s->space = "opponent";
    if (by_ellipse && !s->has_state_range) memcpy(s->state_range, (const int64_t[]){8, 8, 1}, sizeof s->state_range);
    if (by_ellipse || !s->has_state_range) return 0;
    return fault_set(f, EXIT_USAGE, "--search is the range of --method ellipse: add it, or leave --search out");
}

static int begin(track *t, fault *f)
{
    const settings *s = &t->settings;
    if (s->window[2] == 0)
        return fault_set(f, EXIT_USAGE,
                         "the window around the object in the first frame is missing: add --window X,Y,W,H");
    memcpy(t->window, s->window, sizeof t->window);
    if (choose_method(t, f) != 0 || (s->model && model_load(&t->model, s->model, f) != 0)) return -1;
    if (frames_open(&t->frames, s, t->model.hist, model_name(&t->model), f) != 0 ||
        model_check_space(&t->model, &t->frames.space, s, f) != 0)
        return -1;
    const planes *p = &t->frames.planes;
    if (model_check_window("window", t->window, p->width, p->height, input_name(t->frames.reader->in), f) != 0)
        return -1;
    return t->method ? 0 : ellipse_begin(&t->ellipse, &t->frames, t->window, s->state_range, f);
}

/* In the first frame the object is in the given window, unless the model is a saved one. */
static int follow(track *t, fault *f)
{
    static const char *const names[] = {"frame", "x", "y", "w", "h", "iterations", "scale", "gradient", "color"};
    int more;
    while ((more = frames_next(&t->frames, f)) > 0) {
        const bool first = t->frames.count == 1, moves = !first || t->settings.model;
        t->steps = 0;
        if ((t->method ? move_window : find_ellipse)(t, first, moves, f) != 0) return -1;
        if (first) rows_begin(t->to, names, t->method ? 6 : 9);
        rows_count(t->to, (uint64_t)t->frames.count - 1);
        for (int i = 0; i < 4; i++)
            rows_count(t->to, (uint64_t)t->window[i]);
        rows_count(t->to, (uint64_t)t->steps);
        if (!t->method) write_scores(t);
        if (fflush(outfile_stream(t->to->file)) != 0) return outfile_fail(t->to->file, errno, f);
    }
    if (more == 0 && t->frames.count == 0)
        return fault_set(f, EXIT_DATA, "%s has no frames", input_name(t->frames.reader->in));
    return more < 0 ? -1 : 0;
}

static int run(const settings *s, rows *to, fault *f)
{
    track t = {.settings = *s, .to = to};
    if (to->format == ROWS_TEXT && !s->output)
        to->format = ROWS_TSV; /* streamed, without waiting for the widest cells
                                */
    int failed = begin(&t, f);
    if (!failed) failed = follow(&t, f);
    ellipse_end(&t.ellipse);
    frames_close(&t.frames);
    model_free(&t.model);
    return failed;
}

int command_track(const settings *s)
{
    return rows_command(s, run);
}
