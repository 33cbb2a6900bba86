/* Find the devices that a plan may use: the requested one, the one that holds the samples, or the one that has the
 * requested strategy. If samples are in host memory and no device was requested, a transfer to a GPU may pay off. The
 * plan then has two targets and chooses among the strategies of both. It also has two if all GPUs were requested, with
 * the CPU helping. */
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "view/dtype.h"

/* Why a GPU cannot count this problem; NULL if it can. */
static const char *why_on_host(const histo_problem *p)
{
    if (p->plain) return NULL;
    if (p->records && !p->sourced) return "the functions of its records have no source";
    if (p->records && histo_problem_has_bits(p)) return "masks of records must be of bytes";
    if (histo_is_computed(p)) return "it takes images in its own byte order; convert them first";
    return p->resident ? NULL : "records, swapped samples and masks of bits must be in its memory";
}

static histo_status check(const histo_problem *problem, histo_device device)
{
    if (device < HISTO_DEVICE_CPU)
        return histo_fail(
            HISTO_INVALID,
            "there is no device %d: use HISTO_DEVICE_AUTO, HISTO_DEVICE_CPU, HISTO_DEVICE_CUDA(0) and up, or "
            "HISTO_DEVICE_CUDA_ALL",
            device);
    const histo_backend *backend = histo_backend_of(device);
    const char *why = backend->unavailable();
    if (why) return histo_fail(HISTO_UNSUPPORTED, "%s cannot be used: %s", backend->name, why);
    int gpu = device - HISTO_DEVICE_CUDA(0);
    if (gpu >= 0 && gpu >= backend->devices())
        return histo_fail(HISTO_UNSUPPORTED, "there is no GPU %d: this machine has %d, numbered from 0", gpu,
                          backend->devices());
    if (gpu >= 0 && why_on_host(problem))
        return histo_fail(HISTO_UNSUPPORTED, "GPU %d cannot count this: %s", gpu, why_on_host(problem));
    if (problem->bound && device != problem->home)
        return histo_fail(HISTO_UNSUPPORTED, "the samples are in the memory of GPU %d: plan for that device",
                          problem->home - HISTO_DEVICE_CUDA(0));
    return HISTO_OK;
}

static bool is_contiguous(const histo_view *view)
{
    int64_t stride = (int64_t)histo_dtype_size(view->dtype);
    for (int d = view->ndim - 1; d >= 0; d--) {
        if (view->shape[d] != 1 && view->strides[d] != stride) return false;
        stride *= view->shape[d];
    }
    return true;
}

bool histo_is_pinned(const histo_backend *backend, const histo_view *view)
{
    return is_contiguous(view) && backend->pinned(view->data);
}

/* The cost of transferring the operands to a GPU; 0 if some are in GPU memory, since no other device can then count
 * them. */
static histo_transfer transfer_to(const histo_problem *p, const histo_backend *backend, histo_device device,
                                  const histo_view *const *operands)
{
    if (device == HISTO_DEVICE_CPU || p->home != HISTO_DEVICE_CPU || !backend->awake) return (histo_transfer){0};
    double gathered = 0, pinned = 0;
    const bool computed = histo_is_computed(p);
    if (computed) gathered = histo_sample_bytes(p);
    for (int o = 0; o < p->operands && !computed; o++)
        *(histo_is_pinned(backend, operands[o]) ? &pinned : &gathered) += (double)histo_dtype_size(p->dtypes[o]);
    return histo_transfer_of(p, gathered, pinned, backend->awake(device), histo_backend_cpu.threads(0));
}

static void add(histo_plan *plan, histo_device device, const histo_plan_options *options,
                const histo_view *const *operands)
{
    const histo_backend *backend = histo_backend_of(device);
    histo_target *target = &plan->target[plan->targets++];
    target->device = device;
    target->left_out = device == HISTO_DEVICE_CPU ? NULL : why_on_host(&plan->problem);
    target->threads = backend->threads ? backend->threads(options->threads) : 1;
    target->transfer = transfer_to(&plan->problem, backend, device, operands);
}

histo_status histo_plan_find_targets(histo_plan *plan, const histo_plan_options *options,
                                     const histo_view *const *operands)
{
    const histo_problem *problem = &plan->problem;
    histo_device device = options->device;
    const char *wanted = histo_plan_wanted(options);
    if (device == HISTO_DEVICE_CUDA_ALL) {
        device = problem->home == HISTO_DEVICE_CPU ? HISTO_DEVICE_CUDA(0) : problem->home;
    } else if (device == HISTO_DEVICE_AUTO) {
        device = problem->bound || !why_on_host(problem) ? problem->home : HISTO_DEVICE_CPU;
        const histo_row *row = wanted ? histo_row_find(wanted, histo_backend_of(device)) : NULL;
        if (row && row->backend != histo_backend_of(device) && !problem->bound)
            device = row->backend == &histo_backend_cpu ? HISTO_DEVICE_CPU : HISTO_DEVICE_CUDA(0);
        plan->free_choice = !wanted && device == HISTO_DEVICE_CPU;
    }
    histo_status status = check(problem, device);
    if (status != HISTO_OK) return status;
    if (options->device == HISTO_DEVICE_CUDA_ALL) {
        plan->one_gpu = histo_split_why_not(plan, operands);
        plan->all_gpus = !plan->one_gpu;
    }
    if (plan->all_gpus) add(plan, HISTO_DEVICE_CPU, options, operands);
    add(plan, device, options, operands);
    if (plan->free_choice) add(plan, HISTO_DEVICE_CUDA(0), options, operands);
    return HISTO_OK;
}
