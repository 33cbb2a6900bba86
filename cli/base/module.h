/* Modules: parts of the command that need large libraries (HDF5, libtiff, libzip, cairo), whose loading takes longer
 * than most work. Each is a shared object made from the files in modules/NAME, loaded when first needed. Programs that
 * link them (tests, builds without HISTO_MODULES) use them directly. */
#ifndef CLI_MODULE_H
#define CLI_MODULE_H

#include <stdbool.h>

#include "base/fault.h"

/* For declarations of what a module defines: NULL where it is not linked. */
#define MODULE_SYMBOL __attribute__((weak, visibility("default")))

bool module_is_there(const char *module);

/* The symbol `name` of this module; NULL with an error that says that `what` needs it. */
void *module_symbol(const char *module, const char *name, const char *what, fault *f);

#endif
