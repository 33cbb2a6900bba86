#include "bench/random/random_problem.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* ---- Names ---- */

static const char *const kinds[] = {"uniform", "one",    "normal", "zipf", "scattered", "distinct", "spread", "edges",
                                    "sorted",  "pieces", "runs",   "saw",  "wafer",     "mixture",  "photo",  NULL};
static const char *const axis_kinds[] = {"integer", "regular", "variable", "log", "sqrt", "power", NULL};
static const char *const edge_kinds[] = {"jitter", "gaps", "unequal", "quadratic", "floats", NULL};
static const char *const layouts[] = {"array",   "strided",  "table",  "region",  "flipped",  "transposed",
                                      "channel", "channels", "images", "columns", "segments", NULL};
static const char *const weightings[] = {"none", "fast", "reproducible", "fast-sum", "reproducible-sum", NULL};
static const char *const places[] = {"cpu", "device", "pinned", "pageable", NULL};
static const char *const storages[] = {"dense", "sparse", NULL};
static const char *const ways[] = {"bin", "value", NULL};
static const char *const types[] = {"u8",  "i8",  "u16",  "i16", "u32", "i32", "u64",
                                    "i64", "f16", "bf16", "f32", "f64", NULL};
static const char *const switches[] = {"no", "yes", NULL};

/* -1 for an unknown name. */
static int find(const char *const *names, const char *text, size_t length)
{
    for (int i = 0; names[i]; i++)
        if (strlen(names[i]) == length && memcmp(names[i], text, length) == 0) return i;
    return -1;
}

/* ---- Keys of the line ---- */

/* How a value is kept: as a double, an enumeration or an int64_t, or in a way of its own. */
typedef enum form { REAL, FRACTION, CHOICE, SWITCH, INTEGER, AXES, KIND, MASK, WHERE, SEED } form;
#define OF_AXIS(member) true, offsetof(problem_axis, member)
#define OF_ALL(member) false, offsetof(random_problem, member)

/* A value equal to `usual` is not printed. names: NULL for numbers. */
static const struct {
    const char *name, *usual;
    const char *const *names;
    form form;
    bool of_axis;
    size_t offset;
    int64_t min, max; /* of integers */
} keys[] = {
    {"n", "", NULL, INTEGER, OF_ALL(samples), 1, INT64_C(1) << 40},
    {"type", "", types, CHOICE, OF_AXIS(type), 0, 0},
    {"axes", "1", NULL, AXES, OF_ALL(axes), 1, HISTO_MAX_AXES},
    {"axis", "", axis_kinds, CHOICE, OF_AXIS(kind), 0, 0},
    {"bins", "", NULL, INTEGER, OF_AXIS(bins), 1, HISTO_MAX_BINS},
    {"lo", "", NULL, REAL, OF_AXIS(lo), 0, 0},
    {"hi", "", NULL, REAL, OF_AXIS(hi), 0, 0},
    {"edges", "jitter", edge_kinds, CHOICE, OF_AXIS(edges), 0, 0},
    {"power", "0", NULL, REAL, OF_AXIS(power), 0, 0},
    {"closed", "no", switches, SWITCH, OF_AXIS(closed), 0, 0},
    {"storage", "dense", storages, CHOICE, OF_ALL(storage), 0, 0},
    {"dist", "uniform", kinds, KIND, OF_ALL(kind), 0, 0},
    {"by", "bin", ways, SWITCH, OF_ALL(by_value), 0, 0},
    {"flow", "0", NULL, FRACTION, OF_ALL(flow), 0, 0},
    {"nan", "0", NULL, FRACTION, OF_ALL(nan), 0, 0},
    {"layout", "array", layouts, CHOICE, OF_ALL(layout), 0, 0},
    {"batch", "1", NULL, INTEGER, OF_ALL(batch), 1, INT64_C(1) << 40},
    {"height", "1", NULL, INTEGER, OF_ALL(height), 1, INT64_C(1) << 40},
    {"channels", "1", NULL, INTEGER, OF_ALL(channels), 1, 1 << 20},
    {"stride", "1", NULL, INTEGER, OF_ALL(stride), -(1 << 20), 1 << 20},
    {"pitch", "0", NULL, INTEGER, OF_ALL(pitch), 0, INT64_C(1) << 40},
    {"offset", "0", NULL, INTEGER, OF_ALL(offset), 0, 1 << 20},
    {"weighting", "none", weightings, CHOICE, OF_ALL(weighting), 0, 0},
    {"weights", "f64", types, CHOICE, OF_ALL(weights), 0, 0},
    {"mask", "none", types, MASK, OF_ALL(mask), 0, 0},
    {"where", "none", types, WHERE, OF_ALL(where), 0, 0},
    {"alike", "no", switches, SWITCH, OF_ALL(alike), 0, 0},
    {"on", "cpu", places, CHOICE, OF_ALL(place), 0, 0},
    {"seed", "", NULL, SEED, OF_ALL(seed), 0, 0},
};
enum { KEYS = sizeof keys / sizeof *keys };
#undef OF_AXIS
#undef OF_ALL

