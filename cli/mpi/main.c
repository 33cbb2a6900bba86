/* mpirun -n N histo-mpi …: histo hist on N ranks. The files are divided into shards, which ranks take one after the
 * other; rank 0 writes. The output is that of a single process. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/program.h"
#include "input/stream/first_size.h"
#include "mpi/team.h"
#include "options/options.h"
#include "options/values.h"
#include "output/outfile.h"
#include "output/write.h"

enum { SHARDS_OF_A_RANK = 16 };

static team ranks;

static int check_settings(const settings *s, fault *f)
{
    const char *option = s->batch        ? "--batch"
                         : s->by         ? "--by"
                         : s->compare    ? "--compare"
                         : s->live       ? "--live"
                         : s->segments   ? "--segments"
                         : s->pairs      ? "--pairs"
                         : s->shards     ? "--shard"
                         : s->checkpoint ? "--checkpoint"
                         : s->measure    ? "--measure"
                         : s->vary       ? "--vary"
                                         : NULL;
    return option ? fault_set(f, EXIT_USAGE, "histo-mpi has no %s: use histo", option) : 0;
}

/* Ranks of one host share its CPUs, unless each is bound to some of them. */
static void share_cpus(void)
{
    cpu_set_t mine;
    MPI_Comm host;
    int here;
    MPI_Comm_split_type(ranks.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &here);
    MPI_Comm_free(&host);
    const bool bound =
        sched_getaffinity(0, sizeof mine, &mine) == 0 && CPU_COUNT(&mine) < sysconf(_SC_NPROCESSORS_ONLN);
    const int threads = histo_threads();
    if (!bound) histo_set_threads(threads > here ? threads / here : 1);
}

/* Rank 0 opens the output before anything is read, and writes it. */
static int count_and_write(const settings *s, output *to, result *r, fault *f)
{
    const bool writes = ranks.rank == 0;
    const run_team all = team_of(&ranks);
    int failed = writes && (outfile_spare_inputs(s, f) != 0 || output_open(to, s, f) != 0);
    failed = team_agree(&ranks, failed, f);
    if (failed) return -1;
    int moments = writes ? (int)output_moments(to) : 0;
    MPI_Bcast(&moments, 1, MPI_INT, 0, ranks.comm);
    failed = count_together(s, (moments_kind)moments, &all, r, f);
    if (!failed && writes) failed = output_write(to, r, f);
    return team_agree(&ranks, failed, f);
}

static int count_with_ranks(int argc, char **argv)
{
    fault f = {0};
    settings s;
    const char *word = argc > 1 ? argv[1] : NULL;
    const command_row *command = word ? command_find(word) : NULL;
    if (command && command != &command_rows[COMMAND_HIST]) {
        fault_set(&f, EXIT_USAGE, "histo-mpi counts files, as 'histo hist': for '%s', use histo", word);
        return fault_report(&f);
    }
    int parsed = settings_parse(&s, &histo_options, "hist", argc - (command ? 1 : 0), argv + (command ? 1 : 0), &f);
    if (parsed > 0) return EXIT_OK;
    int failed = parsed < 0 || value_environment(&f) != 0 || check_settings(&s, &f) != 0;
    if (!failed && s.threads && histo_set_threads(s.threads) != HISTO_OK)
        failed = fault_of_library(&f, EXIT_USAGE, "--threads");
    failed = team_agree(&ranks, failed, &f);
    if (failed) return fault_report(&f);
    if (!s.threads) share_cpus();
    if (!s.output && !s.output_format) s.output_format = "tsv"; /* mpirun may make files look like terminals */
    s.shards = ranks.shards;
    output to = {0};
    result r = {0};
    failed = count_and_write(&s, &to, &r, &f);
    output_close(&to);
    result_free(&r);
    settings_free(&s);
    return failed ? fault_report(&f) : EXIT_OK;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    team_begin(&ranks, SHARDS_OF_A_RANK);
    /* Rank 0 prints for all. */
    const bool silent = ranks.rank > 0 && (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr));
    if (silent) MPI_Abort(ranks.comm, EXIT_DATA);
    first_size_remember();
    const int status = program_run(argc, argv, count_with_ranks);
    MPI_Finalize();
    return ranks.rank == 0 ? status : EXIT_OK;
}
