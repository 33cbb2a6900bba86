/* Plans: a problem bound to a strategy, its parameters and its threads. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "plan/strategy.h"

enum { HISTO_MAX_STRATEGIES = 64, HISTO_SIGNATURE_BYTES = 384 };

typedef enum histo_origin { HISTO_FORCED, HISTO_ESTIMATED, HISTO_MEASURED, HISTO_REMEMBERED } histo_origin;

typedef struct histo_candidate {
    const histo_row *row;
    const char *refusal; /* NULL for a real candidate */
    double us;           /* predicted, or measured */
} histo_candidate;

struct histo_plan {
    histo_problem problem;
    const histo_row *row;
    histo_origin origin;
    int threads;
    void *prepared; /* by the backend */
    int64_t params[HISTO_MAX_PARAMS];
    char name[48]; /* "backend/strategy" */
    char signature[HISTO_SIGNATURE_BYTES];
    int candidates;
    histo_candidate candidate[HISTO_MAX_STRATEGIES];
};

/* Axes are owned ones. views and fill are as in histo_plan_create. */
histo_status histo_plan_make(histo_plan **plan, int naxes, const histo_axis *axes, int64_t batch,
                             histo_weighting weighting, const histo_view *views, const histo_fill_options *fill,
                             const histo_plan_options *options);

/* Does the plan fit these samples (bound to `problem`), and is it meant for about as many? */
bool histo_plan_fits(const histo_plan *plan, const histo_problem *problem);

/* Count views, bound as the operands of the plan's problem, into bank. */
histo_status histo_plan_run(const histo_plan *plan, histo_bank *bank, const histo_view *const *operands,
                            const histo_fill_options *fill);

/* The name of the strategy asked for by options or the environment, or NULL. */
const char *histo_plan_wanted(const histo_plan_options *options);

/* Choose plan->row among all rows; plan->problem and plan->threads are set. Leaves the reasons in plan->candidate. */
histo_status histo_plan_choose(histo_plan *plan, const histo_plan_options *options, const histo_view *const *operands,
                               const histo_fill_options *fill);

/* One line that says what kind of problem this is, for wisdom. */
void histo_problem_signature(const histo_problem *problem, int threads, char *signature, size_t capacity);

/* Wisdom: the strategy remembered for a signature on a device, or NULL; and remembering one. */
const histo_row *histo_wisdom_find(histo_device device, const char *signature, double *us);
histo_status histo_wisdom_add(histo_device device, const char *signature, const histo_row *row, double us);

#endif
