/* Plans: a problem bound to a strategy, its parameters and its threads. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "plan/costs/rates.h"
#include "plan/strategy.h"

enum { HISTO_MAX_STRATEGIES = 64, HISTO_SIGNATURE_BYTES = 384 };

/* HISTO_UNPLANNED: made afterwards, to describe a fill that had no plan. */
typedef enum histo_origin {
    HISTO_FORCED,
    HISTO_ESTIMATED,
    HISTO_MEASURED,
    HISTO_REMEMBERED,
    HISTO_UNPLANNED
} histo_origin;

/* A device that a plan may use. */
typedef struct histo_target {
    histo_device device;
    const char *left_out; /* why the target has no candidates; NULL if it has some */
    int threads;
    histo_transfer transfer; /* how samples get there, if they have to */
    void *prepared;          /* made by the backend */
    bool measured;           /* the times of its candidates were measured */
} histo_target;

enum { HISTO_MAX_TARGETS = 2 };

typedef struct histo_candidate {
    const histo_row *row;
    int64_t params[HISTO_MAX_PARAMS];
    int target;
    const char *why_not; /* why it cannot be chosen; NULL if it can */
    histo_cost cost;     /* predicted; determines count_us */
    double count_us;     /* counting alone, after the samples have arrived */
    double us;           /* time of a fill: predicted, remembered or measured; infinite without an estimate */
} histo_candidate;

/* Another GPU that counts part of a fill. */
typedef struct histo_partner {
    histo_problem problem; /* the plan's problem, on this GPU; shares its axes and lookups */
    void *prepared;
} histo_partner;

/* A split fill: target[1], to which the plan belongs, its partners, and the CPU, target[0], each count a part. */
typedef struct histo_split {
    double fraction; /* fraction of the samples that GPUs are expected to count; 0: not split */
    bool timed;      /* us was measured */
    double us;       /* time of a fill: predicted, or measured like the candidates' */
    int partners;
    histo_partner *partner;
    const histo_row *row; /* the strategy for the CPU's parts; NULL: the CPU does not count */
    int threads;
    int64_t params[HISTO_MAX_PARAMS];
} histo_split;

struct histo_plan {
    uint64_t serial;   /* unique in this process */
    histo_plan *next;  /* another plan of the same histogram, for samples in another device's memory */
    int threads_asked; /* by the fill that the plan was made for; 0: default */
    histo_problem problem;
    const histo_row *row;
    histo_origin origin;
    bool free_choice;    /* no device was requested, and all devices can read the samples */
    bool all_gpus;       /* all GPUs were requested, and can share the samples */
    const char *one_gpu; /* if all GPUs were requested, why a single one counts nevertheless; else NULL */
    int targets, at;     /* target[at] counts; row, problem.device, threads and prepared belong to it */
    histo_target target[HISTO_MAX_TARGETS];
    int threads;
    void *prepared;
    int64_t params[HISTO_MAX_PARAMS];
    char name[48]; /* "backend/strategy" */
    histo_split split;
    int candidates;
    histo_candidate candidate[HISTO_MAX_STRATEGIES];
};

/* The axes are owned. views and fill are as in histo_plan_create, and pairs as in histo_problem_bind. */
histo_status histo_plan_make(histo_plan **plan, int naxes, const histo_axis *axes, const histo_hist_options *kind,
                             const histo_view *views, const histo_pairs *pairs, const histo_fill_options *fill,
                             const histo_plan_options *options);

/* Whether a plan for the first problem also fits the other, whose samples are bound. Axes are not compared. */
bool histo_plan_fits(const histo_problem *planned, const histo_problem *problem);

/* Count views, bound as the operands of the plan's problem, into accumulators. resident: all are in the memory of the
 * plan's device, a GPU; false: unknown. reading: as in histo_job. */
histo_status histo_plan_run(const histo_plan *plan, histo_accumulators *accumulators, const histo_view *const *operands,
                            const histo_fill_options *fill, bool resident, histo_reading *reading);

/* The job of such a fill, with neither accumulators nor a sample range. */
void histo_plan_job(const histo_plan *plan, const histo_view *const *operands, const histo_fill_options *fill,
                    histo_job *job);

