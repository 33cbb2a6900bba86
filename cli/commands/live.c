/* One thread counts pieces as they arrive. Whenever the input would block, and before each read, it checks for keys and
 * draws the counts so far, at most a few times a second, on the terminal's alternate screen. */
#include "commands/live.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/process/interrupt.h"
#include "base/progress.h"
#include "count/axes/growing.h"
#include "count/run.h"
#include "output/terminal/terminal.h"
#include "output/writers/writers.h"

static const double every_s = 0.25; /* between two drawings */
enum { LOOK_MS = 100 };             /* how often to check the size of the terminal */

typedef struct live {
    const settings *settings;
    run run;
    result counted;
    bool *growing, *whole; /* for each axis: whether it grows; whether all samples are integers */
    bool begun;            /* there are axes */
    bool stopped;          /* the user has quit, or drawing failed */
    fault failed;
    int keys; /* the terminal, or -1 */
    struct termios before;
    uint64_t samples;
    bool changed; /* since last drawn */
    double begun_s, drawn_s;
    int columns, rows; /* of the terminal when last drawn */
} live;

static volatile sig_atomic_t signalled;

/* ---- The screen ------------------------------------------------------------------------------------------ */

static void begin_screen(live *l)
{
    l->keys = open("/dev/tty", O_RDONLY | O_CLOEXEC);
    if (l->keys >= 0 && tcgetattr(l->keys, &l->before) == 0) {
        struct termios now = l->before;
        now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        now.c_cc[VMIN] = 1;
        now.c_cc[VTIME] = 0;
        now.c_cc[VQUIT] = now.c_cc[VSUSP] = _POSIX_VDISABLE; /* these would leave the alternate screen on */
        tcsetattr(l->keys, TCSANOW, &now);
    }
    fputs("\033[?1049h\033[?25l", stdout); /* the alternate screen, without a cursor */
    fflush(stdout);
    interrupt_defer(&signalled);
}

static void end_screen(live *l)
{
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    if (l->keys >= 0) {
        tcsetattr(l->keys, TCSANOW, &l->before);
        close(l->keys);
    }
    interrupt_obey(signalled == SIGINT ? 0 : (int)signalled, false);
}

/* ---- Drawing --------------------------------------------------------------------------------------- */

/* The range of bins of growing axis a that are occupied in any of its histograms. */
static void find_occupied(const live *l, int a, int64_t *begin, int64_t *end)
{
    *begin = INT64_MAX;
    *end = 0;
    for (int i = 0; i < l->counted.count; i++) {
        int64_t from, to;
        if (run_axis_of(&l->run, i) != a || !growing_occupied(l->counted.series[i].hist, &from, &to)) continue;
        if (from < *begin) *begin = from;
        if (to > *end) *end = to;
    }
    if (*end == 0) *begin = 0, *end = 1;
}

/* The number of bins that suits this many samples (Rice's rule), or the requested one. */
static int64_t most_bins(const live *l, int a)
{
    enum { FEWEST = 16, MOST = 512 };
    const bins_spec *spec = &l->run.bins.spec[l->run.bins.count == 1 ? 0 : a];
    if (spec->kind == BINS_NUMBER) return spec->number;
    if (l->whole[a]) return MOST;
    return (int64_t)fmax(FEWEST, fmin(MOST, 2 * cbrt((double)l->samples)));
}

static int copy_hist(const live *l, int i, histo_hist **copy, fault *f)
{
    const histo_hist *hist = l->counted.series[i].hist;
    const int a = l->run.joint ? 0 : run_axis_of(&l->run, i);
    int64_t begin, end;
    if (!l->growing[a])
        return histo_hist_clone(hist, copy) == HISTO_OK ? 0 : fault_of_library(f, EXIT_DATA, "the histogram");
    find_occupied(l, a, &begin, &end);
    return growing_copy(hist, begin, end, most_bins(l, a), l->whole[a], copy, f);
}

/* Copy the counts so far, on axes that suit them. */
static int copy_result(live *l, result *shown, fault *f)
{
    result *counted = &l->counted;
    int failed = 0;
    for (int i = 0; i < counted->count && !failed; i++) {
        histo_hist *copy;
        failed = copy_hist(l, i, &copy, f) != 0 || result_add(shown, copy, counted->series[i].name, f) != 0;
        if (failed || !counted->series[i].sums) continue;
        const size_t n = (size_t)l->run.naxes;
        series *to = &shown->series[i];
        to->sums = malloc(n * sizeof *to->sums);
        to->stats = malloc(n * sizeof *to->stats);
        if (!to->sums || !to->stats) return fault_set(f, EXIT_DATA, "no memory to draw the histogram");
        memcpy(to->sums, counted->series[i].sums, n * sizeof *to->sums);
        series_read_sums(to);
    }
    result *named = l->run.result;
    l->run.result = shown;
    if (!failed) failed = run_name_result(&l->run, f);
    l->run.result = named;
    return failed ? -1 : 0;
}

