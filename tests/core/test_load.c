/* Loading: files of other software load, too, and everything that is not a valid file is refused.
 *
 * Linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc, to watch the sizes of allocations. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "counts/hist.h"
#include "counts/saved/bytes.h"
#include "support/saved.h"

/* ---- Watched allocations ---- */

static size_t largest_allocation;

static size_t watch(size_t size)
{
    if (size > largest_allocation) largest_allocation = size;
    return size;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size)
{
    return __real_malloc(watch(size));
}
void *__wrap_calloc(size_t n, size_t size)
{
    watch(n * size);
    return __real_calloc(n, size);
}
void *__wrap_realloc(void *memory, size_t size)
{
    return __real_realloc(memory, watch(size));
}

/* ---- Files of other software ---- */

/* Documents are written here with ' for ". */
static char *quoted(const char *document)
{
    static char text[4096];
    assert_in_range(strlen(document), 0, sizeof text - 1);
    for (size_t i = 0; i <= strlen(document); i++)
        text[i] = (char)(document[i] == '\'' ? '"' : document[i]);
    return text;
}

#define FLOW "'underflow':true,'overflow':true,'circular':false"
#define REGULAR "{'type':'regular','lower':0,'upper':2,'bins':2,'underflow':true,'overflow':true,'circular':false}"
#define NO_FLOW "{'type':'regular','lower':0,'upper':2,'bins':2,'underflow':false,'overflow':false,'circular':false}"
#define HISTOGRAM(axes, storage) "{'uhi_schema':1,'axes':[" axes "],'storage':{" storage "}}"

typedef struct foreign {
    const char *document;
    double values[25]; /* counts, or sums of w, of all slots */
    histo_weighting weighting;
} foreign;

static void test_foreign(void **state)
{
    (void)state;
    static const foreign cases[] = {
        {HISTOGRAM(REGULAR, "'type':'int','values':[1,2,3,4]"), {1, 2, 3, 4, 0}, HISTO_UNWEIGHTED},
        {HISTOGRAM(REGULAR, "'values':[1.0,2e0,3,0.4e1],'type':'int'"), {1, 2, 3, 4, 0}, HISTO_UNWEIGHTED},
        {HISTOGRAM(REGULAR, "'type':'int'"), {0}, HISTO_UNWEIGHTED},
        {HISTOGRAM(REGULAR, "'type':'double'"), {0}, HISTO_UNWEIGHTED},
        {HISTOGRAM(REGULAR, "'type':'weighted'"), {0}, HISTO_WEIGHT_FAST},
        {HISTOGRAM(NO_FLOW, "'type':'int','values':[5,6]"), {0, 5, 6, 0, 0}, HISTO_UNWEIGHTED},
        {HISTOGRAM(REGULAR, "'type':'double','values':[1,2.0,3,-0.0]"), {1, 2, 3, 0, 0}, HISTO_UNWEIGHTED},
        {HISTOGRAM(REGULAR, "'type':'double','values':[1,2.5,3,4]"), {1, 2.5, 3, 4, 0}, HISTO_WEIGHT_FAST_SUM},
        {HISTOGRAM(REGULAR, "'type':'double','values':[1,-2,3,4]"), {1, -2, 3, 4, 0}, HISTO_WEIGHT_FAST_SUM},
        {HISTOGRAM(REGULAR, "'type':'double','values':[1,NaN,Infinity,-Infinity]"),
         {1, (double)NAN, INFINITY, -INFINITY, 0},
         HISTO_WEIGHT_FAST_SUM},
        {HISTOGRAM(REGULAR, "'type':'weighted','values':[1,2,3,4],'variances':[0,0,9,0]"),
         {1, 2, 3, 4, 0},
         HISTO_WEIGHT_FAST},
        {HISTOGRAM("{'type':'boolean'}", "'type':'int','values':[7,8]"), {0, 7, 8, 0, 0}, HISTO_UNWEIGHTED},
        {HISTOGRAM("{'type':'category_int','categories':[-3,-2],'flow':true}", "'type':'int','values':[7,8,9]"),
         {0, 7, 8, 9, 0},
         HISTO_UNWEIGHTED},
        {HISTOGRAM("{'type':'category_str','categories':['b','a'],'flow':true}", "'type':'int','values':[7,8,9]"),
         {0, 7, 8, 9, 0},
         HISTO_UNWEIGHTED},
        {HISTOGRAM("{'type':'variable','edges':[0,1,3],'underflow':false,'overflow':true,'circular':false}",
                   "'type':'int','values':[7,8,9]"),
         {0, 7, 8, 9, 0},
         HISTO_UNWEIGHTED},
        {HISTOGRAM(REGULAR "," NO_FLOW, "'type':'int','values':[[1,2],[3,4],[5,6],[7,8]]"),
         {0, 1, 2, 0, 0, 0, 3, 4, 0, 0, 0, 5, 6, 0, 0, 0, 7, 8},
         HISTO_UNWEIGHTED},
        {HISTOGRAM(REGULAR "," NO_FLOW, "'type':'int','index':[[3,0],[1,0]],'values':[9,8]"),
         {[1] = 8, [17] = 9},
         HISTO_UNWEIGHTED},
        {HISTOGRAM(REGULAR, "'type':'weighted','index':[[2]],'values':[9],'variances':[8]"),
         {0, 0, 9},
         HISTO_WEIGHT_FAST},
        {HISTOGRAM(REGULAR, "'type':'int','index':[[]],'values':[]"), {0}, HISTO_UNWEIGHTED},
        {"{'storage':{'type':'int','values':[1,2,3,4]},'metadata':{'uhi':1},'axes':[" REGULAR "],'uhi_schema':1}",
         {1, 2, 3, 4, 0},
         HISTO_UNWEIGHTED},
        {"{'\\u0068\\ud83d\\udcca':" HISTOGRAM(REGULAR, "'type':'int','values':[1,2,3,4]") "}",
         {1, 2, 3, 4, 0},
         HISTO_UNWEIGHTED},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const char *text = quoted(cases[c].document);
        histo_hist *hist = load_good(text, strlen(text), NULL);
        assert_int_equal(hist->weighting, cases[c].weighting);
        double values[25];
        int64_t slots = histo_hist_size(hist, HISTO_FLOW);
        assert_in_range(slots, 5, 25);
        OK(histo_hist_read_weights(hist, HISTO_FLOW, values, NULL, slots, NULL));
        for (int64_t i = 0; i < slots; i++)
            if (!(values[i] == cases[c].values[i] || (isnan(values[i]) && isnan(cases[c].values[i]))))
                fail_msg("case %zu: slot %d is %g, not %g", c, (int)i, values[i], cases[c].values[i]);
        check_round_trips(hist);
        histo_hist_destroy(hist);
    }
}

