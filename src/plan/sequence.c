/* Calls on one stream whose end other streams are told of at once. */
#include "plan/strategy.h"

static _Thread_local int begun; /* and not ended */

void histo_sequence_begin(void *stream)
{
    if (begun++ == 0 && histo_backend_cuda.begin_sequence) histo_backend_cuda.begin_sequence(stream);
}

histo_status histo_sequence_end(void)
{
    if (begun == 0 || --begun > 0 || !histo_backend_cuda.end_sequence) return HISTO_OK;
    return histo_backend_cuda.end_sequence();
}
