/* histo explain: which strategy hist would run with the same options, and why. */
#include "base/failure.h"
#include "count/count.h"

int command_explain(const settings *s)
{
    fault f = {0};
    return count_explain(s, stdout, &f) == 0 ? EXIT_OK : fault_report(&f);
}
