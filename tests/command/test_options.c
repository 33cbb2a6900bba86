/* The command line: valid lines give the right settings; invalid lines give one message and exit status 2. The tables
 * of subcommands and options are consistent, and so is everything generated from them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/document.h"
#include "options/options.h"
#include "support/check.h"

/* A command line split at blanks; parsing modifies it, and the settings point into it. */
typedef struct line {
    char text[512];
    char *argv[64];
    int argc;
    settings s;
    fault f;
} line;

/* The first word is the subcommand. */
static int parse(line *l, const char *text)
{
    static settings before; /* freed when the next line is parsed */
    settings_free(&before);
    memset(l, 0, sizeof *l);
    snprintf(l->text, sizeof l->text, "%s", text);
    for (char *word = strtok(l->text, " "); word; word = strtok(NULL, " "))
        l->argv[l->argc++] = word;
    const int parsed = settings_parse(&l->s, &histo_options, l->argv[0], l->argc, l->argv, &l->f);
    before = l->s;
    return parsed;
}

static void parse_good(line *l, const char *text)
{
    if (parse(l, text) != 0) fail_msg("%s: %s", text, l->f.text);
    assert_int_equal(l->f.status, EXIT_OK);
}

static void parse_bad(const char *text, const char *words)
{
    line l;
    if (parse(&l, text) != -1) fail_msg("'%s' was taken", text);
    assert_int_equal(l.f.status, EXIT_USAGE);
    if (!strstr(l.f.text, words)) fail_msg("%s: the sentence '%s' has no '%s'", text, l.f.text, words);
}

static void test_nothing_given(void **state)
{
    (void)state;
    line l;
    parse_good(&l, "hist");
    assert_int_equal(l.s.files_count, 0);
    assert_int_equal(l.s.read.header, -1);
    assert_int_equal(l.s.read.page, 0);
    assert_int_equal(l.s.device, HISTO_DEVICE_AUTO);
    assert_false(l.s.read.has_dtype || l.s.has_roi || l.s.has_where || l.s.quiet || l.s.verbose || l.s.measure);
    assert_null(l.s.bins);
    assert_null(l.s.output);
    assert_null(l.s.document);
}

static void test_operands(void **state)
{
    (void)state;
    line l;
    parse_good(&l, "hist a.png -b 10 b.png - -q");
    assert_int_equal(l.s.files_count, 3);
    assert_string_equal(l.s.files[0], "a.png");
    assert_string_equal(l.s.files[1], "b.png");
    assert_string_equal(l.s.files[2], "-");
    assert_string_equal(l.s.bins, "10");
    assert_true(l.s.quiet);
    parse_good(&l, "hist -q -- -b");
    assert_int_equal(l.s.files_count, 1);
    assert_string_equal(l.s.files[0], "-b");
    assert_null(l.s.bins);
    parse_good(&l, "help merge");
    assert_string_equal(l.s.files[0], "merge");
    parse_bad("info x", "'x' is one too many");
    parse_bad("version x", "'x' is one too many");
    parse_bad("strategies a b", "'a' is one too many");
    parse_bad("help merge show", "'show' is one too many");
}

static void test_input(void **state)
{
    (void)state;
    line l;
    parse_good(&l, "explain --format npy --dataset /a/b --page 3 --skip-bad --header no --offset 16");
    assert_string_equal(l.s.read.format, "npy");
    assert_string_equal(l.s.read.dataset, "/a/b");
    assert_int_equal(l.s.read.page, 3);
    assert_true(l.s.read.skip_bad);
    assert_int_equal(l.s.read.header, 0);
    assert_int_equal(l.s.read.offset, 16);
    parse_good(&l, "hist --bytes --page=all --header=yes");
    assert_true(l.s.read.bytes);
    assert_int_equal(l.s.read.page, -1);
    assert_int_equal(l.s.read.header, 1);
    parse_bad("hist --page -2", "--page takes");
    parse_bad("hist --page 1.5", "--page takes");
    parse_bad("hist --page 4294967296", "--page takes");
    parse_bad("hist --offset -1", "--offset takes");
    parse_bad("hist --offset 12k", "'12k'");
    parse_bad("hist --offset 9223372036854775808", "--offset takes");
    parse_bad("hist --header maybe", "yes or no");
    parse_bad("hist --bytes --dtype u8", "contradict");
    parse_bad("hist --bytes --format png", "contradict");
}