/* Print as many lines as the screen has room for, and the status below. */
static void put_lines(const live *l, const screen *to, const char *text)
{
    char number[TEXT_NUMBER_BYTES], rate[TEXT_NUMBER_BYTES], status[160];
    fputs("\033[H", stdout);
    for (int row = 0; row < to->rows - 1 && *text; row++) {
        const int length = (int)strcspn(text, "\n");
        printf("%.*s\033[K\n", length, text);
        text += length + (text[length] == '\n');
    }
    const double seconds = fmax(progress_seconds() - l->begun_s, 1e-3);
    snprintf(status, sizeof status, "live · %s sample%s · %s/s · q quits", text_count(l->samples, number),
             l->samples == 1 ? "" : "s", text_count((uint64_t)((double)l->samples / seconds), rate));
    fputs("\033[J", stdout);
    screen plain = *to;
    plain.out = stdout;
    screen_style(&plain, "2");
    screen_phrases(&plain, status);
    screen_plain(&plain);
    fflush(stdout);
}

static int draw(live *l, fault *f)
{
    char *text = NULL;
    size_t size;
    result shown = {0};
    screen to = screen_of(stdout);
    if (l->settings->ascii) screen_use_ascii(&to);
    to.rows--; /* for the status */
    to.out = open_memstream(&text, &size);
    if (!to.out) return fault_set(f, EXIT_DATA, "no memory to draw the histogram");
    int failed = 0;
    if (l->begun) failed = copy_result(l, &shown, f) != 0 || text_draw(&to, &shown, l->settings, f) != 0;
    fclose(to.out);
    to.rows++;
    if (!failed) put_lines(l, &to, text);
    free(text);
    result_free(&shown);
    l->changed = false;
    l->drawn_s = progress_seconds();
    return failed ? -1 : 0;
}

/* ---- Waiting --------------------------------------------------------------------------------------------- */

static void draw_if_due(live *l)
{
    const screen now = screen_of(stdout);
    const bool resized = now.columns != l->columns || now.rows != l->rows;
    if (!resized && !(l->changed && progress_seconds() >= l->drawn_s + every_s)) return;
    l->columns = now.columns;
    l->rows = now.rows;
    if (draw(l, &l->failed) != 0) l->stopped = true;
}

static void take_key(live *l)
{
    char key;
    const ssize_t got = read(l->keys, &key, 1);
    l->stopped = l->stopped || (got == 1 && (key == 'q' || key == 'Q'));
}

