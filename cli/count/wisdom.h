/* The default wisdom file. */
#ifndef CLI_WISDOM_H
#define CLI_WISDOM_H

#include "base/fault.h"
#include "options/settings.h"

/* $XDG_CONFIG_HOME/histo/wisdom, or ~/.config/histo/wisdom; NULL if neither variable is set. Valid until exit. */
const char *wisdom_default_path(void);

/* Create the missing directories of the default file. 0 or -1. */
int wisdom_make_directory(fault *f);

/* Load the file given by --wisdom, else the default file if it exists. 0 or -1. */
int wisdom_load(const settings *s, fault *f);

/* Save the results of --measure to the file given by --wisdom. 0 or -1. */
int wisdom_save_measured(const settings *s, fault *f);

#endif
