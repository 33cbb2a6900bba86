/* Splitting fills of page-locked samples among the CPU and one or more GPUs. Each device takes the next part when it is
 * free, so no device's speed has to be known: GPUs take from the beginning, the CPU from the end. Pageable samples are
 * not split: copying them for a GPU keeps the CPU as busy as counting them would. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "plan/accumulators.h"
#include "plan/costs/measure.h"

/* Minimum predicted speedup: all devices slow down by reading the same memory. */
static const double worth = 1.25;

/* How long the CPU counts before the calling thread attends to the GPUs again. Meanwhile they count what they have. */
enum { HELP_US = 800 };

/* ---- Estimates ---- */

static bool are_pinned(const histo_problem *problem, const histo_backend *backend, const histo_view *const *operands)
{
    bool pinned = true;
    for (int o = 0; pinned && o < problem->operands; o++)
        pinned = histo_is_pinned(backend, operands[o]);
    return pinned;
}

static bool can_be_split(const histo_problem *p)
{
    return !p->ragged && !histo_is_computed(p) && p->plain && p->storage == HISTO_DENSE;
}

const char *histo_split_why_not(const histo_plan *plan, const histo_view *const *operands)
{
    const histo_problem *p = &plan->problem;
    if (p->home != HISTO_DEVICE_CPU) return "the samples are in its memory";
    if (!can_be_split(p)) return "segments, pairs of images and sparse histograms are not shared";
    if (!are_pinned(p, &histo_backend_cuda, operands))
        return "the samples are not page-locked; copied by the CPU, they would keep no second GPU busy";
    return NULL;
}

int histo_split_partners(const histo_plan *plan)
{
    const histo_target *own = &plan->target[1];
    const histo_backend *backend = histo_backend_of(own->device);
    int n = 0;
    if (!own->transfer.direct || !can_be_split(&plan->problem)) return 0;
    for (int d = 0; d < backend->devices(); d++)
        n += HISTO_DEVICE_CUDA(d) != own->device && backend->awake(HISTO_DEVICE_CUDA(d));
    return n;
}

/* The time of a fill on target[1] and `partners` other GPUs, if a single GPU would count for count_us. */
static double transfer_us(const histo_plan *plan, int partners, double count_us)
{
    histo_transfer way = plan->target[1].transfer;
    way.bytes_us = fmax(way.bytes_us / (1 + partners), way.bytes / histo_rate_of(HISTO_RATE_LINKS));
    return histo_transfer_us(&way, count_us / (1 + partners));
}

/* The time of a fill by the CPU alone. Estimates are for counting alone; many threads are bound by memory, whose
 * bandwidth is unknown and assumed. */
static double cpu_us(const histo_plan *plan, const histo_candidate *cpu, bool measured)
{
    const double bytes = (double)plan->problem.samples * histo_sample_bytes(&plan->problem);
    return measured ? cpu->us : fmax(cpu->us, bytes / (histo_rate_of(HISTO_RATE_HOST) * sqrt(plan->target[0].threads)));
}

bool histo_split_may_pay(const histo_plan *plan, const histo_candidate *cpu)
{
    const int partners = histo_split_partners(plan);
    return partners && cpu_us(plan, cpu, false) > transfer_us(plan, partners, 0);
}

/* The number of threads with which the CPU helps; 0 if it cannot. It counts many small parts, so its strategy must
 * start and finish quickly. */
static int helping_threads(const histo_plan *plan, const histo_candidate *cpu)
{
    for (int threads = cpu ? plan->target[0].threads : 0; threads > 0; threads /= 2)
        if (histo_cost_of(cpu->row->strategy, &plan->problem, threads, &(histo_speed){0, 0}).fixed_us < HELP_US / 4)
            return threads;
    return 0;
}

/* The time of a fill by the CPU and GPUs, each of which alone takes gpu->us; *fraction: of the samples that the GPUs
 * count. */
static double predict(const histo_plan *plan, const histo_candidate *cpu, const histo_candidate *gpu, bool measured,
                      int partners, double *fraction)
{
    const histo_transfer *way = &plan->target[1].transfer;
    const double fixed = fmin(way->start_us + way->setup_us + way->gather_us, gpu->us);
    const double there = fmax((gpu->us - fixed) / (1 + partners), way->bytes / histo_rate_of(HISTO_RATE_LINKS));
    const double here = helping_threads(plan, cpu) ? cpu_us(plan, cpu, measured) : 0;
    *fraction = here > 0 ? (here - fixed) / (here + there) : 1;
    return *fraction < 1 ? (1 - *fraction) * here : fixed + there;
}

