/* The command line of histo-bench: valid lines give the right settings; invalid lines give one message and exit
 * status 2. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "bench/command/settings.h"
#include "support/check.h"

/* The first word is the subcommand. */
static int parse(bench_settings *s, const char *text, fault *f)
{
    static char words[512]; /* to which the settings point */
    static settings before; /* freed when the next line is parsed */
    char *argv[64], *rest = words;
    int argc = 0;
    settings_free(&before);
    *f = (fault){0};
    snprintf(words, sizeof words, "%s", text);
    for (char *word; (word = strsep(&rest, " "));)
        argv[argc++] = word;
    const int parsed = bench_settings_parse(s, argv[0], argc, argv, f);
    before = s->common;
    return parsed;
}

static void parse_good(bench_settings *s, const char *text)
{
    fault f;
    if (parse(s, text, &f) != 0) fail_msg("%s: %s", text, f.text);
}

static void parse_bad(const char *text, const char *words)
{
    bench_settings s;
    fault f;
    if (parse(&s, text, &f) != -1) fail_msg("'%s' was taken", text);
    assert_int_equal(f.status, EXIT_USAGE);
    if (!strstr(f.text, words)) fail_msg("%s: the sentence '%s' has no '%s'", text, f.text, words);
}

static void test_measuring(void **state)
{
    (void)state;
    bench_settings s;
    parse_good(&s, "bench --samples 1000 --repeat 3 --cells u8,f32/log --image map.svg");
    assert_int_equal(s.samples, 1000);
    assert_int_equal(s.bytes, 0);
    assert_int_equal(s.repeat, 3);
    assert_string_equal(s.cells, "u8,f32/log");
    assert_string_equal(s.image, "map.svg");
    parse_good(&s, "bench --samples 3KiB");
    assert_int_equal(s.samples, 0);
    assert_int_equal(s.bytes, 3 * 1024);
    parse_good(&s, "bench --samples 512MiB");
    assert_int_equal(s.bytes, 512 << 20);
    parse_good(&s, "bench --samples 7");
    assert_int_equal(s.samples, 7);
    assert_int_equal(s.bytes, 0);
    parse_bad("bench --samples 2TiB", "'2TiB'");
    parse_bad("bench --samples 0MiB", "not '0'");
    parse_bad("bench --samples MiB", "not ''");
    parse_bad("bench --samples 2048GiB", "from 1 to 1024");
    parse_bad("bench --repeat 102", "from 1 to 101");
}

/* histo has the same rows, for its help; every word that it offers for a value is valid. */
static void test_offers(void **state)
{
    (void)state;
    static const command_id takers[] = {COMMAND_BENCH, COMMAND_GENERATE, COMMAND_TUNE};
    for (int i = 0; i < bench_option_table.count; i++) {
        const option_row *row = &bench_option_table.rows[i];
        const char *words = row->values && *row->values != '<' ? row->values : "";
        int same = 0, taker = 0;
        while (same < histo_options.count && (strcmp(histo_options.rows[same].help, row->help) != 0 ||
                                              histo_options.rows[same].commands != row->commands))
            same++;
        assert_int_not_equal(same, histo_options.count);
        while (!option_taken(row, &command_rows[takers[taker]]))
            taker++;
        for (size_t length; (length = strcspn(words, " ")) > 0; words += length + (words[length] == ' ')) {
            bench_settings s;
            char text[128];
            snprintf(text, sizeof text, "%s --%s=%.*s", command_rows[takers[taker]].name, row->name, (int)length,
                     words);
            parse_good(&s, text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_measuring), cmocka_unit_test(test_offers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
