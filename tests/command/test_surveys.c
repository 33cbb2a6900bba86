/* Files of surveys have the bytes of their format, whatever the machine, and are read as they were written; damaged,
 * truncated and foreign ones, and those of another version, are refused by one sentence. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/text.h"
#include "count/axes/survey_file.h"
#include "support/check.h"

static const char manifest_text[] = "shards 2 of 3\n--bins 10\nfile 8 1.000000002 a.npy\n";

/* As survey_file.h describes it. */
static const char expected[] = "\x93HSURV\r\n\x03\0\0\0"
                               "\x31\0\0\0\0\0\0\0shards 2 of 3\n--bins 10\nfile 8 1.000000002 a.npy\n"
                               "\x01\0\0\0\x02\0\0\0"
                               "f32\0\0\0\0\0\0\0\0\0\0\0\0\0"
                               "\x01"
                               "number\0\0\0\0\0\0\0\0\0\0"
                               "\x0a\0\0\0\0\0\0\0\x01"
                               "stone\0\0\0\0\0\0\0\0\0\0\0"
                               "\0\0\0\0\0\0\xe0\x3f\x01"
                               "from percentile\0"
                               "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\xf0\x7f\x01\0"
                               "\x03\0\0\0\0\0\0\0"
                               "\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\x80"
                               "\0\0\0\0\0\0\xf0\xbf\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\x08\x40\0\0\0\0\0\0\x10\x40"
                               "\0\0\0\0\0\0\x14\x40\0\0\0\0\0\0\x18\x40\x01\x07\0\0\0\0\0\0\0"
                               "abc"
                               "\0\0\0\0\0\0\0\0";
enum { EXPECTED_BYTES = sizeof expected - 1, CHECKSUM_BYTES = 4 };

static survey_file example(void)
{
    fault f = {0};
    survey_file file = {.name = strdup("the example"),
                        .shards = manifest_read(manifest_text, strlen(manifest_text), "text", &f)};
    assert_non_null(file.shards);
    assert_int_equal(survey_file_make_room(&file, 1, 2, &f), 0);
    file.dtypes[0] = HISTO_F32;
    file.pixels[0] = true;
    file.specs[0] = (bins_spec){.kind = BINS_NUMBER,
                                .number = 10,
                                .fewer = true,
                                .rule = HISTO_RULE_STONE,
                                .width = 0.5,
                                .has_range = true,
                                .range = HISTO_RANGE_FROM_PERCENTILE,
                                .lo = 1,
                                .hi = (double)INFINITY,
                                .log = true};
    const survey_finding finding = {{{.samples = 1,
                                      .nan = 2,
                                      .infinite = 3,
                                      .masked = UINT64_C(4) | UINT64_C(1) << 63,
                                      .min = -1,
                                      .max = 2,
                                      .mean = 3,
                                      .m2 = 4,
                                      .m3 = 5,
                                      .m4 = 6},
                                     1,
                                     7},
                                    (char[]){'a', 'b', 'c'},
                                    3};
    assert_int_equal(survey_finding_copy(&file.findings[0], &finding, &f), 0);
    return file;
}

/* The file of a survey; the caller frees it. */
static char *written(const survey_file *file, size_t *size)
{
    fault f = {0};
    char *bytes;
    FILE *out = open_memstream(&bytes, size);
    assert_non_null(out);
    assert_int_equal(survey_file_write(file, out, &f), 0);
    fclose(out);
    return bytes;
}

/* Reads bytes as a file: as survey_file_read. */
static int read_bytes(survey_file *file, const char *bytes, size_t size, fault *f)
{
    char path[] = "/tmp/test_surveys_XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, bytes, size), size);
    close(descriptor);
    *f = (fault){0};
    const int failed = survey_file_read(file, path, f);
    unlink(path);
    return failed;
}

static survey_file original; /* the example */
static char *content;        /* of its file */
static size_t content_size;

static int setup(void **state)
{
    (void)state;
    original = example();
    content = written(&original, &content_size);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(content);
    survey_file_free(&original);
    return 0;
}

/* A copy of the content, for the test to change and to free. */
static char *copy_content(void)
{
    char *copy = malloc(content_size);
    assert_non_null(copy);
    return memcpy(copy, content, content_size);
}

static void refuse(const char *bytes, size_t size, const char *words)
{
    survey_file file;
    fault f;
    if (read_bytes(&file, bytes, size, &f) == 0) fail_msg("a file that should be refused with '%s' was read", words);
    assert_int_equal(f.status, EXIT_DATA);
    if (!strstr(f.text, words)) fail_msg("the sentence '%s' has no '%s'", f.text, words);
    survey_file_free(&file);
}

