/* Included by every test of the library. */
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

/* The call must fail with this status and a message that contains these words. */
#define REFUSED(wanted, words, call)                                                                                   \
    do {                                                                                                               \
        assert_int_equal(call, wanted);                                                                                \
        if (!strstr(histo_last_error(), words)) fail_msg("%s: '%s' has no '%s'", #call, histo_last_error(), words);    \
    } while (0)

/* Begin the next pass, which must not fail; returns whether there is one. */
static inline bool survey_next_pass(histo_survey *survey)
{
    bool more = true;
    OK(histo_survey_next_pass(survey, &more));
    return more;
}

static inline bool quantiles_next_pass(histo_quantiles *quantiles)
{
    bool more = true;
    OK(histo_quantiles_next_pass(quantiles, &more));
    return more;
}

static inline bool thresholds_next_pass(histo_thresholds *thresholds)
{
    bool more = true;
    OK(histo_thresholds_next_pass(thresholds, &more));
    return more;
}

static inline bool ranks_next_pass(histo_ranks *ranks)
{
    bool more = true;
    OK(histo_ranks_next_pass(ranks, &more));
    return more;
}

#endif
