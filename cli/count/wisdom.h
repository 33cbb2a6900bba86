/* The file of wisdom that the command uses without being told. */
#ifndef CLI_WISDOM_H
#define CLI_WISDOM_H

#include "base/fault.h"
#include "options/settings.h"

/* $XDG_CONFIG_HOME/histo/wisdom, or ~/.config/histo/wisdom; NULL where neither variable is set. Lives as long as the
 * process. */
const char *wisdom_default_path(void);

/* Make the directories that the default file is in, where they are missing. 0 or -1. */
int wisdom_make_directory(fault *f);

/* Load the file that --wisdom names, else the default one if there is one. 0 or -1. */
int wisdom_load(const settings *s, fault *f);

/* Save what --measure found in the file that --wisdom names. 0 or -1. */
int wisdom_save_measured(const settings *s, fault *f);

#endif
