/* The signal handler. It may run on any thread at any time, so it uses only async-signal-safe calls and two variables.
 */
#define _GNU_SOURCE
#include "base/interrupt.h"

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"

static char file[PATH_MAX];
static volatile sig_atomic_t file_guarded, line_guarded;

static volatile sig_atomic_t *deferred;

static void clean_up_and_die(int number)
{
    if (deferred && !*deferred && number != SIGPIPE && number != SIGQUIT && number != SIGBUS) {
        struct sigaction again = {.sa_handler = clean_up_and_die, .sa_flags = (int)SA_RESETHAND};
        *deferred = number;
        sigfillset(&again.sa_mask);
        sigaction(number, &again, NULL);
        return;
    }
    static atomic_flag dying = ATOMIC_FLAG_INIT;
    while (number == SIGBUS && atomic_flag_test_and_set(&dying)) /* all threads that read the file may get here */
        pause();
    if (file_guarded) unlink(file);
    if (line_guarded) {
        static const char erase[] = "\r\033[K";
        ssize_t ignored = write(STDERR_FILENO, erase, sizeof erase - 1);
        (void)ignored;
    }
    if (number == SIGBUS) {
        static const char cut[] = "histo: a file shrank while it was read: try again\n";
        ssize_t ignored = write(STDERR_FILENO, cut, sizeof cut - 1);
        (void)ignored;
        _exit(EXIT_DATA);
    }
    raise(number); /* with its default action, delivered when this handler returns */
}

void interrupt_install(void)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGBUS};
    struct sigaction action = {.sa_handler = clean_up_and_die, .sa_flags = (int)SA_RESETHAND};
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        struct sigaction before;
        if (caught[i] == SIGBUS) action.sa_flags = 0; /* several threads at once */
        if (sigaction(caught[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(caught[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the file size limit fails and is reported */
}

void interrupt_guard_file(const char *path)
{
    file_guarded = 0;
    if (!path || strlen(path) >= sizeof file) return;
    strcpy(file, path);
    file_guarded = 1;
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

void interrupt_obey(int number)
{
    deferred = NULL;
    if (!number) return;
    fflush(stdout);
    raise(number);
}
