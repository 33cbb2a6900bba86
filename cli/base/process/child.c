#define _GNU_SOURCE
#include "base/process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct child {
    const char *const *arguments;
    char *in;
    pid_t process; /* 0: not running */
    int status;    /* of the last run */
    int out, said; /* -1: not open */
};

child *child_create(const char *const *arguments, const char *in)
{
    child *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    *c = (child){.arguments = arguments, .in = strdup(in), .out = -1, .said = -1};
    if (c->in) return c;
    free(c);
    return NULL;
}

static void await(child *c)
{
    while (c->process > 0 && waitpid(c->process, &c->status, 0) < 0 && errno == EINTR)
        ;
    c->process = 0;
}

static void end(child *c)
{
    if (c->process > 0) kill(c->process, SIGKILL);
    await(c);
    if (c->out >= 0) close(c->out);
    if (c->said >= 0) close(c->said);
    c->out = c->said = -1;
}

/* Start it with default signal handling, as a shell would. */
static int spawn(child *c, int in, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawn_file_actions_init(&files);
    if (error) return error;
    if ((error = posix_spawnattr_init(&attributes)) == 0) {
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        error = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
        if (!error) error = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
        if (!error) error = posix_spawn_file_actions_adddup2(&files, c->said, STDERR_FILENO);
        if (!error)
            error =
                posix_spawnp(&c->process, c->arguments[0], &files, &attributes, (char *const *)c->arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

int child_start(child *c)
{
    int ends[2], error = 0;
    end(c);
    const int in = open(c->in, O_RDONLY | O_CLOEXEC); /* opened anew, for a file offset of its own */
    c->said = memfd_create("messages", MFD_CLOEXEC);
    if (in < 0 || c->said < 0 || pipe2(ends, O_CLOEXEC) != 0) {
        error = errno;
    } else {
        c->out = ends[0];
        error = spawn(c, in, ends[1]);
        close(ends[1]);
    }
    if (in >= 0) close(in);
    if (!error) return c->out;
    c->process = 0;
    end(c);
    errno = error;
    return -1;
}

bool child_succeeded(child *c, char *said, size_t size)
{
    await(c);
    const ssize_t length = c->said >= 0 ? pread(c->said, said, size - 1, 0) : 0;
    said[length > 0 ? length : 0] = '\0';
    said[strcspn(said, "\n")] = '\0';
    return WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0;
}

void child_close(child *c)
{
    if (!c) return;
    end(c);
    free(c->in);
    free(c);
}

const char *child_name(const child *c)
{
    return c->arguments[0];
}