/* ---- Filling ---- */

bool histo_split_fits(const histo_plan *plan, const histo_view *const *operands)
{
    return plan->split.fraction > 0 && are_pinned(&plan->problem, plan->row->backend, operands);
}

/* The CPU's state for its parts. */
typedef struct helper {
    histo_share share;
    const histo_row *row;
    histo_job job;
    double samples_a_us; /* measured rate; 0: not yet */
} helper;

static histo_status count_last(helper *h, int64_t n)
{
    const double start = histo_now_us();
    h->job.end = h->share.end;
    h->job.begin = h->share.end -= n;
    histo_status status = h->row->backend->run(h->row->strategy, &h->job);
    h->samples_a_us = (double)n / (histo_now_us() - start);
    return status;
}

static histo_status help(histo_share *share)
{
    enum { GRAIN = 1 << 12, FIRST = 1 << 14 };
    helper *h = (helper *)share;
    const int64_t left = share->end - share->begin, fair = left / (1 + share->takers);
    const double much = h->samples_a_us * HELP_US;
    int64_t n = much > 0 ? (int64_t)fmin(much, (double)left) : FIRST;
    if (n > fair) n = fair;
    n = n / GRAIN * GRAIN;
    return count_last(h, n > 0 ? n : left < GRAIN ? left : GRAIN);
}

/* The CPU's state, and the jobs of all GPUs. */
typedef struct sharing {
    helper cpu;
    int n;
    histo_job jobs[];
} sharing;

static histo_status sharing_make(sharing **out, const histo_plan *plan, const histo_job *job)
{
    const int n = 1 + plan->split.partners;
    const size_t bytes = sizeof **out + (size_t)n * sizeof *(*out)->jobs;
    sharing *s = histo_malloc(bytes);
    if (!s) return histo_fail_memory(bytes, "sharing a fill");
    s->cpu = (helper){
        .share = {job->begin, job->end, n, plan->split.row ? help : NULL}, .row = plan->split.row, .job = *job};
    s->cpu.job.prepared = plan->target[0].prepared;
    s->cpu.job.params = plan->split.params;
    s->n = n;
    for (int i = 0; i < n; i++) {
        s->jobs[i] = *job;
        s->jobs[i].threads = plan->threads;
        if (i == 0) continue;
        s->jobs[i].problem = &plan->split.partner[i - 1].problem;
        s->jobs[i].prepared = plan->split.partner[i - 1].prepared;
    }
    *out = s;
    return HISTO_OK;
}

static histo_status run_shared(const histo_plan *plan, sharing *s)
{
    return plan->row->backend->run_shared(plan->row->strategy, s->jobs, s->n, &s->cpu.share);
}

static void sharing_free(sharing *s)
{
    histo_free(s->cpu.job.workspace);
    histo_free(s);
}

histo_status histo_split_run(const histo_plan *plan, const histo_job *job)
{
    enum { FEW = 1 << 18 }; /* too few samples to repay a transfer */
    const int64_t n = job->end - job->begin;
    sharing *s;
    histo_status status = sharing_make(&s, plan, job);
    if (status != HISTO_OK) return status;
    status = plan->split.row && n < FEW ? count_last(&s->cpu, n) : run_shared(plan, s);
    sharing_free(s);
    return status;
}

/* ---- Planning ---- */

/* A GPU that cannot run the strategy, or cannot be prepared, is left out. */
static histo_status add_partner(histo_plan *plan, histo_device device)
{
    histo_partner *partner = &plan->split.partner[plan->split.partners];
    partner->problem = plan->problem;
    partner->problem.device = device;
    if (plan->row->strategy->unsupported_reason(&partner->problem)) return HISTO_OK;
    histo_status status = plan->row->backend->prepare(&partner->problem, &partner->prepared);
    plan->split.partners += status == HISTO_OK;
    return status;
}

void histo_split_free(histo_plan *plan)
{
    for (int p = 0; p < plan->split.partners; p++)
        plan->row->backend->unprepare(plan->split.partner[p].prepared);
    histo_free(plan->split.partner);
    plan->split = (histo_split){0};
}

/* Let other devices join the plan's own GPU, which has been chosen: the CPU, if it can help, and all GPUs or those that
 * this process uses. */
