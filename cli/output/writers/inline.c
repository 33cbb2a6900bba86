/* Pictures that terminals show inline: PNG in kitty's graphics protocol, and sixels. The terminal is queried first,
 * since others would show the data as text: kitty's protocol has a query, and sixels are attribute 4 in the device
 * attributes that all terminals report. Files and pipes are not queried. */
#include "output/writers/inline.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/failure.h"
#include "output/writers/plot.h"
#include "output/writers/writers.h"

/* ---- Querying the terminal -------------------------------------------------------------------------------- */

enum { ANSWER = 512, PATIENCE_MS = 500 };

/* Read until the report of device attributes, ESC [ ? … c, which ends all answers. */
static void read_answer(int terminal, char answer[ANSWER])
{
    size_t length = 0;
    struct pollfd ready = {.fd = terminal, .events = POLLIN};
    answer[0] = '\0';
    while (length < ANSWER - 1 && poll(&ready, 1, PATIENCE_MS) > 0) {
        const ssize_t got = read(terminal, answer + length, ANSWER - 1 - length);
        if (got <= 0) return;
        length += (size_t)got;
        answer[length] = '\0';
        const char *report = strstr(answer, "\033[?");
        if (report && strchr(report, 'c')) return;
    }
}

/* The terminal's answers to a query and to that for its attributes; "" if there are none. */
static void ask(const char *query, char answer[ANSWER])
{
    struct termios before;
    const int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
    answer[0] = '\0';
    if (terminal >= 0 && tcgetattr(terminal, &before) == 0) {
        struct termios plain = before;
        plain.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        tcsetattr(terminal, TCSANOW, &plain);
        if (dprintf(terminal, "%s\033[c", query) > 0) read_answer(terminal, answer);
        tcsetattr(terminal, TCSAFLUSH, &before);
    }
    if (terminal >= 0) close(terminal);
}

static int ask_for_kitty(fault *f)
{
    char answer[ANSWER];
    ask("\033_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\033\\", answer);
    if (strstr(answer, "_Gi=31;OK")) return 0;
    return fault_set(f, EXIT_USAGE,
                     "this terminal does not support kitty's graphics protocol: leave --to out, or name a "
                     "file with -o");
}

/* Whether 4 is among attributes such as "62;4;22c". */
static int ask_for_sixel(fault *f)
{
    char answer[ANSWER];
    ask("", answer);
    const char *at = strstr(answer, "\033[?");
    for (at = at ? at + 3 : ""; *at; at += strcspn(at, ";c"), at += *at != '\0')
        if (strtol(at, NULL, 10) == 4 && strspn(at, "0123456789") == 1) return 0;
    return fault_set(f, EXIT_USAGE,
                     "this terminal does not report support for sixels: leave --to out, or name a file with -o");
}

/* ---- Writing ---------------------------------------------------------------------------------------------- */

/* The requested size, or most of the terminal's. */
static void set_size(settings *s, FILE *out)
{
    enum { WIDTH = 900, HEIGHT = 560, LARGEST = 1600 };
    struct winsize size;
    if (s->plot_width) return;
    s->plot_width = WIDTH;
    s->plot_height = HEIGHT;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_xpixel < 2 * PICTURE_MIN_SIZE) return;
    s->plot_width = size.ws_xpixel < LARGEST ? size.ws_xpixel : LARGEST;
    s->plot_height = s->plot_width * 5 / 8;
    if (s->plot_height > size.ws_ypixel * 4 / 5) s->plot_height = size.ws_ypixel * 4 / 5;
    if (s->plot_height < PICTURE_MIN_SIZE) s->plot_height = PICTURE_MIN_SIZE;
}

/* The picture in memory, freed by the caller; NULL on failure. */
static char *make_picture(const result *r, const settings *s, const char *format, size_t *size, fault *f)
{
    char *bytes = NULL;
    outfile *o = outfile_open_memory("a picture", &bytes, size, f);
    if (!o) return NULL;
    const int failed = picture_write(r, s, o, format, f);
    if (failed)
        outfile_abandon(o);
    else if (outfile_commit(o, f) == 0)
        return bytes;
    free(bytes);
    return NULL;
}

static void put_base64(FILE *out, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const unsigned b = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                           (left > 2 ? (unsigned)bytes[i + 2] : 0);
        putc(digits[b >> 18], out);
        putc(digits[b >> 12 & 63], out);
        putc(left > 1 ? digits[b >> 6 & 63] : '=', out);
        putc(left > 2 ? digits[b & 63] : '=', out);
    }
}

static int write_kitty(const result *r, const settings *s, outfile *o, fault *f)
{
    enum { CHUNK = 4096 / 4 * 3 }; /* bytes that encode to 4096 characters */
    FILE *out = outfile_stream(o);
    settings sized = *s;
    size_t size;
    set_size(&sized, out);
    char *png = make_picture(r, &sized, "png", &size, f);
    if (!png) return -1;
    for (size_t at = 0; at < size; at += CHUNK) {
        const size_t left = size - at;
        fprintf(out, "\033_G%sm=%d;", at ? "" : "f=100,a=T,", left > CHUNK);
        put_base64(out, (const unsigned char *)png + at, left < CHUNK ? left : CHUNK);
        fputs("\033\\", out);
    }
    putc('\n', out);
    free(png);
    return 0;
}

static inline_sixels_function *find_sixel(fault *f)
{
    if (inline_sixels) return inline_sixels;
    if (module_is_there("sixel"))
        return (inline_sixels_function *)module_symbol("sixel", "inline_sixels", "a picture", f);
    fault_set(f, EXIT_DATA,
              "sixels are written by libsixel (Debian: libsixel-dev), which this build lacks: take --to kitty, or name "
              "a file with -o");
    return NULL;
}

static int prepare_sixel(const char *name, fault *f)
{
    return find_sixel(f) && plot_prepare(name, f) == 0 ? 0 : -1;
}

static int write_sixel(const result *r, const settings *s, outfile *o, fault *f)
{
    FILE *out = outfile_stream(o);
    settings sized = *s;
    size_t size;
    set_size(&sized, out);
    inline_sixels_function *put = find_sixel(f);
    char *rgb = put ? make_picture(r, &sized, "rgb", &size, f) : NULL;
    if (!rgb) return -1;
    const int failed = put((unsigned char *)rgb, sized.plot_width, sized.plot_height, out);
    putc('\n', out);
    free(rgb);
    return failed ? fault_set(f, EXIT_DATA, "no memory for a picture of sixels: make it smaller with --size") : 0;
}

const writer writer_kitty = {.name = "kitty",
                             .shows_stats = true,
                             .max_axes = 2,
                             .prepare = plot_prepare,
                             .ask_terminal = ask_for_kitty,
                             .write = write_kitty};
const writer writer_sixel = {.name = "sixel",
                             .shows_stats = true,
                             .max_axes = 2,
                             .prepare = prepare_sixel,
                             .ask_terminal = ask_for_sixel,
                             .write = write_sixel};