static bool is_key(int k, const char *name)
{
    return strcmp(keys[k].name, name) == 0;
}

enum { VALUE_BYTES = HISTO_MAX_AXES * 26 };

/* The fewest digits that read back as the value. */
static void put_number(char *text, size_t size, double value)
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value) return;
    }
}

/* A value that is kept in an axis or a problem. */
static void put_member(char *text, size_t size, const void *owner, int k)
{
    const void *member = (const char *)owner + keys[k].offset;
    if (keys[k].form == SWITCH)
        snprintf(text, size, "%s", keys[k].names[*(const bool *)member]);
    else if (keys[k].form == CHOICE)
        snprintf(text, size, "%s", keys[k].names[*(const unsigned *)member]);
    else if (keys[k].form == INTEGER)
        snprintf(text, size, "%" PRId64, *(const int64_t *)member);
    else
        put_number(text, size, *(const double *)member);
}

/* A value for each axis, or one for all. */
static void put_list(char *text, size_t size, const random_problem *p, int k)
{
    bool equal = true;
    char first[32], next[32];
    put_member(first, sizeof first, &p->axis[0], k);
    size_t length = (size_t)snprintf(text, size, "%s", first);
    for (int a = 1; a < p->axes; a++) {
        put_member(next, sizeof next, &p->axis[a], k);
        equal = equal && strcmp(first, next) == 0;
        length += (size_t)snprintf(text + length, size - length, ",%s", next);
    }
    if (equal) snprintf(text, size, "%s", first);
}

/* "f64:0.25", or "none" for a fraction of 1. */
static void put_filter(char *text, size_t size, histo_dtype type, double fraction)
{
    char number[32];
    put_number(number, sizeof number, fraction);
    if (fraction == 1)
        snprintf(text, size, "none");
    else
        snprintf(text, size, "%s:%s", types[type], number);
}

static void put_value(char text[VALUE_BYTES], const random_problem *p, int k)
{
    const size_t size = VALUE_BYTES;
    char number[32];
    if (keys[k].of_axis) {
        put_list(text, size, p, k);
        return;
    }
    switch (keys[k].form) {
    case AXES:
        snprintf(text, size, "%d", p->axes);
        break;
    case KIND:
        put_number(number, sizeof number, p->shape);
        snprintf(text, size, p->shape == 0 ? "%s" : "%s:%s", kinds[p->kind], number);
        break;
    case MASK:
        put_filter(text, size, p->mask_type, p->mask);
        if (p->mask != 1 && p->mask_run != 1)
            snprintf(text + strlen(text), size - strlen(text), ":%" PRId64, p->mask_run);
        break;
    case WHERE:
        put_filter(text, size, p->where_type, p->where);
        break;
    case SEED:
        snprintf(text, size, "%" PRIu64, p->seed);
        break;
    default:
        put_member(text, size, p, k);
    }
}

/* True if hi of all axes follows from lo and the bins. */
static bool hi_follows(const random_problem *p)
{
    for (int a = 0; a < p->axes; a++)
        if (p->axis[a].kind != HISTO_INTEGER) return false;
    return true;
}

char *problem_print(const random_problem *p, char line[PROBLEM_LINE_BYTES])
{
    size_t length = 0;
    char value[VALUE_BYTES];
    line[0] = '\0';
    for (int k = 0; k < KEYS; k++) {
        put_value(value, p, k);
        if (strcmp(value, keys[k].usual) == 0 || (is_key(k, "hi") && hi_follows(p))) continue;
        if (is_key(k, "weights") && !p->weighting) continue;
        length += (size_t)snprintf(line + length, PROBLEM_LINE_BYTES - length, "%s%s=%s", length ? " " : "",
                                   keys[k].name, value);
    }
    return line;
}

/* ---- Parsing ---- */