static void test_foreign_sums_of_squares(void **state)
{
    (void)state;
    static const char *const documents[] = {
        HISTOGRAM(REGULAR, "'type':'weighted','values':[1,2,3,4],'variances':[5,6.5,7,8]"),
        "{'uhi_schema':1,'axes':[" REGULAR "],'storage':{'type':'double','values':[1,-2.5,3,4]},"
        "'writer_info':{'histo':{'weighting':'fast'}}}", /* of ours */
    };
    static const double expected[][5] = {{5, 6.5, 7, 8, 0}, {1, 2.5, 3, 4, 0}};
    for (int c = 0; c < 2; c++) {
        const char *text = quoted(documents[c]);
        histo_hist *hist = load_good(text, strlen(text), NULL);
        double values[5];
        OK(histo_hist_read_weights(hist, HISTO_FLOW, NULL, values, 5, NULL));
        assert_memory_equal(values, expected[c], sizeof values);
        uint64_t counts[5];
        OK(histo_hist_read_counts(hist, HISTO_FLOW, counts, 5, NULL));
        for (int i = 0; i < 5; i++)
            assert_int_equal(counts[i], 0);
        histo_hist_destroy(hist);
    }
}

/* JSON has no NaN and no infinity: they are null and 1e999, also where we write them. */
static void test_numbers_that_json_has_not(void **state)
{
    (void)state;
    const char *text = quoted(HISTOGRAM("{'type':'variable','edges':[-1e999,0,1e999]," FLOW "}",
                                        "'type':'double','values':[1,null,1e999,-1e999]"));
    histo_hist *hist = load_good(text, strlen(text), NULL);
    for (int again = 0; again < 2; again++) {
        double sums[5];
        OK(histo_hist_read_weights(hist, HISTO_FLOW, sums, NULL, 5, NULL));
        assert_true(sums[0] == 1 && isnan(sums[1]) && sums[2] == INFINITY && sums[3] == -INFINITY);
        const histo_axis axis = histo_hist_axis(hist, 0);
        assert_true(axis.lo == -INFINITY && axis.hi == INFINITY);
        void *data;
        size_t size;
        OK(histo_hist_save(hist, HISTO_JSON, NULL, &data, &size));
        histo_hist_destroy(hist);
        char *saved = calloc(size + 1, 1);
        memcpy(saved, data, size);
        assert_null(strstr(saved, "Infinity"));
        assert_null(strstr(saved, "NaN"));
        free(saved);
        hist = load_good(data, size, NULL);
        histo_free(data);
    }
    histo_hist_destroy(hist);
}

/* Values beside the document are counts or doubles, whatever the storage; without any, all are 0. */
static void test_foreign_outlines(void **state)
{
    (void)state;
    static const uint64_t counts[] = {3, 5};
    static const double whole[] = {3, 5}, half[] = {3, 0.5};
    static const struct {
        const char *document;
        histo_dtype dtype;
        const void *values;
        double expected[2];
        histo_weighting weighting;
    } cases[] = {
        {HISTOGRAM(NO_FLOW, "'type':'int'"), HISTO_U64, counts, {3, 5}, HISTO_UNWEIGHTED},
        {HISTOGRAM(NO_FLOW, "'type':'int'"), HISTO_F64, whole, {3, 5}, HISTO_UNWEIGHTED},
        {HISTOGRAM(NO_FLOW, "'type':'int'"), HISTO_F64, NULL, {0, 0}, HISTO_UNWEIGHTED},
        {HISTOGRAM(NO_FLOW, "'type':'int','values':[3,5]"), HISTO_F64, NULL, {3, 5}, HISTO_UNWEIGHTED},
        {HISTOGRAM(NO_FLOW, "'type':'double'"), HISTO_U64, counts, {3, 5}, HISTO_UNWEIGHTED},
        {HISTOGRAM(NO_FLOW, "'type':'double'"), HISTO_F64, whole, {3, 5}, HISTO_UNWEIGHTED},
        {HISTOGRAM(NO_FLOW, "'type':'double'"), HISTO_F64, half, {3, 0.5}, HISTO_WEIGHT_FAST_SUM},
    };
    histo_hist *hist;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const char *text = quoted(cases[c].document);
        OK(histo_hist_load_outline(text, strlen(text), 2, cases[c].dtype, cases[c].values, NULL, &hist));
        assert_int_equal(histo_hist_weighting(hist), cases[c].weighting);
        double values[2];
        OK(histo_hist_read_weights(hist, HISTO_BINS, values, NULL, 2, NULL));
        assert_memory_equal(values, cases[c].expected, sizeof values);
        histo_hist_destroy(hist);
    }
    const char *text = quoted(HISTOGRAM(NO_FLOW, "'type':'int'"));
    const size_t size = strlen(text);
    REFUSED(HISTO_CORRUPT, "0.5 is not a count", histo_hist_load_outline(text, size, 2, HISTO_F64, half, NULL, &hist));
    REFUSED(HISTO_CORRUPT, "3 values for 2", histo_hist_load_outline(text, size, 3, HISTO_F64, whole, NULL, &hist));
    REFUSED(HISTO_INVALID, "HISTO_F64", histo_hist_load_outline(text, size, 2, HISTO_F32, half, NULL, &hist));
    REFUSED(HISTO_INVALID, "cells is -1", histo_hist_load_outline(text, size, -1, HISTO_F64, half, NULL, &hist));
    REFUSED(HISTO_INVALID, "without", histo_hist_load_outline(text, size, 2, HISTO_F64, NULL, half, &hist));
    text = quoted(HISTOGRAM(NO_FLOW, "'type':'int','values':[3,5]"));
    REFUSED(HISTO_CORRUPT, "of its own", histo_hist_load_outline(text, strlen(text), 2, HISTO_F64, whole, NULL, &hist));
}

