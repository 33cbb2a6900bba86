/* histo explain: which strategy hist would run with the same options, and why. */
#include <stdio.h>
#include <stdlib.h>

#include "base/failure.h"
#include "base/text.h"
#include "count/run.h"
#include "count/wisdom.h"
#include "output/rows.h"

static void print_axes(const run *r, FILE *out)
{
    for (int a = 0; a < r->axis_count; a++) {
        const histo_axis *axis = &r->axes[a];
        char lo[TEXT_NUMBER_BYTES], hi[TEXT_NUMBER_BYTES], bins[TEXT_NUMBER_BYTES];
        double first = histo_axis_edge(axis, 0), last = histo_axis_edge(axis, axis->bins);
        fprintf(out, "axis%s", r->axis_count > 1 && r->sources[a].name ? " " : "");
        if (r->axis_count > 1 && r->sources[a].name) rows_put_text(out, false, r->sources[a].name);
        fprintf(out, ": %s, %s bin%s over [%s, %s%c\n", histo_axis_kind_name(axis->kind),
                text_count((uint64_t)axis->bins, bins), axis->bins == 1 ? "" : "s", text_exact(first, lo),
                text_exact(last, hi), axis->closed ? ']' : ')');
    }
}

static int print_plan(const histo_plan *plan, FILE *out, fault *f)
{
    size_t size = histo_plan_explain(plan, NULL, 0) + 1;
    char *text = malloc(size);
    if (!text) return fault_set(f, EXIT_DATA, "no memory to explain the plan");
    histo_plan_explain(plan, text, size);
    fputs(text, out);
    free(text);
    return 0;
}

static int explain(run *r, const settings *s, result *to, fault *f)
{
    if (run_begin(r, s, to, f) != 0) return -1;
    const histo_plan *plan = run_plan(r, f);
    if (!plan) return -1;
    print_axes(r, stdout);
    return print_plan(plan, stdout, f) == 0 ? wisdom_save_measured(s, f) : -1;
}

int command_explain(const settings *s)
{
    fault f = {0};
    run r;
    result to = {0};
    int failed = explain(&r, s, &to, &f);
    run_end(&r);
    result_free(&to);
    return failed ? fault_report(&f) : EXIT_OK;
}
