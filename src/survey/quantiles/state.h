/* The internal state of a selection. */
#ifndef SURVEY_QUANTILES_STATE_H
#define SURVEY_QUANTILES_STATE_H

#include <pthread.h>

#include "cpu/kernels/brackets/brackets.h"
#include "survey/quantiles/keys.h"
#include "survey/quantiles/quickselect.h"
#include "survey/quantiles/selection.h"

/* The numbers are part of saved selections. */
typedef enum histo_selection_method {
    HISTO_KEEP_KEYS = 0, /* there are few keys, and all are kept */
    HISTO_USE_BRACKETS = 1,
    HISTO_COUNT_DIGITS = 2 /* also if the only digit is the whole key, so that values are counted */
} histo_selection_method;

/* A quantile is an order statistic, or lies between two of them. */
typedef struct histo_selected_quantile {
    double q, share;
    int below, above; /* indices of statistics */
} histo_selected_quantile;

/* Keys in memory: all, those in brackets, or those with some digits. */
typedef struct histo_key_store {
    uint64_t *keys; /* [room]; NULL for samples of 8 and 16 bits, whose values are counted */
    uint64_t room;
    uint64_t count; /* number of keys that belong here; with brackets, may exceed the room */
} histo_key_store;

/* Keys drawn at random from all of the data, excluding NaN, from which brackets are made. */
typedef struct histo_drawn_keys {
    uint64_t *keys; /* [room]; NULL for samples of 8 and 16 bits */
    int64_t count, room;
    int64_t interval; /* number of samples per key */
} histo_drawn_keys;

typedef struct histo_bracketing {
    int passes;
    int64_t made_by; /* number of drawn keys that the current brackets were made from */
    histo_brackets brackets;
    histo_bracketed counts;
    histo_drawn_keys drawn;
} histo_bracketing;

/* The keys with key >> shift == prefix, and the statistics among them. */
typedef struct histo_key_set {
    uint64_t prefix;
    int shift;
    int first, end;   /* indices of statistics */
    uint64_t size;    /* number of its keys, as counted by an earlier pass; 0 for the set of all keys */
    uint64_t *counts; /* [HISTO_RADIX] of the next digit, if this pass counts it */
    uint64_t *keys;   /* [size] in the store, if this pass collects them; if neither, the set waits for the next pass */
    uint64_t seen;    /* keys in this pass */
} histo_key_set;

enum { HISTO_MOST_KEPT = 1 << 17 }; /* up to this many keys are all kept; the smallest store has room for them */

enum { HISTO_RADIX_BITS = 16, HISTO_RADIX = 1 << HISTO_RADIX_BITS /* number of values of a digit */ };

typedef struct histo_radix {
    bool is_first_digit;
    int open;                   /* number of sets still to be searched */
    histo_key_set *sets, *next; /* [2 * n + 1] in order, and those for after this pass */
    int tables_count;
    uint64_t *tables; /* [tables_count][HISTO_RADIX] counts of sets */
    int *set_of;      /* [HISTO_RADIX + 1]: the first open set of keys with these highest bits, or higher ones */
} histo_radix;

struct histo_selection {
    pthread_rwlock_t use;    /* read lock: held by passes that share the selection; write lock: by all others */
    pthread_mutex_t drawing; /* held by the thread that draws keys */
    histo_dtype dtype;
    int bits;       /* width of a key */
    bool finite;    /* infinities are ignored */
    bool in_parts;  /* passes are merged with those of other parts, so no part may make brackets of its own */
    bool on_device; /* a GPU has some of the samples */
    histo_quantile_rule rule;
    int n;
    histo_selected_quantile *quantiles; /* [n] */
    int statistics_count;
    histo_order_statistic *statistics; /* [2 * n + 1], by rank among all samples or in their set */
    histo_key_limits limits;
    uint64_t beyond[2]; /* samples below and above the limits, which are ignored */
    uint64_t samples;   /* all other samples */
    bool is_ranked;     /* the number of samples, those beyond, and the ranks are known */
    uint64_t seen;      /* samples in this pass */

    histo_selection_method method;
    histo_key_store store;
    histo_bracketing bracketing;
    histo_radix radix;
};

/* Find the ranks, once all samples have been seen and those beyond the limits are counted. False if none is left. */
bool histo_selection_rank(histo_selection *selection, uint64_t samples);

#endif