static void test_several_histograms(void **state)
{
    (void)state;
    const char *text = quoted("{'a':" HISTOGRAM(REGULAR, "'type':'int','values':[1,2,3,4]") ", 'b':" HISTOGRAM(
        NO_FLOW, "'type':'int','values':[5,6]") ", 'bad':{}}");
    histo_hist *hist = load_good(text, strlen(text), "b");
    assert_int_equal(hist->accumulators.counts[1], 5);
    histo_hist_destroy(hist);
    assert_int_equal(load(text, strlen(text), NULL, &hist), HISTO_INVALID);
    assert_int_equal(load(text, strlen(text), "c", &hist), HISTO_INVALID);
    assert_int_equal(load(text, strlen(text), "bad", &hist), HISTO_CORRUPT);
    text = quoted(HISTOGRAM(REGULAR, "'type':'int'"));
    assert_int_equal(load(text, strlen(text), "a", &hist), HISTO_INVALID);
}

/* ---- Invalid documents ---- */

typedef struct invalid_document {
    const char *document, *sentence;
    histo_status status;
} invalid_document;

#define AXIS(type_and_rest) HISTOGRAM("{" type_and_rest "}", "'type':'int'")
#define STORAGE(storage) HISTOGRAM(REGULAR, storage)
#define WITH_INFO(info)                                                                                                \
    "{'uhi_schema':1,'axes':[" REGULAR "],'storage':{'type':'int','values':[1,2,3,4]},'writer_info':{'histo':{" info   \
    "}}}"
#define SPARSE(storage, rest)                                                                                          \
    "{'uhi_schema':1,'axes':[" REGULAR "],'storage':{" storage "},'writer_info':{'histo':{'storage':'sparse'" rest "}" \
    "}"                                                                                                                \
    "}"
#define CHECKED "'checksum':'a34c1061'," /* of the axis, the counts 1, 2, 3, 3, 1 and 5 masked */

