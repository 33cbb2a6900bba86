/* Which shard this process counts: i/N, or what a batch system or MPI sets in the environment. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "options/values.h"

/* Members of a group are numbered from 0. */
typedef struct member {
    int64_t index, count;
} member;

/* 1, 0 if the variable is not set, -1 if it is not a number. */
static int find_number(const char *name, int64_t *number, fault *f)
{
    const char *text = getenv(name);
    if (!text) return 0;
    if (text_to_i64(text, number)) return 1;
    return fault_set(f, EXIT_USAGE, "--shard env: %s is '%s', and not a number: give --shard i/N", name, text);
}

/* The rank of this process if mpirun or srun started it: 1, 0 if they did not, -1. */
static int find_rank(member *m, fault *f)
{
    static const char *const pairs[][2] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, /* Open MPI */
        {"PMI_RANK", "PMI_SIZE"},                         /* MPICH, Intel MPI and others by PMI */
        {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},         /* srun */
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const int index = find_number(pairs[i][0], &m->index, f);
        const int count = index > 0 ? find_number(pairs[i][1], &m->count, f) : index;
        if (count) return count;
    }
    return 0;
}

/* The task of a Slurm array: 1, 0 if there is none, -1. Resubmitted tasks have different bounds than the original
 * array. */
static int find_task(member *m, fault *f)
{
    int64_t id, min, max, step = 1;
    if (find_number("SLURM_ARRAY_TASK_ID", &id, f) < 1) return f->status == EXIT_OK ? 0 : -1;
    if (find_number("SLURM_ARRAY_TASK_MIN", &min, f) < 1 || find_number("SLURM_ARRAY_TASK_MAX", &max, f) < 1 ||
        find_number("SLURM_ARRAY_TASK_COUNT", &m->count, f) < 1 || find_number("SLURM_ARRAY_TASK_STEP", &step, f) < 0)
        return f->status == EXIT_OK ? 0 : -1;
    if (step < 1 || max < min || (max - min) / step + 1 != m->count || id < min || (id - min) % step != 0)
        return fault_set(f, EXIT_USAGE,
                         "--shard env: the task IDs of this Slurm array have gaps: give --shard i/N, with the N of the "
                         "whole array");
    m->index = (id - min) / step;
    return 1;
}

static int find_member(settings *s, fault *f)
{
    member rank = {0, 1}, task = {0, 1};
    const int ranks = find_rank(&rank, f), tasks = ranks < 0 ? -1 : find_task(&task, f);
    if (ranks < 0 || tasks < 0) return -1;
    if (!ranks && !tasks)
        return fault_set(f, EXIT_USAGE,
                         "--shard env: neither a Slurm array nor srun, PMI or Open MPI says which shard this is: give "
                         "--shard i/N");
    if (__builtin_mul_overflow(rank.count, task.count, &s->shards) ||
        __builtin_mul_overflow(task.index, rank.count, &s->shard))
        s->shards = 0;
    s->shard += rank.index;
    if (rank.index >= 0 && rank.index < rank.count && s->shards >= 1 && s->shards <= MAX_SHARDS) return 0;
    return fault_set(f, EXIT_USAGE, "--shard env: the environment names a process that cannot be: give --shard i/N");
}

int value_shard(settings *s, char *text, fault *f)
{
    if (strcmp(text, "env") == 0) return find_member(s, f);
    char *slash = strchr(text, '/');
    if (slash) *slash = '\0';
    const bool numbers = slash && text_to_i64(text, &s->shard) && text_to_i64(slash + 1, &s->shards);
    if (slash) *slash = '/';
    if (!numbers || s->shards < 1 || s->shards > MAX_SHARDS)
        return fault_set(f, EXIT_USAGE, "'%s' is not a shard: --shard takes i/N, as in 3/8, or env", text);
    if (s->shard < 1 || s->shard > s->shards)
        return fault_set(f, EXIT_USAGE, "there is no shard '%s': shards are numbered from 1 to %lld", text,
                         (long long)s->shards);
    s->shard--;
    return 0;
}

int value_every(settings *s, char *text, fault *f)
{
    if (text_to_f64(text, &s->every_s) && s->every_s >= 0 && s->every_s < 1e9) return 0;
    return fault_set(f, EXIT_USAGE, "--every takes seconds, 0 or more, not '%s'", text);
}
