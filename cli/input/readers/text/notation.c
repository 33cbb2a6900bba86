#include "input/readers/text/notation.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_DIGITS = 320 };

/* A number taken apart. */
typedef struct number_parts {
    bool negative;
    const char *digits, *digits_end; /* with groups and the decimal separator */
    const char *exponent, *exponent_end;
    const char *before, *before_end; /* text before and after the digits */
    const char *behind, *behind_end;
} number_parts;

/* How a unit scales a number: times `factor` to the `power`, times ten to `tens`. */
typedef struct unit_entry {
    const char *name, *unit;
    int factor, power, tens;
    bool in_front; /* may precede the number */
    bool binary;   /* 1000 to some power, perhaps meant as 1024 */
} unit_entry;

static const unit_entry units[] = {
    {"%", "%", 1, 0, 0, false, false},          {"$", "$", 1, 0, 0, true, false},
    {"€", "€", 1, 0, 0, true, false},           {"£", "£", 1, 0, 0, true, false},
    {"¥", "¥", 1, 0, 0, true, false},           {"B", "bytes", 1, 0, 0, false, false},
    {"byte", "bytes", 1, 0, 0, false, false},   {"bytes", "bytes", 1, 0, 0, false, false},
    {"K", "bytes", 1024, 1, 0, false, true},    {"M", "bytes", 1024, 2, 0, false, true},
    {"G", "bytes", 1024, 3, 0, false, true},    {"T", "bytes", 1024, 4, 0, false, true},
    {"P", "bytes", 1024, 5, 0, false, true},    {"Ki", "bytes", 1024, 1, 0, false, false},
    {"Mi", "bytes", 1024, 2, 0, false, false},  {"Gi", "bytes", 1024, 3, 0, false, false},
    {"Ti", "bytes", 1024, 4, 0, false, false},  {"KiB", "bytes", 1024, 1, 0, false, false},
    {"MiB", "bytes", 1024, 2, 0, false, false}, {"GiB", "bytes", 1024, 3, 0, false, false},
    {"TiB", "bytes", 1024, 4, 0, false, false}, {"PiB", "bytes", 1024, 5, 0, false, false},
    {"kB", "bytes", 1, 0, 3, false, false},     {"KB", "bytes", 1, 0, 3, false, false},
    {"MB", "bytes", 1, 0, 6, false, false},     {"GB", "bytes", 1, 0, 9, false, false},
    {"TB", "bytes", 1, 0, 12, false, false},    {"PB", "bytes", 1, 0, 15, false, false},
    {"ns", "s", 1, 0, -9, false, false},        {"us", "s", 1, 0, -6, false, false},
    {"\xc2\xb5s", "s", 1, 0, -6, false, false}, /* micro sign, and Greek letter */
    {"\xce\xbcs", "s", 1, 0, -6, false, false}, {"ms", "s", 1, 0, -3, false, false},
    {"s", "s", 1, 0, 0, false, false},          {"sec", "s", 1, 0, 0, false, false},
    {"secs", "s", 1, 0, 0, false, false},       {"second", "s", 1, 0, 0, false, false},
    {"seconds", "s", 1, 0, 0, false, false},    {"min", "s", 60, 1, 0, false, false},
    {"mins", "s", 60, 1, 0, false, false},      {"minute", "s", 60, 1, 0, false, false},
    {"minutes", "s", 60, 1, 0, false, false},   {"h", "s", 3600, 1, 0, false, false},
    {"hr", "s", 3600, 1, 0, false, false},      {"hrs", "s", 3600, 1, 0, false, false},
    {"hour", "s", 3600, 1, 0, false, false},    {"hours", "s", 3600, 1, 0, false, false},
    {"d", "s", 86400, 1, 0, false, false},      {"day", "s", 86400, 1, 0, false, false},
    {"days", "s", 86400, 1, 0, false, false},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The length of a blank at p that may separate groups: a space, a no-break space, a narrow or a thin one; 0: none. */
static size_t blank_at(const char *p, const char *end)
{
    static const char *const blanks[] = {" ", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89"};
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++)
        if ((size_t)(end - p) >= strlen(blanks[i]) && memcmp(p, blanks[i], strlen(blanks[i])) == 0)
            return strlen(blanks[i]);
    return 0;
}

/* The length of a group separator at p. */
static size_t mark_at(const char *p, const char *end)
{
    const size_t blank = blank_at(p, end);
    return blank ? blank : p < end && strchr(",.'", *p) && *p ? 1 : 0;
}

static const char *skip_blanks(const char *p, const char *end)
{
    for (size_t blank; (blank = blank_at(p, end)) > 0;)
        p += blank;
    return p;
}

/* The end of the digits, and of the separators between them. */
static const char *digits_at(const char *p, const char *end)
{
    const char *last = p;
    while (p < end) {
        const size_t mark = is_digit(*p) ? 0 : mark_at(p, end);
        if (!is_digit(*p) && (mark == 0 || p + mark == end || !is_digit(p[mark]))) break;
        p += mark ? mark : 1;
        last = p;
    }
    if (last < end && *last == '.' && last > p - 1) last++; /* 5. */
    return last;
}

static const unit_entry *unit_named(const char *begin, const char *end)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].name) == (size_t)(end - begin) && memcmp(units[i].name, begin, (size_t)(end - begin)) == 0)
            return &units[i];
    return NULL;
}