static const invalid_document invalid_documents[] = {
    {"", "empty", HISTO_CORRUPT},
    {"x", "neither", HISTO_CORRUPT},
    {"[]", "neither", HISTO_CORRUPT},
    {"{", "key", HISTO_CORRUPT},
    {"{}", "no histogram", HISTO_CORRUPT},
    {"{'a'}", "colon", HISTO_CORRUPT},
    {"{'a':}", "value", HISTO_CORRUPT},
    {"{'a':1,}", "key", HISTO_CORRUPT},
    {"{'a':[1,]}", "value", HISTO_CORRUPT},
    {"{'a':[1 2]}", "comma", HISTO_CORRUPT},
    {"{'a':[1}", "comma", HISTO_CORRUPT},
    {"{'a':1]", "comma", HISTO_CORRUPT},
    {"{'a':1", "ends", HISTO_CORRUPT},
    {"{'a':'x", "does not end", HISTO_CORRUPT},
    {"{'a':'\\x'}", "escape", HISTO_CORRUPT},
    {"{'a':'\\u12g4'}", "escape", HISTO_CORRUPT},
    {"{'a':'\\ud800'}", "escape", HISTO_CORRUPT},
    {"{'a':'\\ud800\\u0041'}", "escape", HISTO_CORRUPT},
    {"{'a':'\\udc00'}", "escape", HISTO_CORRUPT},
    {"{'a':'\n'}", "0x0a", HISTO_CORRUPT},
    {"{'a':'\xc3'}", "0xc3", HISTO_CORRUPT},
    {"{'a':01}", "value", HISTO_CORRUPT},
    {"{'a':1.}", "value", HISTO_CORRUPT},
    {"{'a':.5}", "value", HISTO_CORRUPT},
    {"{'a':+1}", "value", HISTO_CORRUPT},
    {"{'a':1e}", "value", HISTO_CORRUPT},
    {"{'a':0x10}", "comma", HISTO_CORRUPT},
    {"{'a':tru}", "value", HISTO_CORRUPT},
    {"{'a':Inf}", "value", HISTO_CORRUPT},
    {"{'a':1} x", "follows", HISTO_CORRUPT},
    {"{'a':1}", "object", HISTO_CORRUPT},
    {"{'a':\n\n1}", "line 3", HISTO_CORRUPT},
    {"{'a':{'uhi_schema':1}}", "no \"axes\"", HISTO_CORRUPT},
    {"{'a':{'axes':[],'axes':[]}}", "twice", HISTO_CORRUPT},
    {"{'uhi_schema':1,'uhi_schema':1}", "twice", HISTO_CORRUPT},
    {"{'uhi_schema':2,'axes':[],'storage':{}}", "schema 1", HISTO_UNSUPPORTED},
    {"{'uhi_schema':1,'axes':[],'storage':{'type':'int'}}", "one axis", HISTO_UNSUPPORTED},
    {"{'uhi_schema':1,'axes':{},'storage':{'type':'int'}}", "array", HISTO_CORRUPT},
    {"{'uhi_schema':1,'axes':[5],'storage':{'type':'int'}}", "object", HISTO_CORRUPT},
    {AXIS("'type':'spherical'"), "not a type of axis", HISTO_CORRUPT},
    {AXIS("'type':'category_str','categories':['a',1],'flow':true"), "a string", HISTO_CORRUPT},
    {AXIS("'type':'category_str','categories':'a','flow':true"), "an array", HISTO_CORRUPT},
    {AXIS("'type':'category_str','categories':[],'flow':true"), "one bin", HISTO_CORRUPT},
    {AXIS("'type':'category_int','categories':[1,3],'flow':true"), "consecutive", HISTO_UNSUPPORTED},
    {AXIS("'type':'category_int','categories':[],'flow':true"), "one bin", HISTO_CORRUPT},
    {AXIS("'type':'category_int','categories':[0.5],'flow':true"), "whole", HISTO_CORRUPT},
    {AXIS("'type':'category_int','categories':[1e300],'flow':true"), "2^53", HISTO_UNSUPPORTED},
    {AXIS("'type':'regular','lower':0,'upper':1,'bins':2,'underflow':true,'overflow':true,'circular':true"), "circular",
     HISTO_UNSUPPORTED},
    {AXIS("'type':'regular','lower':0,'upper':1,'bins':2,'underflow':1,'overflow':true,'circular':false"),
     "true or false", HISTO_CORRUPT},
    {AXIS("'type':'regular','lower':0,'upper':1,'bins':2"), "underflow", HISTO_CORRUPT},
    {AXIS("'type':'regular','lower':0,'bins':2," FLOW), "upper", HISTO_CORRUPT},
    {AXIS("'type':'regular','lower':0,'upper':1,'bins':0," FLOW), "one bin", HISTO_CORRUPT},
    {AXIS("'type':'regular','lower':0,'upper':1,'bins':-1," FLOW), "whole number", HISTO_CORRUPT},
    {AXIS("'type':'regular','lower':0,'upper':1,'bins':1.5," FLOW), "whole number", HISTO_CORRUPT},
    {AXIS("'type':'regular','lower':0,'upper':1,'bins':1e9999999999," FLOW), "too large", HISTO_CORRUPT},
    {AXIS("'type':'regular','lower':0,'upper':1,'bins':1e10," FLOW), "at most", HISTO_CORRUPT},
    {AXIS("'type':'regular','lower':0,'upper':1,'bins':1000000000," FLOW), "too many for a file", HISTO_CORRUPT},
    {AXIS("'type':'regular','lower':1,'upper':1,'bins':2," FLOW), "empty", HISTO_CORRUPT},
    {AXIS("'type':'regular','lower':NaN,'upper':1,'bins':2," FLOW), "finite", HISTO_CORRUPT},
    {AXIS("'type':'regular','lower':'0','upper':1,'bins':2," FLOW), "a number", HISTO_CORRUPT},
    {AXIS("'type':'regular','lower':1,'upper':2,'bins':4,'writer_info':{'histo':{'kind':'integer'}}," FLOW),
     "lo + bins", HISTO_CORRUPT},
    {AXIS("'type':'regular','lower':1,'upper':2,'bins':4,'writer_info':{'histo':{'kind':'log'}}," FLOW), "not a kind",
     HISTO_CORRUPT},
    {AXIS("'type':'regular','lower':1,'upper':2,'bins':4,'writer_info':{'histo':5}," FLOW), "object", HISTO_CORRUPT},
    {AXIS("'type':'variable'," FLOW), "edges", HISTO_CORRUPT},
    {AXIS("'type':'variable','edges':'a/path'," FLOW), "an array", HISTO_CORRUPT},
    {AXIS("'type':'variable','edges':[1]," FLOW), "two edges", HISTO_CORRUPT},
    {AXIS("'type':'variable','edges':[2,1]," FLOW), "line 1", HISTO_CORRUPT},
    {AXIS("'type':'variable','edges':[1,3,2,4]," FLOW), "not decrease", HISTO_CORRUPT},
    {AXIS("'type':'variable','edges':[1,NaN]," FLOW), "edge 1 is not a number", HISTO_CORRUPT},
    {AXIS("'type':'variable','edges':[1,[2]]," FLOW), "a number", HISTO_CORRUPT},
    {AXIS("'type':'variable','edges':[0,1],'writer_info':{'histo':{'kind':'log'}}," FLOW), "lo > 0", HISTO_CORRUPT},
    {AXIS("'type':'variable','edges':[0,1],'writer_info':{'histo':{'kind':'power'}}," FLOW), "its power",
     HISTO_CORRUPT},
    {AXIS("'type':'variable','edges':[0,1,3],'writer_info':{'histo':{'kind':'regular'}}," FLOW), "not that of",
     HISTO_CORRUPT},
    {HISTOGRAM(NO_FLOW "," NO_FLOW "," NO_FLOW "," NO_FLOW "," NO_FLOW "," NO_FLOW "," NO_FLOW "," NO_FLOW "," NO_FLOW,
               "'type':'int'"),
     "more than 8 axes", HISTO_UNSUPPORTED},
    {STORAGE("'values':[1,2,3,4]"), "no \"type\"", HISTO_CORRUPT},
    {STORAGE("'type':'sum','values':[1,2,3,4]"), "storage", HISTO_CORRUPT},
    {STORAGE("'type':'mean','values':[1,2,3,4]"), "means", HISTO_UNSUPPORTED},
    {STORAGE("'type':'int','values':'a/path'"), "an array", HISTO_CORRUPT},
    {STORAGE("'type':'int','values':[1,2,3]"), "3 values, not 4", HISTO_CORRUPT},
    {STORAGE("'type':'int','values':[1,2,3,4,5]"), "more than 4", HISTO_CORRUPT},
    {STORAGE("'type':'int','values':[1,2,3,[4]]"), "a number", HISTO_CORRUPT},
    {STORAGE("'type':'int','values':[1,2,3,-4]"), "whole number", HISTO_CORRUPT},
    {STORAGE("'type':'int','values':[1,2,3,18446744073709551616]"), "2^64-1", HISTO_CORRUPT},
    {STORAGE("'type':'int','values':[1,2,3,null]"), "whole number", HISTO_CORRUPT},
    {STORAGE("'type':'double','values':[1,2,3,true]"), "a number", HISTO_CORRUPT},
    {STORAGE("'type':'double','values':[1,2,0.5,1e400]"), "too large", HISTO_CORRUPT},
    {STORAGE("'type':'weighted','values':[1,2,3,4]"), "variances", HISTO_CORRUPT},
    {STORAGE("'type':'weighted','variances':[1,2,3,4]"), "values", HISTO_CORRUPT},
    {STORAGE("'type':'int','index':[[1]]"), "values", HISTO_CORRUPT},
    {STORAGE("'type':'int','index':[[4]],'values':[1]"), "index 4", HISTO_CORRUPT},
    {STORAGE("'type':'int','index':[[-1]],'values':[1]"), "whole number", HISTO_CORRUPT},
    {STORAGE("'type':'int','index':[[1,1]],'values':[1,2]"), "twice", HISTO_CORRUPT},
    {STORAGE("'type':'int','index':{'a':[1]},'values':[1]"), "an array", HISTO_CORRUPT},
    {STORAGE("'type':'int','index':[1],'values':[1]"), "an array", HISTO_CORRUPT},
    {STORAGE("'type':'int','index':[],'values':[]"), "1 rows", HISTO_CORRUPT},
    {STORAGE("'type':'int','index':[[1]],'values':1"), "an array", HISTO_CORRUPT},
    {STORAGE("'type':'int','values':{'a':1,'b':2,'c':3,'d':4}"), "an array", HISTO_CORRUPT},
    {STORAGE("'type':'int','index':[[1]],'values':[1,2]"), "as many", HISTO_CORRUPT},
    {STORAGE("'type':'int','index':[[1,2]],'values':[1]"), "as many", HISTO_CORRUPT},
    {STORAGE("'type':'int','index':[[1],[1]],'values':[1]"), "1 rows", HISTO_CORRUPT},
    {HISTOGRAM(NO_FLOW "," NO_FLOW, "'type':'int','index':[[1,1],[1]],'values':[1,1]"), "differ", HISTO_CORRUPT},
    {WITH_INFO(CHECKED "'weighting':'heavy'"), "not a weighting", HISTO_CORRUPT},
    {WITH_INFO(CHECKED "'weighting':'fast'"), "does not fit", HISTO_CORRUPT},
    {WITH_INFO("'masked':'0:5'"), "no checksum", HISTO_CORRUPT},
    {WITH_INFO("'checksum':'00000000','masked':'0:5'"), "changed the axes or the values", HISTO_CORRUPT},
    {WITH_INFO(CHECKED "'masked':5"), "a list", HISTO_CORRUPT},
    {WITH_INFO(CHECKED "'masked':'1:5'"), "leave", HISTO_CORRUPT},
    {WITH_INFO(CHECKED "'masked':'0:5,6'"), "no value", HISTO_CORRUPT},
    {WITH_INFO(CHECKED "'masked':'0:-5'"), "whole number", HISTO_CORRUPT},
    {WITH_INFO(CHECKED "'masked':'0:'"), "no value", HISTO_CORRUPT},
    {WITH_INFO(CHECKED "'masked':'zero'"), "no value", HISTO_CORRUPT},
    {WITH_INFO(CHECKED "'counts':'4:1 3:1'"), "increase", HISTO_CORRUPT},
    {WITH_INFO(CHECKED "'counts':'99999999999999999999999999:1'"), "leave", HISTO_CORRUPT},
    {WITH_INFO(CHECKED "'sum_w':'4:1'"), "no weights", HISTO_CORRUPT},
    {WITH_INFO("'storage':'sparse'"), "an \"index\"", HISTO_CORRUPT},
    {WITH_INFO("'storage':'thin'"), "not a storage", HISTO_CORRUPT},
    {SPARSE("'type':'double','index':[[1]],'values':[1]", ""), "of type \"int\"", HISTO_CORRUPT},
    {SPARSE("'type':'int','index':[[1,3,1]],'values':[1,2,3]", ""), "a cell twice", HISTO_CORRUPT},
    {SPARSE("'type':'int','index':[[4]],'values':[1]", ""), "index 4", HISTO_CORRUPT},
    {SPARSE("'type':'int','index':[[1]],'values':[-1]", ""), "whole number", HISTO_CORRUPT},
    {SPARSE("'type':'int','index':[[1]],'values':[5]", ",'checksum':'00000000'"), "remove this checksum",
     HISTO_CORRUPT},
    {SPARSE("'type':'int','index':[[1]],'values':[5]", ",'counts':'4:1'"), "no checksum", HISTO_CORRUPT},
    {SPARSE("'type':'int'", ",'checksum':'00000000','counts':'5:1'"), "leave", HISTO_CORRUPT},
    {SPARSE("'type':'int'", ",'weighting':'fast'"), "does not fit", HISTO_CORRUPT},
};

