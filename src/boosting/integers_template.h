/* Gradients that are integers of the type TYPE. gradients.c includes this for each. */
#define NAME_OF(function, type) function##_##type
#define NAMED(function, type) NAME_OF(function, type)
#define NAME(function) NAMED(function, TYPE)

/* to[i * step] = from[i] */
static void NAME(take)(const TYPE *from, int n, int32_t *to, int step)
{
    for (int i = 0; i < n; i++)
        to[(int64_t)i * step] = (int32_t)from[i];
}

#undef NAME
#undef NAMED
#undef NAME_OF
#undef TYPE
