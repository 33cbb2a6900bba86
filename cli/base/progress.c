/* The progress line: label, fraction or bytes done, and a bar if the total is known. */
#include "base/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/process/interrupt.h"

enum { BAR_CELLS = 24, MAX_COLUMNS = 512 };

static const double delay_s = 0.5, interval_s = 0.1;

static struct {
    bool active, started, shown;
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
    line.active = !quiet && isatty(STDERR_FILENO);
    if (!line.active) return;
    if (!line.started) line.first_s = progress_seconds();
    line.started = true;
    size_t i = 0;
    for (; i < sizeof line.label - 1 && label[i]; i++)
        line.label[i] = (unsigned char)label[i] < ' ' || label[i] == 0x7f ? '?' : label[i];
    line.label[i] = '\0';
}

static int terminal_columns(void)
{
    struct winsize size;
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    return columns <= 0 ? 80 : columns < MAX_COLUMNS ? columns : MAX_COLUMNS;
}

/* Format "  37 % [#########               ]" or "  1234.5 MB"; returns its length. */
static int describe(char *text, size_t capacity, int64_t done, int64_t total)
{
    if (total <= 0) return snprintf(text, capacity, "  %.1f MB", (double)done * 1e-6);
    double fraction = done >= total ? 1 : done <= 0 ? 0 : (double)done / (double)total;
    char bar[BAR_CELLS + 1];
    memset(bar, ' ', BAR_CELLS);
    memset(bar, '#', (size_t)(fraction * BAR_CELLS));
    bar[BAR_CELLS] = '\0';
    return snprintf(text, capacity, " %3d %% [%s]", (int)(fraction * 100), bar);
}

/* How many bytes of the label fit into this many columns, at least one per character, without splitting UTF-8. */
static int fitting_bytes(const char *label, int columns)
{
    int bytes = 0;
    for (int used = 0; label[bytes]; bytes++)
        if (((unsigned char)label[bytes] & 0xc0) != 0x80 && used++ >= columns) break;
    return bytes;
}

void progress_update(int64_t done, int64_t total)
{
    if (!line.active) return;
    double now = progress_seconds();
    if (now - line.first_s < delay_s || now - line.last_s < interval_s) return;
    line.last_s = now;
    char state[64];
    int room = terminal_columns() - 1 - describe(state, sizeof state, done, total);
    line.shown = true;
    interrupt_guard_line(true);
    if (room < 0) room = 0;
    fprintf(stderr, "\r%.*s%s\033[K", fitting_bytes(line.label, room), line.label, state);
    fflush(stderr);
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