static void check_invalid(const void *data, size_t size, histo_status status, const char *sentence)
{
    static int nothing;
    histo_hist *hist = (histo_hist *)(void *)&nothing;
    histo_status got = load(data, size, NULL, &hist);
    if (got != status || !strstr(histo_last_error(), sentence))
        fail_msg("%.*s: status %d, \"%s\" without \"%s\"", (int)size, (const char *)data, (int)got, histo_last_error(),
                 sentence);
    assert_null(hist);
    assert_null(strchr(histo_last_error(), '\n'));
}

/* The checksum that the histogram is saved with. */
static void check_checksum(const histo_hist *hist, const char *expected)
{
    void *data;
    size_t size;
    OK(histo_hist_save(hist, HISTO_JSON, NULL, &data, &size));
    char *text = strndup(data, size);
    const char *checksum = strstr(text, "\"checksum\": \"");
    assert_non_null(checksum);
    assert_memory_equal(checksum + strlen("\"checksum\": \""), expected, strlen(expected));
    free(text);
    histo_free(data);
}

static void test_invalid_documents(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof invalid_documents / sizeof *invalid_documents; i++) {
        const char *text = quoted(invalid_documents[i].document);
        check_invalid(text, strlen(text), invalid_documents[i].status, invalid_documents[i].sentence);
    }
    /* The lists above with a correct checksum. */
    const char *text = quoted(WITH_INFO(CHECKED "'counts':'3:3,1','masked':'0:5'"));
    histo_hist *hist = load_good(text, strlen(text), NULL);
    assert_int_equal(hist->accumulators.counts[3], 3);
    assert_int_equal(hist->accumulators.counts[4], 1);
    assert_int_equal(hist->accumulators.masked[0], 5);
    check_checksum(hist, "a34c1061");
    histo_hist_destroy(hist);
    /* Sparse counts in any order, refined by our list; zeros are not kept. */
    text = quoted(SPARSE("'type':'int','index':[[3,0,1]],'values':[2,9,0]", ""));
    hist = load_good(text, strlen(text), NULL);
    histo_list all = histo_sparse_all(hist->accumulators.sparse);
    assert_int_equal(all.n, 2);
    assert_true(all.entries[0].slot == 0 && all.entries[0].count == 9);
    assert_true(all.entries[1].slot == 3 && all.entries[1].count == 2);
    histo_hist_destroy(hist);
    text = quoted(SPARSE("'type':'int'", ",'checksum':'c2730482','counts':'1:0 4:7'"));
    hist = load_good(text, strlen(text), NULL);
    all = histo_sparse_all(hist->accumulators.sparse);
    assert_true(all.n == 1 && all.entries[0].slot == 4 && all.entries[0].count == 7);
    check_checksum(hist, "c2730482");
    histo_hist_destroy(hist);
}

