/* histo_node_sums_subtract: nodes less one of their children, compared to the bit with the fill of the other ones. */
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/data.h"

enum { ROWS = 700, FEATURES = 5, BINS = 40, TOTAL = FEATURES * BINS, NODES = 3, MARK = 0x5a };

typedef struct tree {
    uint8_t table[ROWS][FEATURES];
    float g[ROWS], h[ROWS];
    uint32_t parents[ROWS], left[ROWS], right[ROWS];
    int64_t of_parents[NODES + 1], of_left[NODES + 1], of_right[NODES + 1];
    histo_features *features;
    histo_gradients *gradients;
} tree;

/* Rows in random nodes, each of which has two children, of no rows perhaps. */
static void make_tree(rng *r, tree *t)
{
    int64_t all = 0, left = 0, right = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int f = 0; f < FEATURES; f++)
            t->table[i][f] = (uint8_t)rng_below(r, BINS);
        t->g[i] = (float)rng_uniform(r) - 0.5f;
        t->h[i] = (float)rng_uniform(r);
    }
    for (int s = 0; s < NODES; s++) {
        t->of_parents[s] = all;
        t->of_left[s] = left;
        t->of_right[s] = right;
        for (uint32_t i = (uint32_t)s; i < ROWS; i += NODES) {
            t->parents[all++] = i;
            if (s && rng_below(r, 3))
                t->left[left++] = i;
            else
                t->right[right++] = i;
        }
    }
    t->of_parents[NODES] = all;
    t->of_left[NODES] = left;
    t->of_right[NODES] = right;
    const histo_view table = histo_view_nd(t->table, HISTO_U8, 2, (const int64_t[]){ROWS, FEATURES});
    const histo_view values[] = {histo_view_1d(t->g, HISTO_F32, ROWS), histo_view_1d(t->h, HISTO_F32, ROWS)};
    OK(histo_features_create(&t->features, &table, (const int32_t[]){BINS, BINS, BINS, BINS, BINS}, NULL));
    OK(histo_gradients_create(&t->gradients, ROWS, 2));
    OK(histo_gradients_set(t->gradients, values, NULL));
}

static void free_tree(tree *t)
{
    histo_gradients_destroy(t->gradients);
    histo_features_destroy(t->features);
}

static void fill(const tree *t, const uint32_t *rows, const int64_t *offsets, const histo_node_sums *to)
{
    const histo_view list = histo_view_1d(rows, HISTO_U32, offsets[NODES]);
    OK(histo_features_fill(t->features, t->gradients,
                           &(histo_node_options){.rows = &list, .offsets = offsets, .nodes = NODES}, to));
}

/* Structs with a byte between, or arrays, of these dtypes. */
static histo_node_sums sums_in(char *memory, bool structs, histo_dtype sum, histo_dtype count)
{
    const int64_t apart = structs ? 8 : 8 * NODES * TOTAL;
    return (histo_node_sums){
        .sums = {memory, memory + apart},
        .counts = memory + 2 * apart,
        .sum_dtype = sum,
        .count_dtype = count,
        .bin_stride = structs ? 25 : 0,
        .node_stride = structs ? 25 * TOTAL + 3 : 0,
    };
}

static void test_other_children(void **state)
{
    (void)state;
    static const histo_dtype sums[] = {HISTO_F64, HISTO_I64}, counts[] = {HISTO_U32, HISTO_U64, HISTO_F64};
    enum { BYTES = 26 * NODES * (TOTAL + 1) };
    static tree t;
    rng r = {.state = 7};
    char *memory[3];
    make_tree(&r, &t);
    for (int i = 0; i < 3; i++)
        memory[i] = malloc(BYTES);
    for (int structs = 0; structs < 2; structs++)
        for (int s = 0; s < 2; s++)
            for (int c = 0; c < 3; c++) {
                histo_node_sums at[3];
                for (int i = 0; i < 3; i++) {
                    memset(memory[i], MARK, BYTES);
                    at[i] = sums_in(memory[i], structs, sums[s], counts[c]);
                }
                fill(&t, t.parents, t.of_parents, &at[0]);
                fill(&t, t.left, t.of_left, &at[1]);
                fill(&t, t.right, t.of_right, &at[2]);
                OK(histo_node_sums_subtract(&at[0], &at[1], NODES, TOTAL));
                assert_memory_equal(memory[0], memory[2], BYTES);
            }
    for (int i = 0; i < 3; i++)
        free(memory[i]);
    free_tree(&t);
}

static void test_refused(void **state)
{
    (void)state;
    double g[2] = {1, 2}, less_g[2] = {0.5, 1};
    uint32_t n[2] = {5, 6}, less_n[2] = {5, 7};
    double real[2] = {1, NAN};
    const histo_node_sums parent = {.sums = {g}, .counts = n}, child = {.sums = {less_g}, .counts = less_n};
    REFUSED(HISTO_INVALID, "child has more rows than parent in bin 1 of node 0",
            histo_node_sums_subtract(&parent, &child, 1, 2));
    REFUSED(HISTO_INVALID, "in bin 0 of node 1", histo_node_sums_subtract(&parent, &child, 2, 1));
    REFUSED(HISTO_INVALID, "parent is NULL", histo_node_sums_subtract(NULL, &child, 1, 2));
    REFUSED(HISTO_INVALID, "child is NULL", histo_node_sums_subtract(&parent, NULL, 1, 2));
    REFUSED(HISTO_INVALID, "nodes is -1", histo_node_sums_subtract(&parent, &child, -1, 2));
    REFUSED(HISTO_INVALID, "bins is -2", histo_node_sums_subtract(&parent, &child, 1, -2));
    histo_node_sums other = child;
    other.counts = NULL;
    REFUSED(HISTO_INVALID, "counts is NULL in child and not in parent",
            histo_node_sums_subtract(&parent, &other, 1, 2));
    other = child;
    other.sums[3] = g;
    REFUSED(HISTO_INVALID, "sums[3] is NULL in parent and not in child",
            histo_node_sums_subtract(&parent, &other, 1, 2));
    other = child;
    other.sum_dtype = HISTO_I64;
    REFUSED(HISTO_INVALID, "different dtypes", histo_node_sums_subtract(&parent, &other, 1, 2));
    other.sum_dtype = HISTO_F32;
    REFUSED(HISTO_INVALID, "sum_dtype", histo_node_sums_subtract(&parent, &other, 1, 2));
    other = child;
    other.first = (const int64_t[]){0};
    REFUSED(HISTO_INVALID, "first is not NULL", histo_node_sums_subtract(&parent, &other, 1, 2));
    other = child;
    other.reserved[0] = 1;
    REFUSED(HISTO_INVALID, "histo_node_sums", histo_node_sums_subtract(&parent, &other, 1, 2));
    const histo_node_sums numbers = {.counts = real, .count_dtype = HISTO_F64};
    REFUSED(HISTO_INVALID, "in bin 1 of node 0", histo_node_sums_subtract(&numbers, &numbers, 1, 2));
    assert_true(g[0] == 1 && g[1] == 2 && n[0] == 5 && n[1] == 6);
    OK(histo_node_sums_subtract(&parent, &child, 1, 1));
    assert_true(g[0] == 0.5 && g[1] == 2 && n[0] == 0 && n[1] == 6);
    OK(histo_node_sums_subtract(&parent, &child, 0, 2));
    assert_int_equal(n[1], 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_children),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