/* A whole text that is a number; 2^20 is one. */
static bool take_number(const char *text, size_t length, double *value)
{
    char copy[40], *end;
    if (length == 0 || length >= sizeof copy || strchr(" \t\n\v\f\r+", *text)) return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (strspn(copy, "0123456789.eE+-^") != length) return false;
    *value = strtod(copy, &end);
    if (*end == '^' && *value == 2) {
        long power = strtol(end + 1, &end, 10);
        if (power < 0 || power > 62) return false;
        *value = (double)(INT64_C(1) << power);
    }
    return !*end && *value - *value == 0;
}

static histo_status fail_value(int k, const char *text, size_t length)
{
    static const char *const takes[] = {[REAL] = "numbers",
                                        [FRACTION] = "fractions from 0 to 1",
                                        [CHOICE] = "names",
                                        [SWITCH] = "names",
                                        [INTEGER] = "whole numbers",
                                        [AXES] = "whole numbers",
                                        [KIND] = "names",
                                        [MASK] = "none or TYPE:FRACTION:RUN, of these types",
                                        [WHERE] = "none or TYPE:FRACTION, of these types",
                                        [SEED] = "whole numbers"};
    char list[400] = "";
    size_t used = 0;
    for (int i = 0; keys[k].names && keys[k].names[i]; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : ": ", keys[k].names[i]);
    if (keys[k].max) snprintf(list, sizeof list, " from %" PRId64 " to %" PRId64, keys[k].min, keys[k].max);
    return histo_fail(HISTO_INVALID, "%s=%.*s is not a value of a random problem: it takes %s%s", keys[k].name,
                      (int)length, text, takes[keys[k].form], list);
}

static bool take_whole(const char *text, size_t length, int64_t min, int64_t max, int64_t *value)
{
    double number;
    if (!take_number(text, length, &number) || number < (double)min || number > (double)max) return false;
    *value = (int64_t)number;
    return number == (double)*value;
}

static bool take_fraction(const char *text, size_t length, double *value)
{
    return take_number(text, length, value) && *value >= 0 && *value <= 1;
}

/* A value that is kept in an axis or a problem; false if it is invalid. */
static bool take_member(int k, const char *text, size_t length, void *owner)
{
    void *member = (char *)owner + keys[k].offset;
    const int chosen = keys[k].names ? find(keys[k].names, text, length) : -1;
    switch (keys[k].form) {
    case SWITCH:
        *(bool *)member = chosen > 0;
        return chosen >= 0;
    case CHOICE:
        *(unsigned *)member = (unsigned)chosen;
        return chosen >= 0;
    case INTEGER:
        return take_whole(text, length, keys[k].min, keys[k].max, member);
    case FRACTION:
        return take_fraction(text, length, member);
    default:
        return take_number(text, length, member) && fabs(*(double *)member) <= 0x1p1000;
    }
}

/* One value for all axes, or one for each. */
static histo_status take_list(int k, const char *text, random_problem *p)
{
    int given = 0;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        if (given == HISTO_MAX_AXES)
            return histo_fail(HISTO_INVALID, "%s=%s has more than %d values", keys[k].name, text, HISTO_MAX_AXES);
        if (!take_member(k, at, length, &p->axis[given++])) return fail_value(k, at, length);
        at += length;
        if (!*at) break;
    }
    if (given != 1 && given != p->axes)
        return histo_fail(HISTO_INVALID, "%s=%s has %d values for the axes, of which there are %d", keys[k].name, text,
                          given, p->axes);
    for (int a = given; a < p->axes; a++)
        take_member(k, text, strlen(text), &p->axis[a]);
    return HISTO_OK;
}

/* "zipf:1.25" */
static histo_status take_kind(int k, const char *text, random_problem *p)
{
    size_t length = strcspn(text, ":");
    int kind = find(kinds, text, length);
    const char *rest = text + length + (text[length] == ':');
    if (kind < 0) return fail_value(k, text, length);
    if (text[length] && !(take_number(rest, strlen(rest), &p->shape) && p->shape >= 0))
        return histo_fail(HISTO_INVALID, "dist=%s of a random problem needs a number behind the colon", text);
    p->kind = (problem_kind)kind;
    return HISTO_OK;
}

/* "f64:0.25" or "u8:0.5:64", or "none" */
static bool take_filter(const char *text, histo_dtype *type, double *fraction, int64_t *run)
{
    size_t length = strcspn(text, ":");
    const int chosen = find(types, text, length);
    if (strcmp(text, "none") == 0) return true;
    if (chosen < 0 || !text[length]) return false;
    *type = (histo_dtype)chosen;
    const char *number = text + length + 1, *behind = number + strcspn(number, ":");
    if (!take_fraction(number, (size_t)(behind - number), fraction)) return false;
    return !*behind || (run && take_whole(behind + 1, strlen(behind + 1), 1, INT64_C(1) << 40, run));
}