/* Another digit anywhere in JSON, but for the version of the writer: of edges, values and lists. */
static void test_digits(void **state)
{
    (void)state;
    const double edges[] = {0.25, 1.5, 70, 1e30};
    const histo_axis axes[] = {histo_axis_variable(3, edges), histo_axis_closed(histo_axis_regular(3, -1.5, 22)),
                               histo_axis_integer(-3, 5), histo_axis_log(4, 0.5, 8)};
    const double x[] = {NAN, -5, 0.5, 1, 2, 3, 71, INFINITY};
    for (size_t a = 0; a < sizeof axes / sizeof *axes; a++) {
        histo_hist *hist, *loaded;
        assert_int_equal(histo_hist_create(&hist, 1, &axes[a], NULL), HISTO_OK);
        const histo_view view = histo_view_1d(x, HISTO_F64, 8);
        assert_int_equal(histo_hist_fill(hist, &view, NULL), HISTO_OK);
        size_t size, again_size;
        unsigned char *saved = save(hist, HISTO_JSON, &size);
        char *text = malloc(size + 1);
        assert_non_null(text);
        memcpy(text, saved, size);
        text[size] = '\0';
        const char *version = strstr(text, "\"version\""), *behind = strchr(version, ',');
        for (char *at = strchr(text, '['); *at; at++) {
            if (*at < '0' || *at > '9' || (at > version && at < behind)) continue;
            const char before = *at;
            *at = before == '9' ? '8' : (char)(before + 1);
            if (load(text, size, NULL, &loaded) == HISTO_OK) { /* the last of 17 digits may not matter */
                unsigned char *again = save(loaded, HISTO_JSON, &again_size);
                if (again_size != size || memcmp(again, saved, size) != 0)
                    fail_msg("another digit is not noticed: %s", text);
                histo_free(again);
                histo_hist_destroy(loaded);
            }
            *at = before;
        }
        assert_int_equal(load(text, size, NULL, &loaded), HISTO_OK);
        histo_hist_destroy(loaded);
        free(text);
        histo_free(saved);
        histo_hist_destroy(hist);
    }
}

/* Every truncation of a file is detected, and every bit flip in a binary one. */
static void test_damage(void **state)
{
    (void)state;
    histo_hist *hist = small_histogram(HISTO_WEIGHT_REPRODUCIBLE), *loaded;
    size_t size;
    unsigned char *data = save(hist, HISTO_JSON, &size);
    for (size_t cut = 0; cut + 2 < size; cut++)
        assert_int_equal(load(data, cut, NULL, &loaded), HISTO_CORRUPT);
    histo_free(data);
    data = save(hist, HISTO_BINARY, &size);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(load(data, cut, NULL, &loaded), HISTO_CORRUPT);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_int_equal(load(data, size, NULL, &loaded), HISTO_CORRUPT);
        data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    histo_free(data);
    histo_hist_destroy(hist);
}

static void reseal(unsigned char *data, size_t size)
{
    uint32_t crc = histo_checksum_add(0, data, size - 4);
    for (int i = 0; i < 4; i++)
        data[size - 4 + (size_t)i] = (unsigned char)(crc >> 8 * i);
}

/* A binary file with a correct checksum: a header, an axis given by edges or by the range [1, 3), and the rest. */
typedef struct forgery {
    const char *sentence; /* NULL: it loads */
    int version, weighting, naxes, kind, closed, stored;
    uint64_t bins;
    const char *rest;
    size_t rest_size;
} forgery;

static void check_forgery(const forgery *f)
{
    histo_bytes file = {0};
    histo_bytes_put(&file, "\x93HISTO\r\n", 8);
    histo_bytes_put_le(&file, (uint64_t)f->version, 4);
    histo_bytes_put_le(&file, (uint64_t)f->weighting, 1);
    histo_bytes_put_le(&file, (uint64_t)f->naxes, 1);
    histo_bytes_put_le(&file, 1, 8);
    histo_bytes_put_le(&file, (uint64_t)f->kind, 1);
    histo_bytes_put_le(&file, (uint64_t)f->closed, 1);
    histo_bytes_put_le(&file, (uint64_t)f->stored, 1);
    histo_bytes_put_le(&file, f->bins, 8);
    histo_bytes_put_le(&file, 0, 8);
    static const double edges[] = {1, 2, 3};
    for (int i = 0; i < 3; i++)
        if (f->stored || i != 1) {
            uint64_t bits;
            memcpy(&bits, &edges[i], sizeof bits);
            histo_bytes_put_le(&file, bits, 8);
        }
    histo_bytes_put(&file, f->rest, f->rest_size);
    histo_bytes_put_le(&file, 0, 4);
    assert_false(file.failed);
    reseal(file.data, file.size);
    if (f->sentence)
        check_invalid(file.data, file.size, f->version >= 1 && f->version <= 4 ? HISTO_CORRUPT : HISTO_UNSUPPORTED,
                      f->sentence);
    else
        histo_hist_destroy(load_good(file.data, file.size, NULL));
    histo_free(file.data);
}