static void test_delimiters(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        char character;
    } good[] = {{";", ';'},    {",", ','},    {"comma", ','}, {"semicolon", ';'},
                {"tab", '\t'}, {"\\t", '\t'}, {"space", ' '}, {"pipe", '|'}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        line l;
        char text[64];
        snprintf(text, sizeof text, "hist --delimiter %s", good[i].text);
        parse_good(&l, text);
        assert_int_equal(l.s.read.delimiter, good[i].character);
    }
    parse_bad("hist --delimiter ;;", "one character");
    parse_bad("hist --delimiter=", "one character");
}

static void test_dtypes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        histo_dtype dtype;
        bool big_endian;
    } good[] = {
        {"u8", HISTO_U8, false},       {"i8", HISTO_I8, false},       {"u16", HISTO_U16, false},
        {"i16", HISTO_I16, false},     {"u32", HISTO_U32, false},     {"i32", HISTO_I32, false},
        {"u64", HISTO_U64, false},     {"i64", HISTO_I64, false},     {"f16", HISTO_F16, false},
        {"bf16", HISTO_BF16, false},   {"f32", HISTO_F32, false},     {"f64", HISTO_F64, false},
        {"uint8", HISTO_U8, false},    {"int64", HISTO_I64, false},   {"float16", HISTO_F16, false},
        {"float32", HISTO_F32, false}, {"float64", HISTO_F64, false}, {"bfloat16", HISTO_BF16, false},
        {"<f4", HISTO_F32, false},     {"<u8", HISTO_U64, false},     {">u2", HISTO_U16, true},
        {">f8", HISTO_F64, true},      {">i4", HISTO_I32, true},      {"=f4", HISTO_F32, false},
        {"|u1", HISTO_U8, false},      {"|i1", HISTO_I8, false},      {"<f2", HISTO_F16, false},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        line l;
        char text[64];
        snprintf(text, sizeof text, "hist --dtype %s", good[i].text);
        parse_good(&l, text);
        assert_true(l.s.read.has_dtype);
        assert_int_equal(l.s.read.dtype, good[i].dtype);
        assert_int_equal(l.s.read.big_endian, good[i].big_endian);
    }
    static const char *const bad[] = {"f4",   "u2", "<",    "<f3", "<f16", "|f4", "<bfloat16", ">",
                                      "f128", "U8", "int7", "<x4", "|",    "=",   "float",     "<uint8"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[64];
        snprintf(text, sizeof text, "hist --dtype %s", bad[i]);
        parse_bad(text, "there is no sample type");
    }
    parse_bad("hist --dtype=", "there is no sample type");
}

static void test_endian(void **state)
{
    (void)state;
    line l;
    parse_good(&l, "hist --dtype u16 --endian big");
    assert_true(l.s.read.big_endian);
    parse_good(&l, "hist --endian=big --dtype=>u2");
    assert_true(l.s.read.big_endian);
    parse_bad("hist --dtype >u2 --dtype u16", "--dtype is given twice");
    parse_good(&l, "hist --dtype u16");
    assert_int_equal(l.s.read.dtype, HISTO_U16);
    assert_false(l.s.read.big_endian);
    parse_bad("hist --endian middle", "little or big");
    parse_bad("hist --endian big --dtype <u2", "contradicts");
    parse_bad("hist --dtype >u2 --endian little", "contradicts");
}

