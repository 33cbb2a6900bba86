/* The order of samples: exact quantiles; with weights, also mean and deviation; and statistics of 64-bit integers that
 * doubles cannot represent. */
#ifndef CLI_ORDER_H
#define CLI_ORDER_H

#include <histo/histo.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/text.h"
#include "count/order/weighted.h"

/* Of the samples on one axis of a series. Integers beyond 2^53 are represented by their differences from one of them,
 * or from an integer below, which are usually small; other samples by themselves. */
typedef struct sample_order {
    bool differs, is_signed; /* whether differences are used, and of which type */
    bool narrow;             /* doubles represent all differences */
    uint64_t base;           /* the integer that was subtracted, in two's complement */
    histo_stats stats;       /* of the differences if these are narrow: min and max are rounded */
    uint64_t min, max;       /* exact differences */
    double *quantiles;       /* of the samples, or of narrow differences; NULL: unknown */
    bool is_weighted;        /* the quantiles take weights into account, as do these numbers */
    weighted_numbers numbers;
} sample_order;

/* Quantiles that are found while samples are counted. */
typedef struct order_in_passing {
    histo_quantiles *quantiles;
    histo_dtype dtype;
    atomic_bool mixed; /* samples have several types, for which there is no search */
} order_in_passing;

/* Free order[HISTO_MAX_AXES]; NULL is allowed. */
void order_free(sample_order *order);

/* The sample, or the number between two samples, that is this much above the base, as a decimal number. */
char *order_text_of_difference(const sample_order *order, double difference, char text[TEXT_NUMBER_BYTES]);
char *order_text_of_integer(const sample_order *order, uint64_t difference, char text[TEXT_NUMBER_BYTES]);
/* The mean of narrow differences. */
double order_mean(const sample_order *order);
/* The same, rounded. */
double order_value(const sample_order *order, double difference);

#endif
