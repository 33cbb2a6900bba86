/* For tests of the bench: fills that count wrongly. */
#ifndef TESTS_CHEAT_H
#define TESTS_CHEAT_H

#include <stdbool.h>

/* While it is set, cpu/privatized counts one sample twice. */
extern bool cheat;

#endif