static void test_shape(void **state)
{
    (void)state;
    line l;
    parse_good(&l, "hist --shape 3x4");
    assert_int_equal(l.s.read.ndim, 2);
    assert_int_equal(l.s.read.shape[0], 3);
    assert_int_equal(l.s.read.shape[1], 4);
    parse_good(&l, "hist --shape 5,480,640");
    assert_int_equal(l.s.read.ndim, 3);
    assert_int_equal(l.s.read.shape[2], 640);
    parse_good(&l, "hist --shape 1x1x1x1x1x1x1x7");
    assert_int_equal(l.s.read.ndim, 8);
    assert_int_equal(l.s.read.shape[7], 7);
    parse_bad("hist --shape 1x1x1x1x1x1x1x1x1", "not a shape");
    parse_bad("hist --shape 3x", "not a shape");
    parse_bad("hist --shape x3", "not a shape");
    parse_bad("hist --shape 3xx4", "not a shape");
    parse_bad("hist --shape 3x-4", "not a shape");
    parse_bad("hist --shape +3", "not a shape");
    parse_bad("hist --shape 3.5", "not a shape");
    parse_bad("hist --shape 99999999999999999999", "not a shape");
    parse_bad("hist --shape=", "not a shape");
    parse_bad("hist --shape 3x0", "no sample");
    parse_bad("hist --shape 4294967296x4294967296", "larger than any file");
}

static void test_roi(void **state)
{
    (void)state;
    line l;
    parse_good(&l, "hist --roi 10,20,30,40");
    assert_true(l.s.has_roi);
    const int64_t wanted[4] = {10, 20, 30, 40};
    assert_memory_equal(l.s.roi, wanted, sizeof wanted);
    parse_bad("hist --roi 1,2,3", "not a region");
    parse_bad("hist --roi 1,2,3,4,5", "not a region");
    parse_bad("hist --roi -1,2,3,4", "not a region");
    parse_bad("hist --roi 1,2,3,b", "not a region");
    parse_bad("hist --roi 1x2x3x4", "not a region");
    parse_bad("hist --roi 1,2,0,4", "is empty");
    parse_bad("hist --roi 9223372036854775807,0,1,1", "exceeds any page");
}

static void test_where(void **state)
{
    (void)state;
    line l;
    parse_good(&l, "hist --where -5:1.5e3");
    assert_true(l.s.has_where);
    assert_int_equal(l.s.conditions_count, 0);
    assert_true(l.s.where[0] == -5 && l.s.where[1] == 1500);
    parse_good(&l, "hist --where 2:");
    assert_true(l.s.where[0] == 2 && l.s.where[1] == INFINITY);
    parse_good(&l, "hist --where :-2");
    assert_true(l.s.where[0] == -INFINITY && l.s.where[1] == -2);
    parse_good(&l, "hist --where -inf:inf");
    assert_true(l.s.where[0] == -INFINITY && l.s.where[1] == INFINITY);
    parse_good(&l, "hist --where 3:3");
    parse_good(&l, "hist --where a=b:c=0:1");
    assert_int_equal(l.s.conditions_count, 1);
    assert_string_equal(l.s.conditions[0].column, "a=b:c");
    assert_string_equal(l.s.conditions[0].values, "0:1");
    assert_false(l.s.has_where);
    parse_good(&l, "hist --where a=0:1 --where 5:8 --where b!=x=y,z --where 4:7");
    assert_int_equal(l.s.conditions_count, 2);
    assert_string_equal(l.s.conditions[1].column, "b");
    assert_string_equal(l.s.conditions[1].values, "x=y,z");
    assert_true(l.s.conditions[1].negated && !l.s.conditions[0].negated);
    assert_true(l.s.where[0] == 5 && l.s.where[1] == 7);
    parse_bad("hist --where 5:6 --where 7:", "nothing in common");
    parse_bad("hist --where 5", "not a range");
    parse_bad("hist --where a:b", "not a range");
    parse_bad("hist --where 1:2:3", "not a range");
    parse_bad("hist --where nan:1", "not a range");
    parse_bad("hist --where 0:1e999", "not a range");
    parse_bad("hist --where a=", "not a range");
    parse_bad("hist --where =0:1", "names no column");
    parse_bad("hist --where 2:1", "ends before it begins");
}