/* Wait until bytes of fd (-1: none) can be read; false to stop. */
static bool wait_for(void *self, int fd)
{
    live *l = self;
    while (!l->stopped && !signalled) {
        struct pollfd polled[] = {{.fd = l->keys, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
        draw_if_due(l);
        const int ready = poll(polled, 2, fd < 0 ? 0 : LOOK_MS);
        if (ready < 0 && errno != EINTR) return true;
        if (ready > 0 && polled[0].revents) take_key(l);
        if (fd < 0 || (ready > 0 && polled[1].revents)) break;
    }
    return !l->stopped && !signalled;
}

/* ---- Counting -------------------------------------------------------------------------------------------- */

/* The statistics in a piece of the samples of axis a, or of source i. */
static int find_extremes(const live *l, const piece *p, int a, histo_stats *found, fault *f)
{
    for (int i = 0; i < l->run.count; i++) {
        const histo_fill_options fill = piece_filter(p, i);
        if (run_axis_of(&l->run, i) == a && histo_stats_add(found, &p->views[i], &fill) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, feed_name(&l->run.feed, 0));
    }
    return 0;
}

static bool has_finite(const histo_stats *s)
{
    return s->samples > s->nan + s->infinite;
}

/* Make an axis that does not depend on the samples, or one that grows from those of the first piece. */
static int begin_axis(live *l, const piece *p, int a, fault *f)
{
    run *r = &l->run;
    const bins_spec *spec = bins_of_axis(&r->bins, a, r->axis_count, f);
    if (!spec) return -1;
    const bins_list alone = {.count = 1, .spec = {*spec}};
    if (!bins_need_data(&alone, r->sources[a].dtype, r->sources[a].pixels)) {
        if (axis_search_begin(&r->search[a], spec, r->sources[a].dtype, r->sources[a].pixels, r->axis_count, f) != 0)
            return -1;
        if (axis_search_end(&r->search[a], feed_name(&r->feed, 0), f) != 0) return -1;
        r->axes[a] = r->search[a].axis;
        return 0;
    }
    const bool grows = !spec->log && (spec->kind == BINS_DEFAULT || spec->kind == BINS_NUMBER) &&
                       (!spec->has_range || spec->range == HISTO_RANGE_MINMAX);
    if (!grows || r->joint)
        return fault_set(f, EXIT_USAGE, "--live does not know the samples to come: give the bins with -b N -r lo:hi");
    histo_stats found = {0};
    if (find_extremes(l, p, a, &found, f) != 0) return -1;
    l->growing[a] = true;
    r->axes[a] = growing_axis(has_finite(&found) ? found.min : 0, has_finite(&found) ? found.max : 0);
    return 0;
}

static int begin_axes(live *l, const piece *p, fault *f)
{
    run *r = &l->run;
    if (l->settings->compare) r->axis_count = 1;
    l->growing = calloc((size_t)r->axis_count, sizeof *l->growing);
    l->whole = malloc((size_t)r->axis_count * sizeof *l->whole);
    if (!l->growing || !l->whole) return fault_set(f, EXIT_DATA, "no memory for the axes");
    for (int a = 0; a < r->axis_count; a++) {
        l->whole[a] = true;
        if (begin_axis(l, p, a, f) != 0) return -1;
    }
    r->moments = MOMENTS_EXACT;
    return run_add_series(r, 0, 0, f);
}

/* Extend the axes to the samples of a piece. */
static int grow(live *l, const piece *p, fault *f)
{
    run *r = &l->run;
    for (int a = 0; a < r->axis_count; a++) {
        histo_stats found = {0};
        if (!l->growing[a]) continue;
        if (find_extremes(l, p, a, &found, f) != 0) return -1;
        for (int i = 0; i < r->count; i++) {
            if (run_axis_of(r, i) != a) continue;
            l->whole[a] = l->whole[a] && growing_is_whole(&p->views[i]);
            if (has_finite(&found) && growing_fit(&l->counted.series[i].hist, found.min, found.max, f) != 0) return -1;
        }
    }
    return 0;
}

static int count_piece(live *l, const piece *p, fault *f)
{
    run *r = &l->run;
    if (!l->begun && begin_axes(l, p, f) != 0) return -1;
    l->begun = true;
    if (grow(l, p, f) != 0) return -1;
    for (int i = 0; i < l->counted.count; i++) {
        const histo_fill_options fill = piece_fill(p, i);
        series *to = &l->counted.series[i];
        const char *name = feed_name(&r->feed, 0);
        if (histo_hist_fill(to->hist, &p->views[i], &fill) != HISTO_OK) return fault_of_library(f, EXIT_DATA, name);
        if (run_add_moments(r, to, &p->views[i], &fill, name, f) != 0) return -1;
    }
    l->samples += (uint64_t)histo_view_size(&p->views[0]);
    l->changed = true;
    return 0;
}

static int count_all(live *l, fault *f)
{
    if (run_open(&l->run, l->settings, &l->counted, f) != 0) return -1;
    if (run_has_words(&l->run))
        return fault_set(f, EXIT_USAGE, "--live draws numbers, and strings are counted at the end: leave it out");
    samples *in = feed_begin(&l->run.feed, 0, f);
    piece p;
    int more = in ? 1 : -1;
    while (more > 0 && (more = samples_next(in, &p, f)) > 0)
        if (count_piece(l, &p, f) != 0 || !wait_for(l, -1)) more = -1;
    return more;
}

static int check(const settings *s, fault *f)
{
    const char *path = s->files_count ? s->files[0] : "-";
    if (!isatty(STDOUT_FILENO))
        return fault_set(f, EXIT_USAGE, "--live redraws a terminal, which standard output is not: leave it out");
    if (s->files_count > 1) return fault_set(f, EXIT_USAGE, "--live takes one file or pipe, not %d", s->files_count);
    if (strcmp(path, "-") == 0 && isatty(STDIN_FILENO))
        return fault_set(f, EXIT_USAGE, "--live needs samples that come through a pipe: tail -f log | histo --live");
    return 0;
}

int live_count(const settings *s, result *r, fault *f)
{
    settings waiting = *s;
    live l = {.settings = &waiting, .keys = -1, .begun_s = progress_seconds()};
    const input_waiter waiter = {wait_for, &l};
    waiting.read.waiter = &waiter;
    if (check(s, f) != 0) return -1;
    begin_screen(&l);
    int failed = count_all(&l, f);
    end_screen(&l);
    if (l.failed.status != EXIT_OK) {
        *f = l.failed;
    } else if (l.stopped || signalled) {
        *f = (fault){0};
        failed = 0;
    }
    if (!failed && !l.begun)
        failed = fault_set(f, EXIT_DATA, "%s held no samples", s->files_count ? s->files[0] : "standard input");
    if (!failed) failed = copy_result(&l, r, f);
    run_end(&l.run);
    result_free(&l.counted);
    free(l.growing);
    free(l.whole);
    return failed ? -1 : 0;
}

int live_write(const settings *s, output *to, const result *r, fault *f)
{
    const screen shown = screen_of(stdout);
    if (s->output && strcmp(s->output, "-") != 0 && text_draw(&shown, r, s, f) != 0) return -1;
    return output_write(to, r, f);
}