static histo_status take_value(int k, const char *text, random_problem *p)
{
    const size_t length = strlen(text);
    int64_t axes = 1;
    char *end;
    bool valid;
    if (keys[k].of_axis) return take_list(k, text, p);
    switch (keys[k].form) {
    case KIND:
        return take_kind(k, text, p);
    case MASK:
        valid = take_filter(text, &p->mask_type, &p->mask, &p->mask_run);
        break;
    case WHERE:
        valid = take_filter(text, &p->where_type, &p->where, NULL);
        break;
    case SEED:
        p->seed = strtoull(text, &end, 10);
        valid = *text >= '0' && *text <= '9' && !*end;
        break;
    case AXES:
        valid = take_whole(text, length, keys[k].min, keys[k].max, &axes);
        p->axes = (int)axes;
        break;
    default:
        valid = take_member(k, text, length, p);
    }
    return valid ? HISTO_OK : fail_value(k, text, length);
}

/* HISTO_INVALID if the numbers of the layout do not fit together. */
static histo_status check_layout(const random_problem *p)
{
    const double limit = 0x1p42;
    bool batched = p->layout >= PROBLEM_CHANNELS;
    if (!batched && p->batch != 1)
        return histo_fail(HISTO_INVALID, "layout=%s of a random problem has batch=1", layouts[p->layout]);
    if (p->layout == PROBLEM_SEGMENTS && p->height == 1) return HISTO_OK;
    if ((double)p->batch * (double)p->height > (double)p->samples || p->samples % (p->batch * p->height))
        return histo_fail(HISTO_INVALID, "n=%" PRId64 " of a random problem must be a multiple of batch times height",
                          p->samples);
    int64_t width = p->samples / p->batch / p->height;
    int64_t row = p->layout == PROBLEM_CHANNEL || p->layout == PROBLEM_CHANNELS ? width * p->channels : width;
    if (p->layout == PROBLEM_COLUMNS) row = p->batch;
    if (p->pitch && p->pitch < row)
        return histo_fail(HISTO_INVALID, "pitch=%" PRId64 " of a random problem is less than a row of %" PRId64,
                          p->pitch, row);
    if (p->layout == PROBLEM_CHANNELS && p->batch > p->channels)
        return histo_fail(HISTO_INVALID, "batch=%" PRId64 " of a random problem is more than its channels=%" PRId64,
                          p->batch, p->channels);
    if (p->layout == PROBLEM_TABLE && p->channels < p->axes)
        return histo_fail(HISTO_INVALID, "a table with %d axes needs channels=%d or more", p->axes, p->axes);
    if (p->layout == PROBLEM_STRIDED && p->stride == 0)
        return histo_fail(HISTO_INVALID, "stride=0 of a random problem would read one sample again and again");
    double wide = (double)(p->pitch > row ? p->pitch : row) * (double)p->height * (double)p->batch;
    if (wide * (double)p->channels > limit || (double)p->samples * (double)llabs(p->stride) > limit)
        return histo_fail(HISTO_INVALID, "the random problem needs more memory than there is: make n less");
    return HISTO_OK;
}

static histo_status check(random_problem *p)
{
    if (p->weighting == HISTO_UNWEIGHTED) p->weights = HISTO_F64;
    for (int a = 0; a < p->axes; a++) {
        problem_axis *axis = &p->axis[a];
        if (axis->kind == HISTO_INTEGER) axis->hi = axis->lo + (double)axis->bins;
        if (axis->kind != HISTO_VARIABLE || axis->hi > axis->lo) continue;
        return histo_fail(HISTO_INVALID, "lo of a random problem must be less than hi");
    }
    if (p->storage == HISTO_SPARSE && p->weighting)
        return histo_fail(HISTO_INVALID, "storage=sparse and weighting of a random problem exclude each other");
    return check_layout(p);
}

/* The key of the token at text, and the token's length up to its value. */
static histo_status find_key(const char *text, int *k, size_t *length)
{
    size_t name = strcspn(text, "= ,");
    for (int i = 0; i < KEYS && text[name] == '='; i++) {
        if (strlen(keys[i].name) != name || memcmp(keys[i].name, text, name) != 0) continue;
        *k = i;
        *length = name + 1;
        return HISTO_OK;
    }
    return histo_fail(HISTO_INVALID,
                      "a random problem has no '%.*s': its keys are n, type, axis, bins and others that 'histo bench "
                      "random --count 3' shows",
                      (int)(name < 40 ? name : 40), text);
}