static void test_samples_and_bins(void **state)
{
    (void)state;
    line l;
    parse_good(&l, "hist -c r,g --mask m.png -w weight --reproducible --batch");
    assert_string_equal(l.s.channels, "r,g");
    assert_string_equal(l.s.mask, "m.png");
    assert_string_equal(l.s.weights, "weight");
    assert_true(l.s.reproducible && l.s.batch);
    parse_good(&l, "hist --column price -j a,b");
    assert_string_equal(l.s.channels, "price");
    assert_string_equal(l.s.joint, "a,b");
    parse_good(&l, "hist -bfd -r p1:p99 --width 0.5 --edges 1,2 --log");
    assert_string_equal(l.s.bins, "fd");
    assert_string_equal(l.s.range, "p1:p99");
    assert_string_equal(l.s.width, "0.5");
    assert_string_equal(l.s.edges, "1,2");
    assert_true(l.s.log_bins);
    parse_bad("hist -r -5:5 -b 7 -b 8", "--bins is given twice");
    parse_good(&l, "hist -r -5:5 -b 8");
    assert_string_equal(l.s.range, "-5:5");
    assert_string_equal(l.s.bins, "8");
    parse_bad("hist --channel r --column a", "contradict");
    parse_bad("hist --reproducible", "--weights");
}

static void test_output(void **state)
{
    (void)state;
    line l;
    parse_good(&l, "merge a.json -o sum.png --to svg --logy --title T --size 800x600 -v");
    assert_string_equal(l.s.output, "sum.png");
    assert_string_equal(l.s.output_format, "svg");
    assert_string_equal(l.s.title, "T");
    assert_true(l.s.scale == SCALE_LOG && l.s.verbose);
    assert_int_equal(l.s.plot_width, 800);
    assert_int_equal(l.s.plot_height, 600);
    parse_bad("show --size 800", "not a size");
    parse_bad("show --size 800x600x3", "not a size");
    parse_bad("show --size 10x10", "cannot be drawn");
    parse_bad("show --size 100000x600", "cannot be drawn");
    parse_bad("show -q -v", "contradict");
}

static void test_execution(void **state)
{
    (void)state;
    line l;
    parse_good(&l, "hist --device auto --measure --wisdom w.txt --threads 4");
    assert_int_equal(l.s.device, HISTO_DEVICE_AUTO);
    assert_true(l.s.measure);
    assert_string_equal(l.s.wisdom, "w.txt");
    assert_int_equal(l.s.threads, 4);
    assert_false(l.s.compile);
    parse_good(&l, "hist --compile");
    assert_true(l.s.compile && !l.s.measure);
    parse_good(&l, "explain --compile --device cuda");
    assert_true(l.s.compile);
    parse_bad("hist --compile=yes", "--compile");
    parse_bad("show --compile", "--compile");
    parse_good(&l, "hist --device cpu");
    assert_int_equal(l.s.device, HISTO_DEVICE_CPU);
    parse_good(&l, "hist --device cuda");
    assert_int_equal(l.s.device, HISTO_DEVICE_CUDA(0));
    parse_good(&l, "hist --device cuda:3");
    assert_int_equal(l.s.device, HISTO_DEVICE_CUDA(3));
    parse_bad("hist --device cuda:", "no device");
    parse_bad("hist --device cuda:-1", "no device");
    parse_bad("hist --device cuda:99999", "no device");
    parse_bad("hist --device gpu", "no device");
    parse_bad("hist --threads 0", "from 1 to 1024");
    parse_bad("hist --threads 1025", "from 1 to 1024");
    parse_bad("hist --threads two", "from 1 to 1024");
    parse_good(&l, "hist --strategy privatized --param subtables=2 --param other=3");
    assert_string_equal(l.s.strategy, "privatized");
    assert_string_equal(l.s.params, "subtables=2,other=3");
    parse_good(&l, "hist --param again=1");
    assert_string_equal(l.s.params, "again=1");
    parse_good(&l, "hist --strategy cpu/sequential");
    assert_string_equal(l.s.strategy, "cpu/sequential");
    parse_bad("hist --strategy privatised", "did you mean privatized?");
    parse_bad("hist --strategy gpu/sequential", "there is no strategy");
    parse_bad("hist --strategy zzz", "'histo strategies' lists them");
    parse_bad("hist --param subtables", "NAME=VALUE");
    parse_bad("hist --param =3", "NAME=VALUE");
    parse_bad("hist --param a=", "NAME=VALUE");
}