static bool split(const char *p, const char *end, number_parts *parts)
{
    *parts = (number_parts){0};
    bool signed_yet = false;
    for (int turn = 0; turn < 2 && p < end; turn++) { /* -$5 and $-5 */
        if (!signed_yet && (*p == '-' || *p == '+')) {
            parts->negative = *p == '-';
            signed_yet = true;
            p++;
        } else if (!signed_yet && end - p > 3 && memcmp(p, "\xe2\x88\x92", 3) == 0) { /* the minus sign */
            parts->negative = signed_yet = true;
            p += 3;
        }
        if (turn == 0) {
            parts->before = p;
            while (p < end && !is_digit(*p) && *p != '-' && *p != '+' && *p != '.' && blank_at(p, end) == 0)
                p++;
            parts->before_end = p;
            p = skip_blanks(p, end);
        }
    }
    parts->digits = p;
    if (p < end && *p == '.') p++; /* .5 */
    if (p == end || !is_digit(*p)) return false;
    parts->digits_end = p = digits_at(p, end);
    parts->exponent = parts->exponent_end = p;
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char *q = p + 1;
        if (q < end && (*q == '-' || *q == '+')) q++;
        if (q < end && is_digit(*q)) {
            while (q < end && is_digit(*q))
                q++;
            parts->exponent_end = p = q;
        }
    }
    parts->behind = skip_blanks(p, end);
    parts->behind_end = end;
    return true;
}

/* The unit, which may be on one side only: false if there is anything else. */
static bool unit_of(const number_parts *parts, const unit_entry **unit)
{
    const bool before = parts->before_end > parts->before, behind = parts->behind_end > parts->behind;
    *unit = NULL;
    if (!before && !behind) return true;
    if (before && behind) return false;
    *unit = before ? unit_named(parts->before, parts->before_end) : unit_named(parts->behind, parts->behind_end);
    return *unit && (!before || (*unit)->in_front);
}

/* ---- Groups --------------------------------------------------------------------------------------------- */

/* What the separators between digits can be. */
typedef struct marks {
    int commas, points, others;
    bool comma_last, point_last; /* position of the last comma and point */
    bool in_groups;              /* before the decimal separator: one to three digits, then groups of three or, as in
                                  * India, groups of two before a last one of three */
    int last;                    /* digits after the last separator */
    int first;                   /* digits before the first separator */
    bool leads_zero;
} marks;

static marks marks_of(const number_parts *parts, char decimal)
{
    marks m = {.in_groups = true};
    int run = 0, groups = 0;
    bool fraction = false, twos = false;
    const char *end = parts->digits_end;
    m.leads_zero = *parts->digits == '0';
    for (const char *p = parts->digits; p < end;) {
        if (is_digit(*p)) {
            run++;
            p++;
            continue;
        }
        const bool first = groups == 0;
        if (first) m.first = run;
        if (fraction) m.in_groups = false;
        if (!fraction && (first ? run < 1 || run > 3 : run != 3 && run != 2)) m.in_groups = false;
        twos = twos || (!first && run == 2);
        if (*p == decimal && !fraction) {
            if (!first && run != 3) m.in_groups = false;
            if (first) m.in_groups = true;
            fraction = true;
        }
        m.commas += *p == ',';
        m.points += *p == '.';
        m.others += *p != ',' && *p != '.';
        m.comma_last = *p == ',' || (m.comma_last && *p != '.');
        m.point_last = *p == '.' || (m.point_last && *p != ',');
        p += mark_at(p, end);
        groups++;
        run = 0;
    }
    m.last = run;
    if (groups == 0) m.first = run;
    if (!fraction && groups > 0 && run != 3) m.in_groups = false;
    if ((twos && m.commas < 2) || (m.leads_zero && m.first > 1 && groups > fraction)) m.in_groups = false;
    return m;
}

