/* What every test of the library includes. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <histo/histo.h>

/* The call must succeed. */
#define OK(call)                                                                                                       \
    do {                                                                                                               \
        if ((call) != HISTO_OK) fail_msg("%s: %s", #call, histo_last_error());                                         \
    } while (0)

/* The call must be refused with this status and a sentence that has these words. */
#define REFUSED(wanted, words, call)                                                                                   \
    do {                                                                                                               \
        assert_int_equal(call, wanted);                                                                                \
        if (!strstr(histo_last_error(), words)) fail_msg("%s: '%s' has no '%s'", #call, histo_last_error(), words);    \
    } while (0)

#endif
