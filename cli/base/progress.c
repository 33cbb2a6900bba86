/* The progress line: label, fraction or bytes done, and a bar if the total is known. */
#include "base/progress.h"

#include <histo/histo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/process/interrupt.h"
#include "base/text.h"

enum { BAR_CELLS = 24, MAX_COLUMNS = 512, STATE_BYTES = 64 };

static const double delay_s = 0.5, interval_s = 0.1;

static struct {
    bool active, started, shown, watching, silent;
    char label[MAX_COLUMNS];
    double first_s, last_s; /* when the work started, and when the line was last drawn */
} line;

double progress_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void progress_start(const char *label, bool quiet)
{
    line.active = !quiet && !line.silent && isatty(STDERR_FILENO);
    if (!line.active) return;
    if (!line.started) line.first_s = progress_seconds();
    line.started = true;
    snprintf(line.label, sizeof line.label, "%s", label);
    text_make_printable(line.label);
}

static int terminal_columns(void)
{
    struct winsize size;
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    return columns <= 0 ? 80 : columns < MAX_COLUMNS ? columns : MAX_COLUMNS;
}

/* Format "  37 % [#########               ]" or "  1234.5 MB". */
static void describe(char text[STATE_BYTES], int64_t done, int64_t total)
{
    if (total <= 0) {
        snprintf(text, STATE_BYTES, "  %.1f MB", (double)done * 1e-6);
        return;
    }
    double fraction = done >= total ? 1 : done <= 0 ? 0 : (double)done / (double)total;
    char bar[BAR_CELLS + 1];
    memset(bar, ' ', BAR_CELLS);
    memset(bar, '#', (size_t)(fraction * BAR_CELLS));
    bar[BAR_CELLS] = '\0';
    snprintf(text, STATE_BYTES, " %3d %% [%s]", (int)(fraction * 100), bar);
}

/* How many bytes of the label fit into this many columns, at least one per character, without splitting UTF-8. */
static int fitting_bytes(const char *label, int columns)
{
    int bytes = 0;
    for (int used = 0; label[bytes]; bytes++)
        if (((unsigned char)label[bytes] & 0xc0) != 0x80 && used++ >= columns) break;
    return bytes;
}

/* Whether it is time to draw the line again. */
static bool is_due(void)
{
    const double now = progress_seconds();
    const bool due = now - line.first_s >= delay_s && now - line.last_s >= interval_s;
    if (due) line.last_s = now;
    return due;
}

static void draw(const char *state)
{
    const int room = terminal_columns() - 1 - (int)strlen(state);
    line.shown = true;
    interrupt_guard_line(true);
    fprintf(stderr, "\r%.*s%s\033[K", fitting_bytes(line.label, room < 0 ? 0 : room), line.label, state);
    fflush(stderr);
}

void progress_update(int64_t done, int64_t total)
{
    char state[STATE_BYTES];
    if (!line.active || !is_due()) return;
    describe(state, done, total);
    draw(state);
}

/* A library monitor that never stops the call. */
static bool draw_call(void *context, const histo_progress *progress)
{
    enum { PARTS = 1 << 20 };
    char state[STATE_BYTES] = " …";
    (void)context;
    if (!line.active || !is_due()) return false;
    if (!isnan(progress->done)) describe(state, (int64_t)(progress->done * PARTS), PARTS);
    draw(state);
    return false;
}

void progress_watch(const char *label)
{
    if (line.active) return;
    progress_start(label, false);
    line.watching = line.active;
    if (line.watching) histo_set_monitor(draw_call, NULL);
}

void progress_unwatch(void)
{
    if (!line.watching) return;
    histo_set_monitor(NULL, NULL);
    line.watching = false;
    progress_end();
}

void progress_silence(void)
{
    line.silent = true;
}

void progress_end(void)
{
    if (line.shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        interrupt_guard_line(false);
    }
    line.active = line.started = line.shown = false;
}
