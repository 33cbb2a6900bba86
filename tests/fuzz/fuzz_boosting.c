/* libFuzzer target for histograms of nodes: any bytes are a table, features, weights, row lists and places for sums; a
 * fill fails with a sentence and writes nothing, or its counts and sums are those of the rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <histo/histo.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_ROWS = 96, MOST_FEATURES = 9, MOST_BINS = 64, MOST_NODES = 6, MOST_LISTED = 160, MARK = 0x5a };

static void require(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken: %s (%s)\n", what, histo_last_error());
    abort();
}

/* The bytes of the input, and zeros after them. */
typedef struct source {
    const uint8_t *data;
    size_t size, at;
} source;

static uint8_t byte_of(source *s)
{
    return s->at < s->size ? s->data[s->at++] : 0;
}

/* A number up to `most`. */
static int number_of(source *s, int most)
{
    return (byte_of(s) | byte_of(s) << 8) % (most + 1);
}

typedef struct problem {
    int rows, features, weights, listed, nodes, selected_count;
    bool wide, by_columns, has_list, has_selected;
    int32_t bins[MOST_FEATURES], selected[MOST_FEATURES];
    uint16_t table[MOST_ROWS * MOST_FEATURES]; /* of bytes, too */
    float weight[HISTO_MAX_GRADIENTS][MOST_ROWS];
    int64_t list[MOST_LISTED], offsets[MOST_NODES + 1];
} problem;

static void read_problem(source *s, problem *p)
{
    *p = (problem){
        .rows = number_of(s, MOST_ROWS),
        .features = number_of(s, MOST_FEATURES),
        .weights = 1 + number_of(s, HISTO_MAX_GRADIENTS - 1),
        .listed = number_of(s, MOST_LISTED),
        .nodes = 1 + number_of(s, MOST_NODES - 1),
    };
    const uint8_t flags = byte_of(s);
    p->wide = flags & 1;
    p->by_columns = flags & 2;
    p->has_list = flags & 4;
    p->has_selected = flags & 8;
    for (int f = 0; f < p->features; f++)
        p->bins[f] = number_of(s, MOST_BINS);
    for (int i = 0; i < p->rows * p->features; i++)
        if (p->wide)
            p->table[i] = byte_of(s) % MOST_BINS;
        else
            ((uint8_t *)p->table)[i] = byte_of(s) % MOST_BINS;
    for (int w = 0; w < p->weights; w++)
        for (int i = 0; i < p->rows; i++)
            p->weight[w][i] = ldexpf((float)(int8_t)byte_of(s), w * 9);
    for (int i = 0; i < p->listed; i++)
        p->list[i] = number_of(s, MOST_ROWS) - (byte_of(s) == 1);
    const int all = p->has_list ? p->listed : p->rows;
    for (int n = 1; n < p->nodes; n++)
        p->offsets[n] = number_of(s, all);
    p->offsets[p->nodes] = all;
    p->selected_count = p->has_selected ? number_of(s, MOST_FEATURES) : 0;
    for (int i = 0; i < p->selected_count; i++)
        p->selected[i] = number_of(s, MOST_FEATURES) - 1;
}

static int bin_of(const problem *p, int row, int f)
{
    const int at = p->by_columns ? f * p->rows + row : row * p->features + f;
    return p->wide ? p->table[at] : ((const uint8_t *)p->table)[at];
}

static bool is_selected(const problem *p, int f)
{
    bool found = !p->has_selected;
    for (int i = 0; i < p->selected_count; i++)
        found = found || p->selected[i] == f;
    return found;
}

/* Compare what was written for a feature of a node with additions one by one, which are exact in double. */
static void check_feature(const problem *p, int node, int f, const double *written)
{
    for (int bin = 0; bin < p->bins[f]; bin++, written += 1 + p->weights) {
        double expected[1 + HISTO_MAX_GRADIENTS] = {0};
        for (int64_t i = p->offsets[node]; i < p->offsets[node + 1]; i++) {
            const int row = p->has_list ? (int)p->list[i] : (int)i;
            if (bin_of(p, row, f) != bin) continue;
            expected[0]++;
            for (int w = 0; w < p->weights; w++)
                expected[1 + w] += (double)p->weight[w][row];
        }
        for (int k = 0; k <= p->weights; k++) {
            char mark[sizeof *written];
            memset(mark, MARK, sizeof mark);
            if (is_selected(p, f))
                require(written[k] == expected[k], "a sum is that of the rows");
            else
                require(memcmp(&written[k], mark, sizeof mark) == 0, "other features are not written");
        }
    }
}

static void fill(const problem *p, const histo_features *features, const histo_gradients *gradients, int threads)
{
    const int64_t total = histo_features_bins(features);
    const size_t numbers = (size_t)(p->nodes * total * (1 + p->weights));
    double *sums = malloc(numbers * sizeof *sums + 1);
    require(sums, "memory for sums");
    memset(sums, MARK, numbers * sizeof *sums);
    const histo_view list = histo_view_1d(p->list, HISTO_I64, p->listed);
    histo_node_sums to = {
        .counts = sums, .count_dtype = HISTO_F64, .bin_stride = (1 + p->weights) * (int64_t)sizeof *sums};
    for (int w = 0; w < p->weights; w++)
        to.sums[w] = sums + 1 + w;
    const histo_node_options options = {
        .rows = p->has_list ? &list : NULL,
        .offsets = p->offsets,
        .nodes = p->nodes,
        .selected = p->has_selected ? p->selected : NULL,
        .selected_count = p->selected_count,
        .threads = threads,
    };
    const histo_status status = histo_features_fill(features, gradients, &options, &to);
    if (status != HISTO_OK) {
        require(status == HISTO_INVALID && histo_last_error()[0], "a failure has a sentence");
        for (size_t i = 0; i < numbers * sizeof *sums; i++)
            require(((const char *)sums)[i] == MARK, "a failure writes nothing");
    }
    const double *at = sums;
    for (int node = 0; status == HISTO_OK && node < p->nodes; node++)
        for (int f = 0; f < p->features; at += (1 + p->weights) * p->bins[f++])
            check_feature(p, node, f, at);
    free(sums);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static problem p;
    source s = {data, size, 0};
    read_problem(&s, &p);
    const int64_t bytes = p.wide ? 2 : 1;
    const histo_view table = {
        .data = p.table,
        .dtype = p.wide ? HISTO_U16 : HISTO_U8,
        .ndim = 2,
        .shape = {p.rows, p.features},
        .strides = {p.by_columns ? bytes : p.features * bytes, p.by_columns ? p.rows * bytes : bytes},
    };
    histo_view values[HISTO_MAX_GRADIENTS];
    for (int w = 0; w < p.weights; w++)
        values[w] = histo_view_1d(p.weight[w], HISTO_F32, p.rows);
    histo_gradients *gradients;
    require(histo_gradients_create(&gradients, p.rows, p.weights) == HISTO_OK, "gradients of so many rows");
    require(histo_gradients_set(gradients, values, NULL) == HISTO_OK, "gradients are set");
    for (int by_rows = 0; by_rows < 2; by_rows++) {
        histo_features *features;
        if (histo_features_create(&features, &table, p.bins, &(histo_features_options){.by_rows = by_rows}) !=
            HISTO_OK) {
            require(!features && histo_last_error()[0], "a failure has a sentence");
            continue;
        }
        fill(&p, features, gradients, 1 + by_rows);
        fill(&p, features, gradients, 1); /* in the memory of the first */
        histo_features_destroy(features);
    }
    histo_gradients_destroy(gradients);
    return 0;
}
