/* Default locations of a user's files: the XDG base directories. */
#ifndef CLI_PLACES_H
#define CLI_PLACES_H

#include <limits.h>
#include <stdbool.h>

/* $VARIABLE/name if that is an absolute path, else $HOME/fallback/name. False if neither variable is set. */
bool places_find(const char *variable, const char *fallback, const char *name, char path[PATH_MAX]);

#endif