static void test_forged_binary(void **state)
{
    (void)state;
    enum { V = HISTO_VARIABLE, R = HISTO_REGULAR };
#define REST(bytes) bytes, sizeof bytes - 1
#define NONE "\0\0\0\0\0\0\0\0\0" /* windows: none */
#define EMPTY "\0"                /* a block */
#define TWO "\2\0\0\0\0\0\0\0"    /* occupied slots */
    static const forgery forgeries[] = {
        {NULL, 1, 0, 1, V, 1, 1, 2, REST(EMPTY "\1\1\2\3\4\5")},
        {NULL, 1, 0, 1, R, 0, 0, 2, REST(EMPTY "\x81\2\0\1\0\7\4\0\7")},
        {NULL, 1, 2, 1, V, 0, 1, 2,
         REST("\1\0\0\0\0\0\0\0\x20" NONE EMPTY EMPTY "\x82\1\0\0\0\0\x80"
              "\1\0\1\2\4\7")},
        {NULL, 2, 0, 1, V, 1, 1, 2, REST(EMPTY TWO "\1\1\4\1\7\7")},
        {NULL, 2, 0, 1, V, 1, 1, 2, REST(EMPTY "\0\0\0\0\0\0\0\0")},
        {"do not rise", 2, 0, 1, V, 1, 1, 2, REST(EMPTY TWO "\1\1\5\1\7\7")},
        {"do not rise", 2, 0, 1, V, 1, 1, 2, REST(EMPTY TWO "\1\1\0\1\7\7")},
        {"too large", 2, 0, 1, V, 1, 1, 2, REST(EMPTY TWO "\1\1\6\1\7\7")},
        {"has no count", 2, 0, 1, V, 1, 1, 2, REST(EMPTY TWO "\1\1\4\1\7\0")},
        {"bytes follow", 2, 0, 1, V, 1, 1, 2, REST(EMPTY TWO "\1\1\4\1\7\7\7")},
        {"number of occupied slots is 9", 2, 0, 1, V, 1, 1, 2, REST(EMPTY "\11\0\0\0\0\0\0\0\0\0\0")},
        {"sparse histograms have none", 2, 1, 1, V, 1, 1, 2, REST("")},
        {NULL, 3, 0, 1, V, 1, 1, 2, REST("\1\0\0\0x\2\0\0\0{}" EMPTY "\1\1\2\3\4\5")},
        {NULL, 3, 0, 1, V, 1, 1, 2, REST("\0\0\0\0\0\0\0\0" EMPTY "\1\1\2\3\4\5")},
        {NULL, 4, 0, 1, V, 1, 1, 2, REST("\1\0\0\0x\0\0\0\0" EMPTY TWO "\1\1\4\1\7\7")},
        {"length of a text is 1025", 3, 0, 1, V, 1, 1, 2, REST("\1\4\0\0x")},
        {"length of a text is 2147483648", 3, 0, 1, V, 1, 1, 2, REST("\0\0\0\0\0\0\0\x80{}")},
        {"within a text of 1073741824 bytes", 3, 0, 1, V, 1, 1, 2, REST("\0\0\0\0\0\0\0\x40{}")},
        {"text has a NUL", 3, 0, 1, V, 1, 1, 2, REST("\2\0\0\0x\0\0\0\0\0" EMPTY "\1\1\2\3\4\5")},
        {"name is not UTF-8", 3, 0, 1, V, 1, 1, 2, REST("\1\0\0\0\xff\0\0\0\0" EMPTY "\1\1\2\3\4\5")},
        {"not the text of a JSON object", 3, 0, 1, V, 1, 1, 2, REST("\0\0\0\0\2\0\0\0[]" EMPTY "\1\1\2\3\4\5")},
        {"format version 5", 5, 0, 1, V, 0, 1, 2, REST("")},
        {"format version 0", 0, 0, 1, V, 0, 1, 2, REST("")},
        {"weighting is 5", 1, 5, 1, V, 0, 1, 2, REST("")},
        {"no axes", 1, 0, 0, V, 0, 1, 2, REST("")},
        {"number of axes is 9", 1, 0, 9, V, 0, 1, 2, REST("")},
        {"kind of an axis is ", 1, 0, 1, HISTO_AXIS_KIND_COUNT, 0, 1, 2, REST("")},
        {"closed flag of an axis is 2", 1, 0, 1, V, 2, 1, 2, REST("")},
        {"edges flag of an axis is 4", 1, 0, 1, V, 0, 4, 2, REST("")},
        {"has integer edges", 1, 0, 1, R, 0, 2, 2, REST("")},
        {"bins of an axis is 1073741825", 1, 0, 1, V, 0, 1, (1 << 30) + 1, REST("")},
        {"within the 1001 edges", 1, 0, 1, V, 0, 1, 1000, REST("")},
        {"within the 1001 edges", 1, 0, 1, V, 0, 3, 1000, REST("")},
        {"one bin", 1, 0, 1, R, 0, 0, 0, REST(EMPTY EMPTY)},
        {"where a formula gives them", 1, 0, 1, R, 0, 1, 2, REST(EMPTY EMPTY)},
        {"where they are needed", 1, 0, 1, HISTO_LOG, 0, 0, 2, REST(EMPTY EMPTY)},
        {"where they are needed", 1, 0, 1, HISTO_LOG, 0, 0, 1 << 30, REST(EMPTY EMPTY)},
        {"needs its edges", 1, 0, 1, V, 0, 0, 2, REST(EMPTY EMPTY)},
        {"too early", 1, 0, 1, V, 0, 1, 2, REST("")},
        {"should follow", 1, 0, 1, V, 0, 1, 2, REST(EMPTY)},
        {"ends within a block", 1, 0, 1, V, 0, 1, 2, REST(EMPTY "\1\1\2\3\4")},
        {"1 bytes follow", 1, 0, 1, V, 0, 1, 2, REST(EMPTY "\1\1\2\3\4\5\0")},
        {"not a width", 1, 0, 1, V, 0, 1, 2, REST(EMPTY "\x09")},
        {"not a width", 1, 0, 1, V, 0, 1, 2, REST(EMPTY "\x80\0\0")},
        {"in a block is 6", 1, 0, 1, V, 0, 1, 2, REST(EMPTY "\x81\6\0")},
        {"leave it", 1, 0, 1, V, 0, 1, 2, REST(EMPTY "\x81\1\0\5\0\7")},
        {"do not increase", 1, 0, 1, V, 0, 1, 2, REST(EMPTY "\x81\2\0\1\0\7\1\0\7")},
        {"within the windows", 1, 2, 1, V, 0, 1, 2, REST(NONE "\0")},
        {"too early", 1, 2, 1, V, 0, 1, 2, REST("\xff\0\0\0\0\0\0\0\0" NONE EMPTY EMPTY)},
        {"lower bits", 1, 2, 1, V, 0, 1, 2, REST("\1\0\0\0\0\0\0\0\0" NONE EMPTY EMPTY "\1\0\0\0\2\0")},
        {"too large", 1, 2, 1, V, 0, 1, 2, REST("\2\0\0\0\0\0\0\0\0" NONE EMPTY EMPTY "\x85\1\0\0\0\0\0\0\0\1")},
        {"too large", 1, 2, 1, V, 0, 1, 2, REST("\0\0\0\0\0\0\0\0\x20" NONE EMPTY EMPTY "\1\0\0\0\0\x08")},
    };
    for (size_t i = 0; i < sizeof forgeries / sizeof *forgeries; i++)
        check_forgery(&forgeries[i]);
}