/* ---- Reading -------------------------------------------------------------------------------------------- */

/* Digits and a power of ten. */
typedef struct decimal_number {
    char digits[MOST_DIGITS + 40]; /* with room for those from units */
    int count, tens;
} decimal_number;

/* Multiply by a small number, exactly. */
static void multiply(decimal_number *d, int factor)
{
    int carry = 0;
    for (int i = d->count - 1; i >= 0; i--) {
        const int product = (d->digits[i] - '0') * factor + carry;
        d->digits[i] = (char)('0' + product % 10);
        carry = product / 10;
    }
    char more[12];
    const int size = carry ? snprintf(more, sizeof more, "%d", carry) : 0;
    memmove(d->digits + size, d->digits, (size_t)d->count);
    memcpy(d->digits, more, (size_t)size);
    d->count += size;
}

static bool take_digits(const number_parts *parts, char decimal, decimal_number *d)
{
    bool fraction = false;
    d->count = d->tens = 0;
    for (const char *p = parts->digits; p < parts->digits_end;) {
        if (is_digit(*p)) {
            if (d->count == MOST_DIGITS) return false;
            d->digits[d->count++] = *p++;
            d->tens -= fraction;
            continue;
        }
        fraction = fraction || *p == decimal;
        p += mark_at(p, parts->digits_end);
    }
    int exponent = 0;
    if (parts->exponent_end > parts->exponent && sscanf(parts->exponent + 1, "%6d", &exponent) != 1) return false;
    d->tens += exponent;
    return true;
}

static bool read_parts(const notation *n, const number_parts *parts, const unit_entry *unit, plain_number *number)
{
    decimal_number d;
    const marks m = marks_of(parts, n->decimal);
    const int decimals = n->decimal == ',' ? m.commas : m.points, marks_all = m.commas + m.points + m.others;
    if (decimals > 1 || (marks_all > decimals && (!n->groups || !m.in_groups))) return false;
    if (!take_digits(parts, n->decimal, &d)) return false;
    for (int i = 0; unit && i < unit->power; i++)
        multiply(&d, unit->factor);
    d.tens += unit ? unit->tens : 0;
    for (; d.tens > 0 && d.count < 40; d.tens--) /* integers are read exactly */
        d.digits[d.count++] = '0';
    for (; d.tens < 0 && d.count > 1 && d.digits[d.count - 1] == '0'; d.tens++)
        d.count--;
    const int size =
        d.tens ? snprintf(number->text, sizeof number->text, "%s%.*se%d\n", parts->negative ? "-" : "", d.count,
                          d.digits, d.tens)
               : snprintf(number->text, sizeof number->text, "%s%.*s\n", parts->negative ? "-" : "", d.count, d.digits);
    number->size = (size_t)size - 1; /* without the newline that stops parsers */
    return true;
}

static bool is_zero(const plain_number *number)
{
    const char *p = number->text;
    while (*p == '-' || *p == '0')
        p++;
    return !is_digit(*p);
}

bool notation_read(const notation *n, const char *begin, const char *end, plain_number *number)
{
    number_parts parts;
    const unit_entry *unit;
    if (!notation_find(n, &begin, &end) || !split(begin, end, &parts) || !unit_of(&parts, &unit)) return false;
    if (unit && (!n->unit || strcmp(unit->unit, n->unit) != 0)) return false;
    if (!read_parts(n, &parts, unit, number)) return false;
    /* Among numbers with units, one without is in bytes, as ls writes them, or 0. */
    return unit || !n->unit || strcmp(n->unit, "bytes") == 0 || is_zero(number);
}

