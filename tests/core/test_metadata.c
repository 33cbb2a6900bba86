/* Names and metadata of histograms: what may be one, what keeps them, and that files give back the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/saved.h"

static const char *const names[] = {"x", "energy of \"jets\"\\", "größe µ 𝄞", "line\nbreak\t\x01", "histogram"};
static const char *const metadata[] = {
    "{}", " {\"a\": 1, \"b\": [true, null, {\"c\": \"\\u00e9\"}]}\n",
    "{\"metadata\": {\"uhi_schema\": 1}, \"axes\": [ ], \"writer_info\": {\"histo\": 0}}",
    "{\"x\": NaN, \"y\": -Infinity, \"\": \"µ\"}"};
enum { NAMES = sizeof names / sizeof *names, METADATA = sizeof metadata / sizeof *metadata };

static void assert_texts(const histo_hist *h, const char *name, const char *json)
{
    const char *of[] = {histo_hist_name(h), histo_hist_metadata(h)}, *expected[] = {name, json};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(!of[i], !expected[i]);
        if (of[i]) assert_string_equal(of[i], expected[i]);
    }
}

static histo_hist *make(histo_storage storage, const char *name, const char *json)
{
    const histo_axis axes[] = {histo_axis_integer(0, 4), histo_axis_regular(2, 0, 1)};
    const uint8_t x[] = {1, 3, 9};
    const float y[] = {0.1F, 0.7F, 0.9F};
    const histo_view views[] = {histo_view_1d(x, HISTO_U8, 3), histo_view_1d(y, HISTO_F32, 3)};
    histo_hist *h;
    OK(histo_hist_create(&h, 2, axes, &(histo_hist_options){.storage = storage}));
    assert_texts(h, NULL, NULL);
    OK(histo_hist_fill(h, views, NULL));
    OK(histo_hist_set_name(h, name));
    OK(histo_hist_set_metadata(h, json));
    assert_texts(h, name, json);
    return h;
}

/* Metadata are saved as they are, but for space around them, which JSON does not keep. */
static const char *trimmed(const char *json, char *to)
{
    if (!json) return NULL;
    json += strspn(json, " ");
    const size_t size = (size_t)(strrchr(json, '}') - json) + 1;
    memcpy(to, json, size);
    to[size] = '\0';
    return to;
}

static void files(void **state)
{
    (void)state;
    for (int format = HISTO_JSON; format <= HISTO_BINARY; format++)
        for (int storage = HISTO_DENSE; storage <= HISTO_SPARSE; storage++)
            for (int n = -1; n < NAMES; n++)
                for (int m = -1; m < METADATA; m++) {
                    const char *name = n < 0 ? NULL : names[n], *json = m < 0 ? NULL : metadata[m];
                    histo_hist *h = make((histo_storage)storage, name, json), *back;
                    size_t size;
                    void *data = save(h, (histo_format)format, &size);
                    back = load_good(data, size, NULL);
                    char room[200];
                    assert_texts(back, name, format == HISTO_JSON ? trimmed(json, room) : json);
                    bool equal;
                    OK(histo_hist_equal(h, back, &equal));
                    assert_true(equal);
                    histo_hist_destroy(back);
                    if (format == HISTO_JSON) {
                        back = load_good(data, size, name ? name : "histogram");
                        assert_texts(back, name, trimmed(json, room));
                        histo_hist_destroy(back);
                    }
                    histo_free(data);
                    histo_hist_destroy(h);
                }
}

/* A name that is given for one file is that of what is loaded. */
static void other_key(void **state)
{
    (void)state;
    histo_hist *h = make(HISTO_DENSE, "own", "{\"a\": 1}"), *back;
    void *data;
    size_t size;
    OK(histo_hist_save(h, HISTO_JSON, "other", &data, &size));
    back = load_good(data, size, "other");
    assert_texts(back, "other", "{\"a\": 1}");
    histo_free(data);
    histo_hist_destroy(back);
    OK(histo_hist_save(h, HISTO_JSON, "histogram", &data, &size));
    back = load_good(data, size, NULL);
    assert_texts(back, NULL, "{\"a\": 1}");
    histo_free(data);
    histo_hist_destroy(back);
    histo_hist_destroy(h);
}

static void kept(void **state)
{
    (void)state;
    for (int storage = HISTO_DENSE; storage <= HISTO_SPARSE; storage++) {
        histo_hist *h = make((histo_storage)storage, "h", "{\"a\": 1}"),
                   *other = make((histo_storage)storage, "other", NULL), *made[5];
        OK(histo_hist_clone(h, &made[0]));
        OK(histo_hist_project(h, 1, (int[]){1}, &made[1]));
        OK(histo_hist_rebin(h, 0, 2, &made[2]));
        OK(histo_hist_slice(h, 0, 1, 2, &made[3]));
        const histo_axis axis = histo_axis_integer(0, 4);
        OK(histo_hist_regroup(h, &(histo_regrouping){.naxes = 1, .axes = &axis, .targets = {0, -1}, .entry = -1},
                              &made[4]));
        for (int i = 0; i < 5; i++) {
            assert_texts(made[i], "h", "{\"a\": 1}");
            histo_hist_destroy(made[i]);
        }
        OK(histo_hist_merge(h, other));
        OK(histo_hist_subtract(h, other));
        assert_texts(h, "h", "{\"a\": 1}");
        bool equal = false;
        OK(histo_hist_equal(h, other, &equal));
        assert_true(equal);
        OK(histo_hist_scale(h, 2));
        OK(histo_hist_reset(h, NULL));
        assert_texts(h, "h", "{\"a\": 1}");
        histo_hist_swap(h, other);
        assert_texts(h, "other", NULL);
        assert_texts(other, "h", "{\"a\": 1}");
        OK(histo_hist_set_name(other, histo_hist_name(other))); /* its own */
        assert_texts(other, "h", "{\"a\": 1}");
        histo_hist_destroy(h);
        histo_hist_destroy(other);
    }
}