/* A regular axis so narrow that its edges are stored loads only with exactly these. */
static void test_edges_of_no_formula(void **state)
{
    (void)state;
    enum { FIRST_EDGE = 8 + 4 + 1 + 1 + 8 + 1 + 1 + 1 + 8 + 8 };
    histo_axis axis = histo_axis_regular(2, 1, 1 + 0x1p-50);
    histo_hist *hist;
    OK(histo_hist_create(&hist, 1, &axis, NULL));
    check_round_trips(hist);
    size_t size;
    unsigned char *data = save(hist, HISTO_BINARY, &size);
    double middle;
    memcpy(&middle, data + FIRST_EDGE + sizeof middle, sizeof middle);
    assert_true(middle == 1 + 0x1p-51);
    middle = 1 + 0x1p-52;
    memcpy(data + FIRST_EDGE + sizeof middle, &middle, sizeof middle);
    reseal(data, size);
    check_invalid(data, size, HISTO_CORRUPT, "edge 1 is not that of an axis of this kind");
    histo_free(data);
    histo_hist_destroy(hist);
}

static void test_checksum(void **state)
{
    (void)state;
    assert_int_equal(histo_checksum_add(0, "123456789", 9), 0xe3069283);
    assert_int_equal(histo_checksum_add(histo_checksum_add(0, "1234", 4), "56789", 5), 0xe3069283);
    assert_int_equal(histo_checksum_add_u64(0, UINT64_C(0x3837363534333231)), histo_checksum_add(0, "12345678", 8));
}

/* Every byte of a file with a correct checksum takes every value. */
static void test_forged_bytes(void **state)
{
    (void)state;
    for (int weighting = HISTO_UNWEIGHTED; weighting <= HISTO_WEIGHT_REPRODUCIBLE_SUM; weighting++) {
        histo_hist *hist = small_histogram((histo_weighting)weighting), *loaded;
        size_t size;
        unsigned char *data = save(hist, HISTO_BINARY, &size);
        largest_allocation = 0;
        int refused = 0;
        for (size_t at = 0; at + 4 < size; at++) {
            unsigned char before = data[at];
            for (int value = 0; value < 256; value++) {
                data[at] = (unsigned char)value;
                reseal(data, size);
                histo_status status = load(data, size, NULL, &loaded);
                if (status == HISTO_OK)
                    histo_hist_destroy(loaded);
                else
                    assert_true(status == HISTO_CORRUPT || status == HISTO_UNSUPPORTED);
                refused += status != HISTO_OK;
            }
            data[at] = before;
        }
        assert_in_range(refused, 256 * 20, 256 * size);
        assert_in_range(largest_allocation, size, 8 * 1024 * size);
        histo_free(data);
        histo_hist_destroy(hist);
    }
}

/* Small files that ask for much memory. */
static void test_small_files_allocate_little(void **state)
{
    (void)state;
    histo_axis axis = histo_axis_integer(0, 4);
    histo_hist *hist, *loaded;
    OK(histo_hist_create(&hist, 1, &axis, NULL));
    size_t size;
    unsigned char *data = save(hist, HISTO_BINARY, &size);
    histo_hist_destroy(hist);
    enum { BATCH_AT = 14, BINS_AT = 25, HI_AT = 49 };
    assert_int_equal(data[BATCH_AT], 1);
    assert_int_equal(data[BINS_AT], 4);
    double hi;
    memcpy(&hi, data + HI_AT, sizeof hi);
    assert_true(hi == 4);
    largest_allocation = 0;
    for (int exponent = 12; exponent < 63; exponent++) {
        uint64_t bins = UINT64_C(1) << exponent, batch = 1;
        hi = (double)bins;
        memcpy(data + BINS_AT, &bins, sizeof bins);
        memcpy(data + HI_AT, &hi, sizeof hi);
        reseal(data, size);
        assert_int_equal(load(data, size, NULL, &loaded), HISTO_CORRUPT);
        bins = 4;
        hi = 4;
        batch = UINT64_C(1) << exponent;
        memcpy(data + BINS_AT, &bins, sizeof bins);
        memcpy(data + HI_AT, &hi, sizeof hi);
        memcpy(data + BATCH_AT, &batch, sizeof batch);
        reseal(data, size);
        assert_int_equal(load(data, size, NULL, &loaded), HISTO_CORRUPT);
        batch = 1;
        memcpy(data + BATCH_AT, &batch, sizeof batch);
    }
    histo_free(data);

    static char bomb[100000];
    memset(bomb, '[', sizeof bomb);
    memcpy(bomb, "{\"a\":", 5);
    check_invalid(bomb, sizeof bomb, HISTO_CORRUPT, "nested deeper");
    for (size_t i = 0; i < sizeof invalid_documents / sizeof *invalid_documents; i++) {
        const char *text = quoted(invalid_documents[i].document);
        load(text, strlen(text), NULL, &loaded);
    }
    assert_in_range(largest_allocation, 1, 1 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_foreign_sums_of_squares),
        cmocka_unit_test(test_foreign_outlines),
        cmocka_unit_test(test_several_histograms),
        cmocka_unit_test(test_numbers_that_json_has_not),
        cmocka_unit_test(test_invalid_documents),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_checksum),
        cmocka_unit_test(test_digits),
        cmocka_unit_test(test_forged_binary),
        cmocka_unit_test(test_edges_of_no_formula),
        cmocka_unit_test(test_forged_bytes),
        cmocka_unit_test(test_small_files_allocate_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
