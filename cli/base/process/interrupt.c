/* The signal handler. It may run on any thread at any time, so it uses only async-signal-safe calls and a few
 * variables. */
#define _GNU_SOURCE
#include "base/process/interrupt.h"

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"

enum { FILES = 4 }; /* guarded at the same time */

static char files[FILES][PATH_MAX];
static volatile sig_atomic_t file_guarded[FILES], line_guarded, told;

static volatile sig_atomic_t *deferred;

enum { FREE = 0, HELD = -1 };

static atomic_int hold = FREE; /* or the signal that arrived while HELD */

static void clean_up_and_die(int number);

static void put(const char *text, size_t length)
{
    const ssize_t ignored = write(STDERR_FILENO, text, length);
    (void)ignored;
}

static void catch_again(int number)
{
    struct sigaction again = {.sa_handler = clean_up_and_die, .sa_flags = (int)SA_RESETHAND};
    sigfillset(&again.sa_mask);
    sigaction(number, &again, NULL);
}

/* Postpone the signal if it has to wait. SIGBUS cannot wait: the instruction that read a file that shrank would only
 * fail again. */
static bool put_off(int number)
{
    int held = HELD;
    if (number == SIGBUS) return false;
    if (atomic_compare_exchange_strong(&hold, &held, number) || held != FREE) return true;
    if (!deferred || *deferred || number == SIGPIPE || number == SIGQUIT) return false;
    *deferred = number;
    return true;
}

/* Tell the user, unless the interrupted code has done so; does nothing for signals that no code waits for. */
static void tell(int number, bool removed)
{
    static const char interrupted[] = "histo: interrupted", terminated[] = "histo: terminated",
                      unfinished[] = ": the unfinished output file was removed", end[] = "\n";
    if (told || (number != SIGINT && number != SIGTERM)) return;
    if (number == SIGINT)
        put(interrupted, sizeof interrupted - 1);
    else
        put(terminated, sizeof terminated - 1);
    if (removed) put(unfinished, sizeof unfinished - 1);
    put(end, sizeof end - 1);
}

static void clean_up_and_die(int number)
{
    if (put_off(number)) {
        catch_again(number);
        return;
    }
    static atomic_flag dying = ATOMIC_FLAG_INIT;
    while (number == SIGBUS && atomic_flag_test_and_set(&dying)) /* all threads that read the file may get here */
        pause();
    bool removed = false;
    for (int i = 0; i < FILES; i++)
        if (file_guarded[i]) removed |= unlink(files[i]) == 0;
    static const char erase[] = "\r\033[K", cut[] = "histo: a file shrank while it was read: try again\n";
    if (line_guarded) put(erase, sizeof erase - 1);
    if (number == SIGBUS) {
        put(cut, sizeof cut - 1);
        _exit(EXIT_DATA);
    }
    tell(number, removed);
    raise(number); /* with its default action, delivered when this handler returns */
}

void interrupt_install(void)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGBUS};
    struct sigaction action = {.sa_handler = clean_up_and_die, .sa_flags = (int)SA_RESETHAND};
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        struct sigaction before;
        if (caught[i] == SIGBUS) action.sa_flags = 0; /* several threads may run it at once */
        if (sigaction(caught[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(caught[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the file size limit then fails and is reported */
}

int interrupt_guard_file(const char *path)
{
    for (int i = 0; i < FILES && strlen(path) < sizeof files[i]; i++) {
        if (file_guarded[i]) continue;
        strcpy(files[i], path);
        file_guarded[i] = 1;
        return i;
    }
    return -1;
}

void interrupt_release_file(int guard)
{
    if (guard >= 0) file_guarded[guard] = 0;
}

void interrupt_hold(void)
{
    atomic_store(&hold, HELD);
}

void interrupt_let_go(void)
{
    const int came = atomic_exchange(&hold, FREE);
    if (came > FREE) raise(came);
}

void interrupt_guard_line(bool shown)
{
    line_guarded = shown;
}

void interrupt_defer(volatile sig_atomic_t *number)
{
    *number = 0;
    deferred = number;
}

void interrupt_obey(int number, bool is_told)
{
    deferred = NULL;
    if (!number) return;
    told = is_told;
    fflush(stdout);
    raise(number);
}
