/* Reading samples of the type TYPE. features.c includes this for each. */
#define NAME_OF(function, type) function##_##type
#define NAMED(function, type) NAME_OF(function, type)
#define NAME(function) NAMED(function, TYPE)

/* The largest of n samples, which are copied unless `to` is NULL. */
static int32_t NAME(read)(const char *from, int64_t stride, char *to, int64_t pitch, int64_t n)
{
    TYPE most = 0;
    for (int64_t i = 0; i < n; i++) {
        TYPE x;
        memcpy(&x, from + i * stride, sizeof x);
        if (to) memcpy(to + i * pitch, &x, sizeof x);
        most = x > most ? x : most;
    }
    return most;
}

#undef NAME
#undef NAMED
#undef NAME_OF
#undef TYPE