/* With the checksum of what is before it. */
static void seal(char *bytes, size_t size)
{
    const uint32_t sum = text_checksum(bytes, size - CHECKSUM_BYTES);
    for (size_t i = 0; i < CHECKSUM_BYTES; i++)
        bytes[size - CHECKSUM_BYTES + i] = (char)(unsigned char)(sum >> 8 * i);
}

static void test_bytes(void **state)
{
    (void)state;
    size_t size;
    survey_file again;
    fault f;
    assert_int_equal(content_size, EXPECTED_BYTES + CHECKSUM_BYTES);
    assert_memory_equal(content, expected, EXPECTED_BYTES);
    assert_int_equal(read_bytes(&again, content, content_size, &f), 0);
    char *same = written(&again, &size);
    assert_int_equal(size, content_size);
    assert_memory_equal(same, content, size);
    assert_true(again.specs[0].hi == (double)INFINITY && again.findings[0].found.positive.m4 == 6);
    free(same);
    survey_file_free(&again);
}

static void test_damage(void **state)
{
    (void)state;
    char *changed = copy_content();
    for (size_t i = 0; i < content_size; i++) {
        changed[i] = (char)(content[i] ^ 1 << i % 8);
        refuse(changed, content_size, "is not a survey, or is damaged");
        changed[i] = content[i];
    }
    for (size_t length = 0; length < content_size; length++) {
        refuse(content, length, "is not a survey, or is damaged");
        memcpy(changed, content, length);
        if (length >= 8 + CHECKSUM_BYTES) seal(changed, length);
        refuse(changed, length, "");
    }
    free(changed);
}

static void test_impossible_fields(void **state)
{
    (void)state;
    const size_t axes = 20 + sizeof manifest_text - 1, dtype = axes + 8, kind = dtype + 17, fewer = kind + 24;
    const struct {
        size_t at;
        char value;
        const char *words;
    } fields[] = {{8, 2, "is a survey of format 2, and this histo reads format 3: make all surveys with one version"},
                  {11, 2, "is a survey of format 33554435"},
                  {12, 127, "damaged"}, /* the manifest's size */
                  {19, 1, "damaged"},
                  {20, 'x', "says of shards"},
                  {axes, 0, "damaged"},
                  {axes + 2, 1, "damaged"},
                  {axes + 4, 0, "damaged"},
                  {axes + 4, 3, "damaged"},
                  {dtype, 'g', "damaged"},
                  {dtype + 15, 'x', "damaged"},
                  {kind, 'N', "damaged"},
                  {fewer, 2, "damaged"},
                  {content_size - 12, 1, "damaged"}}; /* a finding that is not there */
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char *changed = copy_content();
        changed[fields[i].at] = fields[i].value;
        seal(changed, content_size);
        refuse(changed, content_size, fields[i].words);
        free(changed);
    }
}

static void swap_word(char *word)
{
    const char swapped[4] = {word[3], word[2], word[1], word[0]};
    memcpy(word, swapped, sizeof swapped);
}

/* What a program would write that does not know that files are little endian. */
static void test_other_byte_order(void **state)
{
    (void)state;
    char *changed = copy_content();
    swap_word(changed + 8);
    seal(changed, content_size);
    refuse(changed, content_size, "is a survey of format 50331648");
    swap_word(changed + content_size - CHECKSUM_BYTES);
    refuse(changed, content_size, "is not a survey, or is damaged");
    free(changed);
}

static void test_foreign_files(void **state)
{
    (void)state;
    refuse("", 0, "is not a survey, or is damaged");
    refuse("1\n2\n3\n", 6, "is not a survey, or is damaged");
    char other[EXPECTED_BYTES + CHECKSUM_BYTES];
    memcpy(other, expected, EXPECTED_BYTES);
    memcpy(other + 1, "HISTO", 5);
    seal(other, sizeof other);
    refuse(other, sizeof other, "is not a survey, or is damaged");
    survey_file file;
    fault f = {0};
    assert_int_equal(survey_file_read(&file, "/nowhere/at.survey", &f), -1);
    assert_int_equal(f.status, EXIT_DATA);
    assert_non_null(strstr(f.text, "there is no such file"));
    survey_file_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_impossible_fields),
        cmocka_unit_test(test_other_byte_order),
        cmocka_unit_test(test_foreign_files),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
