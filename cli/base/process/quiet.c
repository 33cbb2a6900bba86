#define _GNU_SOURCE
#include "base/process/quiet.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int depth;
static int saved = -1; /* standard error; -1: not redirected */

void quiet_begin(void)
{
    pthread_mutex_lock(&lock);
    if (depth++ == 0) {
        const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        saved = null >= 0 ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
        if (saved >= 0) dup2(null, STDERR_FILENO);
        if (null >= 0) close(null);
    }
    pthread_mutex_unlock(&lock);
}

void quiet_end(void)
{
    pthread_mutex_lock(&lock);
    if (--depth == 0 && saved >= 0) {
        dup2(saved, STDERR_FILENO);
        close(saved);
        saved = -1;
    }
    pthread_mutex_unlock(&lock);
}