static void test_params_that_do_not_fit(void **state)
{
    (void)state;
    char *argv[128] = {"hist"};
    char value[] = "a_rather_long_name_of_a_parameter=1";
    int argc = 1;
    while (argc < 120) {
        argv[argc++] = "--param";
        argv[argc++] = value;
    }
    settings s;
    fault f = {0};
    assert_int_equal(settings_parse(&s, &histo_options, "hist", argc, argv, &f), -1);
    assert_int_equal(f.status, EXIT_USAGE);
}

static void test_unknown_options(void **state)
{
    (void)state;
    parse_bad("hist --binz 3", "did you mean --bins?");
    parse_bad("hist --chanel r", "did you mean --channel?");
    parse_bad("hist --logyy", "did you mean --logy?");
    parse_bad("hist --strateyg=x", "no option --strateyg: did you mean --strategy?");
    parse_bad("hist --zzzzzz", "--help' lists its options");
    parse_bad("hist -Z", "no option -Z");
    parse_bad("hist -qZ", "no option -Z");
    parse_bad("show -b 3", "-b, which is for hist, ");
    parse_bad("show --roi 1,2,3,4", "--roi, which is for hist");
    parse_bad("info --output x", "which is for hist, ");
    parse_bad("hist --man", "no option --man");
    parse_bad("hist --he no", "may be --header or --help");
    parse_bad("hist --bytes=3", "takes no value");
    parse_bad("hist --bins", "write --bins N|RULE|@FILE");
    parse_bad("hist a.png -b", "--bins needs a value");
    parse_bad("hist --joint --column A,B a.csv", "--joint needs a value");
    parse_bad("hist --title --width=3 a.csv", "--title needs a value");
}

static void test_abbreviations(void **state)
{
    (void)state;
    line l;
    parse_good(&l, "hist --chan r --out=x.png");
    assert_string_equal(l.s.channels, "r");
    assert_string_equal(l.s.output, "x.png");
    parse_good(&l, "hist --log"); /* an exact match, although --logy starts like it */
    assert_true(l.s.log_bins && l.s.scale == SCALE_AUTO);
}

/* Undo the escapes of roff and the shells. */
static void remove_backslashes(char *text)
{
    char *to = text;
    for (; *text; text++)
        if (*text != '\\') *to++ = *text;
    *to = '\0';
}

static void test_documents(void **state)
{
    (void)state;
    line l;
    static const struct {
        const char *option, *form; /* how the document shows an option */
        void (*print)(FILE *);
    } documents[] = {{"man", "--%s", document_man},
                     {"bash", "--%s", document_bash},
                     {"zsh", "--%s", document_zsh},
                     {"fish", "-l %s", document_fish}};
    for (size_t d = 0; d < sizeof documents / sizeof *documents; d++) {
        char text[64], *document;
        size_t size;
        snprintf(text, sizeof text, "help --%s", documents[d].option);
        parse_good(&l, text);
        assert_string_equal(l.s.document, documents[d].option);
        FILE *out = open_memstream(&document, &size);
        assert_non_null(out);
        documents[d].print(out);
        fclose(out);
        remove_backslashes(document);
        for (int i = 0; i < histo_options.count; i++) {
            if (histo_options.rows[i].group == GROUP_HIDDEN) continue;
            snprintf(text, sizeof text, documents[d].form, histo_options.rows[i].name);
            if (!strstr(document, text)) fail_msg("%s: no %s", documents[d].option, text);
        }
        for (int c = 0; c < COMMAND_COUNT; c++)
            if (!strstr(document, command_rows[c].name))
                fail_msg("%s: no %s", documents[d].option, command_rows[c].name);
        free(document);
    }
}

static bool takes_help(const command_row *command)
{
    bool taken = false;
    for (int i = 0; i < histo_options.count; i++)
        taken |= histo_options.rows[i].target.kind == TO_HELP && option_taken(&histo_options.rows[i], command);
    return taken;
}