static char *nested(int depth, const char *inside)
{
    char *text = malloc((size_t)depth * 6 + strlen(inside) + 1), *at = text;
    for (int i = 0; i < depth; i++)
        at += strlen(strcpy(at, "{\"a\":"));
    at += strlen(strcpy(at, inside));
    memset(at, '}', (size_t)depth);
    at[depth] = '\0';
    return text;
}

static void refused(void **state)
{
    (void)state;
    char longest[HISTO_MAX_NAME + 2];
    memset(longest, 'x', sizeof longest - 1);
    longest[HISTO_MAX_NAME + 1] = '\0';
    histo_hist *h = make(HISTO_DENSE, "h", "{\"a\": 1}");
    REFUSED(HISTO_INVALID, "name is empty", histo_hist_set_name(h, ""));
    REFUSED(HISTO_INVALID, "name is uhi_schema", histo_hist_set_name(h, "uhi_schema"));
    REFUSED(HISTO_INVALID, "name is not UTF-8 from byte 1 on", histo_hist_set_name(h, "x\xff"));
    REFUSED(HISTO_INVALID, "name has 1025 bytes", histo_hist_set_name(h, longest));
    REFUSED(HISTO_INVALID, "hist is NULL", histo_hist_set_name(NULL, "x"));
    REFUSED(HISTO_INVALID, "hist is NULL", histo_hist_set_metadata(NULL, "{}"));
    static const char *const not_json[] = {"",
                                           " ",
                                           "1",
                                           "[]",
                                           "null",
                                           "{",
                                           "{a}",
                                           "{\"a\"}",
                                           "{\"a\": 1,}",
                                           "{} {}",
                                           "{\"a\": 01}",
                                           "{\"\xff\": 1}",
                                           "{\"a\": \"\x01\"}",
                                           "{\"a\": nul}",
                                           "{}}"};
    for (size_t i = 0; i < sizeof not_json / sizeof *not_json; i++)
        REFUSED(HISTO_INVALID, "json is not the text of a JSON object", histo_hist_set_metadata(h, not_json[i]));
    REFUSED(HISTO_INVALID, "line 2, byte 9: ", histo_hist_set_metadata(h, "{\"a\":\n 1,}"));
    assert_texts(h, "h", "{\"a\": 1}");
    assert_null(histo_hist_name(NULL));
    assert_null(histo_hist_metadata(NULL));

    /* The longest and the deepest that may be set can be saved and loaded. */
    longest[HISTO_MAX_NAME] = '\0';
    char *deep = nested(62, "1"), *deeper = nested(63, "1");
    OK(histo_hist_set_name(h, longest));
    OK(histo_hist_set_metadata(h, deep));
    REFUSED(HISTO_INVALID, "nested deeper than 62", histo_hist_set_metadata(h, deeper));
    for (int format = HISTO_JSON; format <= HISTO_BINARY; format++) {
        size_t size;
        void *data = save(h, (histo_format)format, &size);
        histo_hist *back = load_good(data, size, NULL);
        assert_texts(back, longest, deep);
        histo_free(data);
        histo_hist_destroy(back);
    }
    free(deep);
    free(deeper);
    histo_hist_destroy(h);
}

/* Documents of others: keys that are no names, and metadata that are none. */
static void documents(void **state)
{
    (void)state;
    static const struct {
        const char *key, *name;
    } keys[] = {{"x", "x"}, {"", NULL}, {"a\\u0000b", NULL}, {"\\u00b5\\ud834\\udd1e\\n", "µ𝄞\n"}, {"histogram", NULL}};
    char text[400];
    histo_hist *h;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        snprintf(text, sizeof text,
                 "{\"%s\": {\"uhi_schema\": 1, \"axes\": [{\"type\": \"boolean\"}], \"metadata\": %s,"
                 "\"storage\": {\"type\": \"int\", \"values\": [1, 2]}}}",
                 keys[i].key, i ? "null" : "{\"a\" : 1 }");
        h = load_good(text, strlen(text), NULL);
        assert_texts(h, keys[i].name, i ? NULL : "{\"a\" : 1 }");
        histo_hist_destroy(h);
    }
    static const char format[] = "{\"uhi_schema\": 1, \"axes\": [{\"type\": \"boolean\"}], \"metadata\": %s, "
                                 "\"storage\": {\"type\": \"int\", \"values\": [1, 2]}}";
    snprintf(text, sizeof text, format, "{\"name\": \"x\"}");
    h = load_good(text, strlen(text), NULL);
    assert_texts(h, NULL, "{\"name\": \"x\"}");
    histo_hist_destroy(h);
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, format, (const char *[]){"[1]", "\"x\"", "7"}[i]);
        REFUSED(HISTO_CORRUPT, "the metadata should be an object", histo_hist_load(text, strlen(text), NULL, &h));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files),   cmocka_unit_test(other_key), cmocka_unit_test(kept),
        cmocka_unit_test(refused), cmocka_unit_test(documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
