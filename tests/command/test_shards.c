/* Every unit of every file is in exactly one shard, in order, also of shards of shards; what is said of shards is read
 * as it was written, and nothing else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shards/division.h"
#include "shards/manifest.h"
#include "support/check.h"
#include "support/data.h"

enum { FILES = 6 };

static void check_division(const division *d, const int64_t *units)
{
    int64_t next[FILES] = {0};
    int file = 0;
    for (int64_t shard = 0; shard < d->shards; shard++) {
        const unit_range files = division_files(d, shard);
        for (int f = 0; f < d->files; f++) {
            const unit_range of = division_units(d, shard, f, units[f]);
            assert_int_equal(of.first, next[f]);
            assert_true(of.end >= of.first && of.end <= units[f]);
            if (of.end > of.first) assert_true(f >= file && f >= files.first && f < files.end);
            if (of.end > of.first) file = f;
            next[f] = of.end;
        }
    }
    for (int f = 0; f < d->files; f++)
        assert_int_equal(next[f], units[f]);
}

static void test_every_unit_is_in_one_shard(void **state)
{
    (void)state;
    rng seed = {1};
    for (int turn = 0; turn < 2000; turn++) {
        int64_t begins[FILES + 1] = {0}, units[FILES];
        division d = {.files = 1 + (int)(rng_next(&seed) % FILES), .begins = begins};
        for (int f = 0; f < d.files; f++) {
            const int bits = (int)(rng_next(&seed) % 60);
            const int64_t size = 1 + (int64_t)(rng_next(&seed) >> (63 - bits));
            units[f] = turn % 3 == 0 ? 1 : turn % 3 == 1 ? size : 1 + (int64_t)(rng_next(&seed) % (uint64_t)size);
            begins[f + 1] = begins[f] + size;
        }
        d.shards = 1 + (int64_t)(rng_next(&seed) % 40);
        check_division(&d, units);
        const int64_t parts = 1 + (int64_t)(rng_next(&seed) % 9);
        division fine = d;
        fine.shards *= parts;
        for (int64_t shard = 0; shard < d.shards; shard++)
            for (int f = 0; f < d.files; f++) {
                const unit_range whole = division_units(&d, shard, f, units[f]);
                assert_int_equal(division_units(&fine, shard * parts, f, units[f]).first, whole.first);
                assert_int_equal(division_units(&fine, (shard + 1) * parts - 1, f, units[f]).end, whole.end);
            }
    }
}

static manifest *read_or_null(const char *text)
{
    fault f = {0};
    return manifest_read(text, strlen(text), "x", &f);
}

static void expect_same(const char *text)
{
    char *written = NULL;
    size_t size;
    manifest *m = read_or_null(text);
    assert_non_null(m);
    FILE *out = open_memstream(&written, &size);
    manifest_write(m, out);
    fclose(out);
    assert_string_equal(written, text);
    free(written);
    manifest_free(m);
}

static void test_manifests(void **state)
{
    (void)state;
    expect_same("shards 1 of 1\n");
    expect_same("shards 1-3,7,9-10 of 12\n--column a\nfile 12 3.000000000 a b\n");
    expect_same("shards 2 of 2147483648\nat 1 2 3\n--column a\n");
    static const char *const damaged[] = {"",
                                          "shards 1 of 2",
                                          "shards  of 2\n",
                                          "shards 3 of 2\n",
                                          "shards 0 of 2\n",
                                          "shards 2-1 of 4\n",
                                          "shards 1,2 of 4\n",
                                          "shards 3,1 of 4\n",
                                          "shards 1, of 4\n",
                                          "shards 1-9223372036854775808 of 9\n",
                                          "shards -1 of 4\n",
                                          "shards 1 of 2147483649\n",
                                          "shards 1 of 4\nat 1"};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++)
        if (read_or_null(damaged[i])) fail_msg("'%s' is taken", damaged[i]);
}

static void test_sums_of_shards(void **state)
{
    (void)state;
    fault f = {0};
    char text[600];
    manifest *a = read_or_null("shards 2,5-6 of 9\n"), *b = read_or_null("shards 1,3,7 of 9\n"),
             *c = read_or_null("shards 4,8-9 of 9\n");
    assert_int_equal(manifest_common(a, b), 0);
    assert_int_equal(manifest_merge(a, b, &f), 0);
    assert_int_equal(manifest_common(a, b), 1);
    assert_string_equal(manifest_missing(a, text, sizeof text), "shards 4, 8-9 of 9 are missing");
    assert_false(manifest_is_complete(a));
    assert_int_equal(manifest_merge(a, c, &f), 0);
    assert_int_equal(a->ranges, 1);
    assert_true(manifest_is_complete(a));
    manifest_free(a);
    manifest_free(b);
    manifest_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_unit_is_in_one_shard),
                                       cmocka_unit_test(test_manifests), cmocka_unit_test(test_sums_of_shards)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
