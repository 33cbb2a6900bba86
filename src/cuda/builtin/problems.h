/* Everyday problems, whose kernels are compiled when the library is built. The list is in problems.def. */
#ifndef CUDA_BUILTIN_PROBLEMS_H
#define CUDA_BUILTIN_PROBLEMS_H

#include <histo/histo.h>

/* How samples lie in memory. */
typedef enum everyday_layout {
    EVERYDAY_CHANNELS, /* of an interleaved image, or columns of a table: a histogram each */
    EVERYDAY_COLUMN,   /* one column of a table, or every n-th sample */
    EVERYDAY_REGION,   /* a part of an image */
    EVERYDAY_ROWS,     /* of a matrix: a histogram each */
    EVERYDAY_ARRAY,    /* one array */
    EVERYDAY_ARRAYS,   /* an array for each axis */
    EVERYDAY_TABLE,    /* a table with a column for each axis */
} everyday_layout;

/* What goes with the samples, and lies in arrays of its own. */
typedef enum everyday_with {
    EVERYDAY_ALONE,
    EVERYDAY_MASK,        /* of u8 */
    EVERYDAY_WHERE,       /* of the samples' dtype */
    EVERYDAY_WEIGHTS_F32, /* and no variance */
    EVERYDAY_WEIGHTS_F64,
    EVERYDAY_VARIANCE_F32,
    EVERYDAY_VARIANCE_F64,
} everyday_with;

typedef struct everyday_problem {
    everyday_layout layout;
    int n; /* channels, columns, columns of a row in units of 1, or axes: see the layout */
    everyday_with with;
    histo_dtype dtype, first_dtype; /* of all axes, and of the first: labels may have their own */
    int64_t bins, first_bins;       /* of each axis */
    int64_t samples;                /* about so many in all */
} everyday_problem;

/* How many there are, and one of them. */
int everyday_count(void);
everyday_problem everyday_at(int index);

/* A problem's name, such as "3 channels f32, 256 bins, mask u8, 1048576 samples". */
void everyday_name(const everyday_problem *problem, char *name, size_t capacity);

/* A fill of a problem: what histo_hist_create, histo_plan_create and histo_hist_fill take. */
typedef struct everyday_fill {
    int naxes;
    histo_axis axes[HISTO_MAX_AXES];
    histo_view views[HISTO_MAX_AXES], weights, mask, where;
    histo_hist_options hist;
    histo_fill_options fill; /* points to the views of this struct */
    size_t bytes;            /* of memory that all operands take */
} everyday_fill;

/* Describe the fill with its operands one behind the other in `memory`, whose address is a multiple of 256. */
void everyday_describe(const everyday_problem *problem, const void *memory, everyday_fill *fill);

#endif
