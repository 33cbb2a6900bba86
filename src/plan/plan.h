/* Plans: a problem bound to a strategy, its parameters and its threads. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "plan/rates.h"
#include "plan/strategy.h"

enum { HISTO_MAX_STRATEGIES = 64, HISTO_SIGNATURE_BYTES = 384 };

typedef enum histo_origin { HISTO_FORCED, HISTO_ESTIMATED, HISTO_MEASURED, HISTO_REMEMBERED } histo_origin;

/* A device that a plan may count on. */
typedef struct histo_target {
    histo_device device;
    const char *left_out; /* why none of its strategies is a candidate; NULL if they are */
    int threads;
    histo_transfer transfer; /* of samples that have to travel there */
    void *prepared;          /* by the backend */
    bool measured;           /* the times of its candidates */
    char signature[HISTO_SIGNATURE_BYTES];
} histo_target;

enum { HISTO_MAX_TARGETS = 2 };

typedef struct histo_candidate {
    const histo_row *row;
    int target;
    const char *refusal; /* NULL for a real candidate */
    histo_cost cost;     /* predicted; count_us follows from it */
    double count_us;     /* with the samples there */
    double us;           /* of a fill: predicted, remembered or measured; infinite without an estimate */
} histo_candidate;

/* What the CPU, which then is target[0], counts of each fill while the rest travels to target[1], where the plan is. */
typedef struct histo_split {
    double fraction; /* of the samples that travel; 0: the fill is not split */
    const histo_row *row;
    int64_t params[HISTO_MAX_PARAMS];
    double us; /* of a fill: predicted, or measured as the candidates are */
} histo_split;

struct histo_plan {
    histo_problem problem;
    const histo_row *row;
    histo_origin origin;
    bool free_choice; /* of the device: nobody named one, and the samples can be read by each */
    int targets, at;  /* target[at] is where it counts; row, problem.device, threads and prepared are of there */
    histo_target target[HISTO_MAX_TARGETS];
    int threads;
    void *prepared;
    int64_t params[HISTO_MAX_PARAMS];
    char name[48]; /* "backend/strategy" */
    histo_split split;
    int candidates;
    histo_candidate candidate[HISTO_MAX_STRATEGIES];
};

/* Axes are owned ones. views and fill are as in histo_plan_create. */
histo_status histo_plan_make(histo_plan **plan, int naxes, const histo_axis *axes, const histo_hist_options *kind,
                             const histo_view *views, const histo_fill_options *fill,
                             const histo_plan_options *options);

/* Does the plan fit these samples (bound to `problem`)? */
bool histo_plan_fits(const histo_plan *plan, const histo_problem *problem);

/* Count views, bound as the operands of the plan's problem, into accumulators. */
histo_status histo_plan_run(const histo_plan *plan, histo_accumulators *accumulators, const histo_view *const *operands,
                            const histo_fill_options *fill);

/* The job of such a fill, but for its accumulators and its samples' range. */
histo_job histo_plan_job(const histo_plan *plan, const histo_view *const *operands, const histo_fill_options *fill);

/* Look at a few of the samples, where they are and in one batch entry, for histo_problem_fraction. Where that cannot be
 * done nobody looked. */
void histo_plan_probe(histo_plan *plan, const histo_view *const *operands, const histo_fill_options *fill);

/* The name of the strategy asked for by options or the environment, or NULL. */
const char *histo_plan_wanted(const histo_plan_options *options);

/* The devices that a plan for plan->problem may count on, in plan->target. `operands` are those of the problem. */
histo_status histo_plan_find_targets(histo_plan *plan, const histo_plan_options *options,
                                     const histo_view *const *operands);

/* Choose plan->row among all rows, and the target; plan->problem and the targets are set. Leaves the reasons in
 * plan->candidate. */
histo_status histo_plan_choose(histo_plan *plan, const histo_plan_options *options, const histo_view *const *operands,
                               const histo_fill_options *fill);

/* Make a target the one where the plan counts, prepared by its backend. */
histo_status histo_plan_settle(histo_plan *plan, int target);

/* Split the plan, if that is worth it, between the best candidates of its two targets, one of which has been chosen;
 * the times of both are measured ones. */
void histo_plan_split(histo_plan *plan, const histo_candidate *cpu, const histo_candidate *gpu,
                      const histo_view *const *operands, const histo_fill_options *fill);

/* Is the plan split, and do these samples lie as those that it was split for? Any others are counted on one device. */
bool histo_split_fits(const histo_plan *plan, const histo_view *const *operands);

/* What the CPU does beside a job, for all ranges of a fill: made before the first, and freed after the last. */
typedef struct histo_beside {
    const histo_row *row;
    histo_job job;
} histo_beside;
void histo_split_begin(histo_beside *beside, const histo_plan *plan, const histo_job *job);
void histo_split_end(histo_beside *beside);

/* Run the range of `job`, on both targets. */
histo_status histo_split_run(const histo_plan *plan, const histo_job *job, histo_beside *beside);

/* Is it page-locked and without gaps, so that a GPU fetches it from where it is? */
bool histo_is_pinned(const histo_backend *backend, const histo_view *view);

/* The default values of a row's parameters. */
void histo_params_default(const histo_row *row, int64_t *params);

/* Make a row the one that the plan counts by, with its default parameters. */
void histo_plan_use(histo_plan *plan, const histo_row *row);

/* One line that says what kind of problem this is on problem->device, for wisdom. */
void histo_problem_signature(const histo_problem *problem, int threads, char *signature, size_t capacity);

/* Wisdom: the strategy remembered for a signature on a device, or NULL; and remembering one. */
const histo_row *histo_wisdom_find(histo_device device, const char *signature, double *us);
histo_status histo_wisdom_add(histo_device device, const char *signature, const histo_row *row, double us);

#endif
