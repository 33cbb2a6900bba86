/* Problems of gradient boosting: random tables, layouts, weights, rows and nodes, what their sums are, added up one by
 * one, and places where they are written. */
#ifndef TESTS_NODE_PROBLEMS_H
#define TESTS_NODE_PROBLEMS_H

#include "support/data.h"

enum { MOST_FEATURES = 300, NODE_MARK = 0x5a /* what is in a place before */ };

typedef struct node_problem {
    int64_t rows, listed, nodes;
    int features, weights;
    int32_t bins[MOST_FEATURES];
    histo_view table, values[HISTO_MAX_GRADIENTS], list;
    int64_t *offsets;
    int32_t selected[MOST_FEATURES];
    int selected_count; /* 0: all */
    char *owned[HISTO_MAX_GRADIENTS + 2];
} node_problem;

void node_problem_make(rng *r, node_problem *p, int64_t rows);
void node_problem_free(node_problem *p);
/* Cut so many rows into the nodes, some of them empty. */
void node_problem_offsets(rng *r, node_problem *p, int64_t rows);

/* sums[nodes][total][1 + weights]: counts first; free() them. */
int64_t *node_problem_sums(const node_problem *p, const histo_gradients *g, bool listed, int64_t total);

typedef struct node_place {
    histo_node_sums to;
    char *memory;
    size_t bytes;
    int64_t *first;
} node_place;

/* Structs of unaligned numbers with a byte between, in another order of features, or arrays. */
void node_place_make(rng *r, const node_problem *p, int64_t total, bool structs, node_place *at);
void node_place_free(node_place *at);
/* Check that the sums are there, and nothing where features are not selected. */
void node_place_check(const node_problem *p, const histo_gradients *g, const node_place *at, int64_t total,
                      const int64_t *expected);

#endif