/* The names that a row excludes are names of options. */
static void check_excluded(const option_row *row)
{
    char names[128], *rest = names;
    snprintf(names, sizeof names, "%s", row->excludes ? row->excludes : "");
    for (char *name; (name = strsep(&rest, " ")) && *name;) {
        int i = 0;
        while (i < histo_options.count && strcmp(histo_options.rows[i].name, name) != 0)
            i++;
        if (i == histo_options.count) fail_msg("--%s excludes --%s, which is not there", row->name, name);
    }
}

static void test_tables(void **state)
{
    (void)state;
    for (int i = 0; i < histo_options.count; i++) {
        const option_row *row = &histo_options.rows[i];
        assert_true(row->commands != 0);
        check_excluded(row);
        if (row->help[strlen(row->help) - 1] == '.')
            fail_msg("--%s: its help is a phrase, without a full stop", row->name);
        if (*row->more && row->more[strlen(row->more) - 1] != '.')
            fail_msg("--%s: sentences end in a full stop", row->name);
        for (int j = 0; j < i; j++) {
            if (!(histo_options.rows[j].commands & row->commands)) continue;
            if (strcmp(histo_options.rows[j].name, row->name) == 0) fail_msg("--%s is there twice", row->name);
            if (row->letter && histo_options.rows[j].letter == row->letter) fail_msg("-%c is there twice", row->letter);
        }
    }
    for (int c = 0; c < COMMAND_COUNT; c++) {
        assert_ptr_equal(command_find(command_rows[c].name), &command_rows[c]);
        assert_true(takes_help(&command_rows[c]));
    }
    for (int i = 0; i < SUBJECT_COUNT; i++)
        assert_true(takes_help(&subject_rows[i]));
    assert_null(command_find("his"));
}

/* Every example is a valid line. How many there are. */
static int parse_examples(const char *at)
{
    line l;
    int examples = 0;
    while (*at) {
        char text[700], first[32], whole[800];
        snprintf(text, sizeof text, "%.*s", (int)strcspn(at, "\t"), at);
        char *begin = strstr(text, "histo ");
        at += strcspn(at, "\n") + 1;
        if (!begin) continue; /* man histo */
        begin += strlen("histo ");
        snprintf(first, sizeof first, "%.*s", (int)strcspn(begin, " "), begin);
        snprintf(whole, sizeof whole, "%s%s", command_find(first) ? "" : "hist ", begin);
        parse_good(&l, whole);
        examples++;
    }
    return examples;
}

/* Everything that completion offers is valid, and so is every example in the help. */
static void test_offers(void **state)
{
    (void)state;
    line l;
    char words[512], text[640];
    for (int i = 0; i < histo_options.count; i++) {
        const option_row *row = &histo_options.rows[i];
        if (!row->argument) continue;
        option_values(row, words, sizeof words);
        char *rest = words;
        for (char *word; (word = strsep(&rest, " "));) {
            if (!*word) continue;
            int taker = 0;
            while (!option_taken(row, &command_rows[taker]))
                taker++;
            snprintf(text, sizeof text, "%s --%s=%s", command_rows[taker].name, row->name, word);
            parse_good(&l, text);
        }
    }
    int examples = 0;
    for (int c = 0; c < COMMAND_COUNT; c++)
        examples += parse_examples(command_rows[c].examples);
    for (int i = 0; i < SUBJECT_COUNT; i++)
        assert_true(parse_examples(subject_rows[i].examples) > 0);
    assert_true(examples >= 2 * COMMAND_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_given),
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_input),
        cmocka_unit_test(test_delimiters),
        cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_endian),
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_roi),
        cmocka_unit_test(test_where),
        cmocka_unit_test(test_samples_and_bins),
        cmocka_unit_test(test_output),
        cmocka_unit_test(test_execution),
        cmocka_unit_test(test_params_that_do_not_fit),
        cmocka_unit_test(test_unknown_options),
        cmocka_unit_test(test_abbreviations),
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_offers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
