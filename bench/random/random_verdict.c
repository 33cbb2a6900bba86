#include "bench/random/random_verdict.h"

const char *const random_class_names[RANDOM_CLASSES] = {"GPU, more than 2^22 samples", "GPU, 2^20 to 2^22",
                                                        "GPU, up to 2^20", "GPU, transfers", "CPU"};

double random_share(const random_verdict *v)
{
    return v->bound_us / v->us;
}

double random_to_peer(const random_verdict *v)
{
    return v->peer_us / v->us;
}

double random_choice(const random_verdict *v)
{
    return v->best_us > 0 ? v->us / v->best_us : 0;
}

const char *random_bounded_by(const random_verdict *v)
{
    if (2 * v->launch_us >= v->bound_us) return "launch";
    return v->bytes_us >= v->counters_us ? "bytes" : "counters";
}
