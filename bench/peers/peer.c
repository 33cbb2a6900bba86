#include "bench/peers/peer.h"

#include "base/error.h"

histo_status bench_peer_begin(const bench_peer *peer, const bench_task *task, void **state)
{
    const bool sparse = task->input->sparse;
    *state = NULL;
    if (task->arranged && !peer->arranges) return histo_fail(HISTO_UNSUPPORTED, "it counts one array");
    if (sparse != peer->finds_slots)
        return histo_fail(HISTO_UNSUPPORTED, sparse ? "it needs memory for every slot" : "not for arrays");
    if (task->weights && !peer->weighs) return histo_fail(HISTO_UNSUPPORTED, "it sums no weights");
    return peer->begin(task, state);
}