/* The end of the number after a match, including a known unit. */
static const char *number_end(const char *begin, const char *end)
{
    number_parts parts;
    const char *p = begin;
    while (p < end && !is_digit(*p) && p - begin < 8) /* a sign, and a currency symbol */
        p++;
    if (p == end || !is_digit(*p)) return NULL;
    p = digits_at(p, end);
    if (p < end && (*p == 'e' || *p == 'E') && split(begin, end, &parts)) p = parts.exponent_end;
    const char *word = skip_blanks(p, end), *word_end = word;
    while (word_end < end && ((unsigned char)*word_end >= 0x80 || *word_end == '%' || is_letter(*word_end)))
        word_end++;
    if (word_end > word && unit_named(word, word_end)) return word_end;
    return word == p && word_end > word ? NULL : p; /* 5th is not a number */
}

/* Search a copy of the text, which ends with a NUL. */
static bool search(const regex_t *pattern, const char *text, size_t size, regmatch_t match[2])
{
    char room[1024], *copy = size < sizeof room ? room : malloc(size + 1);
    if (!copy) return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    const bool found = regexec(pattern, copy, 2, match, 0) == 0;
    if (copy != room) free(copy);
    return found;
}

bool notation_find(const notation *n, const char **begin, const char **end)
{
    if (!n->within) return true;
    regmatch_t match[2];
    if (!search(n->within, *begin, (size_t)(*end - *begin), match)) return false;
    const char *text = *begin;
    if (match[1].rm_so >= 0) {
        *begin = text + match[1].rm_so;
        *end = text + match[1].rm_eo;
        return true;
    }
    *begin = skip_blanks(text + match[0].rm_eo, *end);
    const char *number = number_end(*begin, *end);
    if (number) *end = number;
    return number;
}

/* ---- Deciding ------------------------------------------------------------------------------------------- */

bool notation_look(notation_evidence *e, char given, const char *begin, const char *end)
{
    number_parts parts;
    const unit_entry *unit;
    plain_number number;
    if (!split(begin, end, &parts) || !unit_of(&parts, &unit)) return false;
    const marks with_point = marks_of(&parts, '.'), with_comma = marks_of(&parts, ',');
    const bool point_reads = with_point.points <= 1 && with_point.in_groups;
    const bool comma_reads = with_comma.commas <= 1 && with_comma.in_groups;
    const bool plain_groups = with_point.others > 0 && !with_point.commas && !with_point.points;
    if (given != ',' && with_point.points > 1) return false; /* as in addresses */
    if (!(given == ',' ? comma_reads : given == '.' ? point_reads : point_reads || comma_reads)) return false;
    if (unit && e->unit && strcmp(unit->unit, e->unit) != 0) e->units_differ = true;
    e->with_unit += unit != NULL;
    if (unit && !e->unit) e->unit = unit->unit;
    e->binary = e->binary || (unit && unit->binary);
    const notation any = {.decimal = comma_reads && !point_reads ? ',' : '.', .groups = true};
    if (!unit && read_parts(&any, &parts, NULL, &number) && !is_zero(&number)) e->bare++;
    if (plain_groups) {
        e->groups = true;
    } else if (with_point.commas) {
        const bool zero = with_point.leads_zero && with_point.first == 1;
        if (point_reads && comma_reads && !zero)
            e->either = true;
        else if (point_reads && !zero)
            e->groups = true;
        else
            e->comma = true;
    } else if (with_point.points == 1 && (with_point.last != 3 || with_point.first > 3 || with_point.leads_zero)) {
        e->point = true;
    }
    return true;
}

bool notation_is_open(const notation_evidence *e, char given)
{
    return !given && e->either && !e->groups && !e->point && !e->comma;
}

bool notation_decide(const notation_evidence *e, char given, notation *n)
{
    const bool bytes = e->unit && strcmp(e->unit, "bytes") == 0;
    *n = (notation){.decimal = given ? given : '.',
                    .groups = given || e->groups,
                    .unit = bytes || e->with_unit >= e->bare ? e->unit : NULL};
    if (given) return true;
    if (e->comma) return false;
    /* 1,234 is grouped only if other cells show what the comma is, or what the point is. */
    if (notation_is_open(e, given)) return false;
    n->groups = n->groups || e->either;
    return true;
}