histo_status problem_parse(const char *line, random_problem *p)
{
    const char *values[KEYS] = {NULL};
    char copy[PROBLEM_LINE_BYTES];
    *p = (random_problem){
        .axes = 1, .batch = 1, .height = 1, .channels = 1, .stride = 1, .mask = 1, .where = 1, .mask_run = 1};
    p->weights = HISTO_F64;
    if (strlen(line) >= sizeof copy) return histo_fail(HISTO_INVALID, "the line of a random problem is too long");
    strcpy(copy, line);
    for (char *rest, *token = strtok_r(copy, " \t\n", &rest); token; token = strtok_r(NULL, " \t\n", &rest)) {
        int k = 0;
        size_t length = 0;
        histo_status status = find_key(token, &k, &length);
        if (status != HISTO_OK) return status;
        if (values[k]) return histo_fail(HISTO_INVALID, "the random problem has %s twice", keys[k].name);
        values[k] = token + length;
    }
    histo_status status = HISTO_OK;
    for (int k = 0; k < KEYS; k++) /* first how many axes there are, for each of which others have a value */
        if (is_key(k, "axes") && values[k]) status = take_value(k, values[k], p);
    for (int k = 0; k < KEYS && status == HISTO_OK; k++)
        if (values[k]) status = take_value(k, values[k], p);
    for (int k = 0; k < KEYS && status == HISTO_OK; k++) /* a wrong value is told before a missing one */
        if (!*keys[k].usual && !values[k] && !is_key(k, "hi") && !is_key(k, "seed"))
            status = histo_fail(HISTO_INVALID, "the random problem has no %s=", keys[k].name);
    return status == HISTO_OK ? check(p) : status;
}

/* ---- Filters ---- */

/* An alternative of a condition: a name, a number, or a range of numbers "A..B" with open ends. */
typedef struct wanted {
    const char *text;
    size_t length;
    double min, max;
} wanted;

static histo_status take_alternative(int k, const char *text, size_t length, wanted *w)
{
    *w = (wanted){text, length, -HUGE_VAL, HUGE_VAL};
    if (keys[k].names) {
        bool none = length == 4 && memcmp(text, "none", 4) == 0;
        return none || find(keys[k].names, text, length) >= 0 ? HISTO_OK : fail_value(k, text, length);
    }
    size_t first = 0;
    while (first < length && strncmp(text + first, "..", 2) != 0)
        first++;
    const char *last = first < length ? text + first + 2 : text;
    size_t rest = length - (size_t)(last - text);
    bool valid = (first == 0 && last != text) || take_number(text, first, &w->min);
    valid = valid && ((rest == 0 && last != text) || take_number(last, rest, &w->max));
    return valid ? HISTO_OK : fail_value(k, text, length);
}

/* True if an element of the value, "u16,f32" or "zipf:1.25", is as wanted. */
static bool agrees(const wanted *w, int k, const char *value)
{
    for (const char *at = value;; at++) {
        size_t length = strcspn(at, ","), name = strcspn(at, ",:");
        double number;
        if (keys[k].names ? name == w->length && memcmp(at, w->text, name) == 0
                          : take_number(at, length, &number) && number >= w->min && number <= w->max)
            return true;
        at += length;
        if (!*at) return false;
    }
}

/* p is NULL to check the filter only. */
static histo_status evaluate(const random_problem *p, const char *filter, bool *matches)
{
    *matches = true;
    for (const char *at = filter; *at; at += *at == ',') {
        int k = 0;
        size_t length = 0;
        bool any = false;
        char value[VALUE_BYTES];
        histo_status status = find_key(at, &k, &length);
        if (status == HISTO_OK && p) put_value(value, p, k);
        for (at += length; status == HISTO_OK; at++) {
            wanted w;
            length = strcspn(at, "|,");
            status = take_alternative(k, at, length, &w);
            if (status == HISTO_OK && p) any = any || agrees(&w, k, value);
            at += length;
            if (*at != '|') break;
        }
        if (status != HISTO_OK) return status;
        *matches = *matches && any;
    }
    return HISTO_OK;
}

histo_status problem_filter_check(const char *filter)
{
    bool matches;
    return evaluate(NULL, filter, &matches);
}

bool problem_matches(const random_problem *p, const char *filter)
{
    bool matches;
    return evaluate(p, filter, &matches) == HISTO_OK && matches;
}