/* Count a job into new memory by count(by, job), then replace the job's accumulators by it, so that a fill on the CPU
 * that fails changes nothing. */
histo_status histo_job_replace(histo_job *job, histo_status (*count)(const void *by, histo_job *job), const void *by);

/* Probe a few samples on their device, spread over the entries of a batch, for histo_problem_fraction. Does nothing if
 * that is impossible. */
void histo_plan_probe(histo_plan *plan, const histo_view *const *operands, const histo_fill_options *fill);

/* The strategy requested by options or the environment, or NULL. */
const char *histo_plan_wanted(const histo_plan_options *options);

/* List the devices that may count plan->problem in plan->target. `operands` are those of the problem. */
histo_status histo_plan_find_targets(histo_plan *plan, const histo_plan_options *options,
                                     const histo_view *const *operands);

/* Choose plan->row among all rows, and the target. plan->problem and the targets must be set. The reasons go to
 * plan->candidate. */
histo_status histo_plan_choose(histo_plan *plan, const histo_plan_options *options, const histo_view *const *operands,
                               const histo_fill_options *fill);

/* Move the plan to a target and let its backend prepare it. */
histo_status histo_plan_settle(histo_plan *plan, int target);

/* Why fills cannot be split; NULL if they can. */
const char *histo_split_why_not(const histo_plan *plan, const histo_view *const *operands);

/* How many GPUs besides target[1] may take part in fills of page-locked samples: those that this process already uses.
 * Does not initialise any. */
int histo_split_partners(const histo_plan *plan);

/* Whether the samples could reach target[1] and these GPUs before the CPU, by this candidate, has counted them. */
bool histo_split_may_pay(const histo_plan *plan, const histo_candidate *cpu);

/* Split the plan between the best candidates of its two targets, and other GPUs, if that pays off. One of the
 * candidates has been chosen; known: both times are measured. Without other GPUs, only measured times are trusted. */
void histo_plan_split(histo_plan *plan, const histo_candidate *cpu, const histo_candidate *gpu, bool measured,
                      const histo_view *const *operands, const histo_fill_options *fill);

/* Split the plan, which is on target[1], among all GPUs and the CPU. gpu: NULL if fills on a GPU have no estimate. */
histo_status histo_plan_split_all(histo_plan *plan, const histo_candidate *cpu, const histo_candidate *gpu,
                                  const histo_view *const *operands, const histo_fill_options *fill);
void histo_split_free(histo_plan *plan);

/* Whether the plan is split and these samples are in page-locked memory. Other samples are counted on one device. */
bool histo_split_fits(const histo_plan *plan, const histo_view *const *operands);

/* Run the range of `job` on all devices; job->threads: CPU threads. */
histo_status histo_split_run(const histo_plan *plan, const histo_job *job);

/* Whether the view is page-locked and contiguous, so that a GPU can fetch it directly. */
bool histo_is_pinned(const histo_backend *backend, const histo_view *view);

/* Set the parameters of a row to their defaults. */
void histo_params_default(const histo_row *row, int64_t *params);

/* Set the parameters given as "name=value,…"; fails for names that the row does not have. */
histo_status histo_params_parse(const histo_row *row, const char *text, int64_t *params);
/* Write the parameters that differ from their defaults in that form. */
void histo_params_print(const histo_row *row, const int64_t *params, histo_text *text);

/* Make the plan use a row, with these parameters, or its defaults if NULL. */
void histo_plan_use(histo_plan *plan, const histo_row *row, const int64_t *params);

/* The signature of a plan's problem on a target, for wisdom: one line, at most HISTO_SIGNATURE_BYTES. */
void histo_plan_signature(const histo_plan *plan, int target, char *signature);

/* Wisdom: look up the remembered strategy (NULL if none) and its parameters by signature and device, or remember one;
 * params: NULL for the defaults. */
bool histo_wisdom_exists(void);
const histo_row *histo_wisdom_find(histo_device device, const char *signature, int64_t *params, double *us);
histo_status histo_wisdom_add(histo_device device, const char *signature, const histo_row *row, const int64_t *params,
                              double us);

#endif
