/* The linker's --wrap redirects histo_plan_fill here. */
#include "support/cheat.h"

#include <string.h>

#include "support/check.h"

bool cheat;

histo_status __real_histo_plan_fill(const histo_plan *plan, histo_hist *hist, const histo_view *views,
                                    const histo_fill_options *options);
histo_status __wrap_histo_plan_fill(const histo_plan *plan, histo_hist *hist, const histo_view *views,
                                    const histo_fill_options *options);
histo_status __wrap_histo_plan_fill(const histo_plan *plan, histo_hist *hist, const histo_view *views,
                                    const histo_fill_options *options)
{
    if (cheat && strcmp(histo_plan_strategy(plan), "cpu/privatized") == 0) {
        histo_view first = histo_view_1d(views->data, views->dtype, 1);
        OK(__real_histo_plan_fill(plan, hist, &first, options));
    }
    return __real_histo_plan_fill(plan, hist, views, options);
}