static histo_status engage(histo_plan *plan, const histo_candidate *cpu, bool all)
{
    const int devices = plan->row->backend->devices();
    const int threads = helping_threads(plan, cpu);
    histo_status status = threads ? histo_plan_settle(plan, 0) : HISTO_OK;
    if (status == HISTO_OK) status = histo_plan_settle(plan, 1);
    if (status != HISTO_OK) return status;
    if (threads) {
        plan->split.row = cpu->row;
        plan->split.threads = threads;
        memcpy(plan->split.params, cpu->params, sizeof plan->split.params);
    }
    plan->split.partner = histo_calloc((size_t)devices, sizeof *plan->split.partner);
    if (!plan->split.partner) return histo_fail_memory((size_t)devices * sizeof *plan->split.partner, "a plan");
    for (int d = 0; d < devices; d++) {
        const histo_device device = HISTO_DEVICE_CUDA(d);
        if (device == plan->target[1].device || !(all || plan->row->backend->awake(device))) continue;
        status = add_partner(plan, device);
        if (status != HISTO_OK && all) return status;
    }
    return HISTO_OK;
}

/* Only a fill shows whether every GPU has the memory to take part, and a failing fill would spoil what the histogram
 * has counted. So each GPU counts a few samples into accumulators that are then discarded. The staging buffers are
 * kept. */
static histo_status try_out(const histo_plan *plan, const histo_view *const *operands, const histo_fill_options *fill)
{
    const histo_problem *p = &plan->problem;
    const double bytes_each = 1 << 20;
    histo_accumulators trial;
    histo_job job;
    histo_plan_job(plan, operands, fill, &job);
    job.end = histo_strided_iter_samples(&job.iter);
    if (job.end > (int64_t)HISTO_EXACT_MAX_ADDS) job.end = (int64_t)HISTO_EXACT_MAX_ADDS;
    job.accumulators = &trial;
    histo_status status = histo_accumulators_make(
        &trial, p->slots, &(histo_hist_options){.batch = p->batch, .weighting = p->weighting, .storage = p->storage});
    if (status != HISTO_OK) return status;
    sharing *s;
    status = sharing_make(&s, plan, &job);
    if (status == HISTO_OK) {
        histo_share *share = &s->cpu.share;
        const int64_t few = (int64_t)(bytes_each / histo_sample_bytes(p)) * share->takers;
        share->help = NULL;
        if (few < share->end) share->end = few;
        status = run_shared(plan, s);
        sharing_free(s);
    }
    histo_accumulators_free(&trial);
    return status;
}

static void disengage(histo_plan *plan, const histo_candidate *alone)
{
    histo_split_free(plan);
    histo_plan_use(plan, alone->row, alone->params);
    histo_plan_settle(plan, alone->target); /* already prepared: cannot fail */
}

void histo_plan_split(histo_plan *plan, const histo_candidate *cpu, const histo_candidate *gpu, bool measured,
                      const histo_view *const *operands, const histo_fill_options *fill)
{
    const histo_candidate *chosen = plan->at == 0 ? cpu : gpu;
    if (!plan->target[1].transfer.direct || !can_be_split(&plan->problem)) return;
    const int partners = histo_split_partners(plan);
    if (!partners && !(measured && helping_threads(plan, cpu))) return;
    double fraction;
    const double us = predict(plan, cpu, gpu, measured, partners, &fraction),
                 alone = fmin(cpu_us(plan, cpu, measured), gpu->us);
    if (!(fraction > 0) || us * worth > alone) return;
    histo_plan_use(plan, gpu->row, gpu->params);
    histo_status status = engage(plan, cpu, false);
    plan->split.fraction = fraction;
    plan->split.us = us;
    if (status == HISTO_OK && plan->origin == HISTO_MEASURED) {
        status = histo_plan_time(plan, operands, fill, &plan->split.us);
        plan->split.us += plan->target[1].transfer.gather_us;
        plan->split.timed = true;
    } else if (status == HISTO_OK) {
        status = try_out(plan, operands, fill);
    }
    if (status != HISTO_OK || plan->split.us > alone) disengage(plan, chosen);
}

histo_status histo_plan_split_all(histo_plan *plan, const histo_candidate *cpu, const histo_candidate *gpu,
                                  const histo_view *const *operands, const histo_fill_options *fill)
{
    const bool measured = plan->origin == HISTO_MEASURED || plan->origin == HISTO_REMEMBERED;
    histo_status status = engage(plan, cpu, true);
    if (status != HISTO_OK) return status;
    plan->split.fraction = 1;
    if (gpu) plan->split.us = predict(plan, cpu, gpu, measured, plan->split.partners, &plan->split.fraction);
    if (!(plan->split.fraction > 0)) plan->split.fraction = 1; /* the CPU may finish before any GPU starts */
    return try_out(plan, operands, fill);
}
