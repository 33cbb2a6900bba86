#include "input/readers/arrays/column_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/times.h"

/* The bytes of a stored string; UCS-4 is converted into `room`. */
static const char *find_string(const stored_string *s, const char *at, char *room, size_t *size)
{
    const char *text = at;
    *size = (size_t)s->bytes;
    if (s->kind == STRING_POINTER) {
        memcpy(&text, at, sizeof text);
        *size = text ? strlen(text) : 0;
    } else if (s->kind == STRING_UCS4) {
        *size = 0;
        for (int64_t i = 0; i + 4 <= s->bytes; i += 4) {
            uint32_t c;
            memcpy(&c, at + i, sizeof c);
            if (s->swapped) c = __builtin_bswap32(c);
            const bool is_character = c < 0xd800 || (c > 0xdfff && c < 0x110000);
            *size = (size_t)(text_put_utf8(room + *size, is_character ? c : '?') - room);
        }
        text = room;
    } else if (s->ends) {
        *size = strnlen(text, *size);
    }
    while (*size > 0 && (text[*size - 1] == '\0' || (s->blanks && text[*size - 1] == ' ')))
        (*size)--;
    return text;
}

/* A number as text; 0 bytes: NaN. */
static size_t put_number(const table_column *c, const char *at, histo_dtype dtype, char text[TIME_TEXT_BYTES])
{
    const unpack_number n = unpack_load(at, dtype);
    const bool is_float = dtype >= HISTO_F16;
    const bool is_signed = dtype == HISTO_I8 || dtype == HISTO_I16 || dtype == HISTO_I32 || dtype == HISTO_I64;
    const time_epoch *e = &c->rule.epoch;
    double us = is_float ? n.f : is_signed ? (double)n.i : (double)n.u, beyond;
    const histo_view one = {.data = at, .dtype = dtype, .ndim = 2, .shape = {1, 1}};
    if (is_float && isnan(n.f)) return 0;
    if (c->boolean)
        strcpy(text, n.u ? "true" : "false");
    else if (e->units && !e->span && epoch_times(&one, NULL, e, &us, &beyond))
        time_text((int64_t)us, time_digits_of((int64_t)us, TIME_DAYS), text);
    else if (is_float)
        text_exact(n.f, text);
    else
        snprintf(text, TIME_TEXT_BYTES, is_signed ? "%" PRId64 : "%" PRIu64, n.i);
    return strlen(text);
}

int column_words_make(const table_column *c, const histo_view *v, const histo_view *v_valid, dictionary *words,
                      uint32_t *codes, unsigned char *valid, const char *subject, fault *f)
{
    char name[320], number[TIME_TEXT_BYTES], *room = NULL;
    int failed = 0;
    if (c->string.kind == STRING_UCS4 && !(room = malloc((size_t)c->string.bytes + 1)))
        return fault_set(f, EXIT_DATA, "no memory to read %s", subject);
    for (int64_t y = 0; y < v->shape[0] && !failed; y++)
        for (int64_t x = 0; x < v->shape[1] && !failed; x++, codes++, valid++) {
            const char *at = (const char *)v->data + y * v->strides[0] + x * v->strides[1];
            size_t size = 0;
            const char *text = number;
            *codes = 0;
            *valid = !v_valid || !v_valid->data ||
                     ((const char *)v_valid->data)[y * v_valid->strides[0] + x * v_valid->strides[1]];
            if (*valid && c->string.kind) text = find_string(&c->string, at, room, &size);
            if (*valid && !c->string.kind) size = put_number(c, at, v->dtype, number);
            *valid = size > 0;
            if (*valid && dictionary_code(words, text, size, codes) != 0) {
                snprintf(name, sizeof name, "%.150s, %.150s", subject, c->name);
                failed = dictionary_fault(words, name, f);
            }
        }
    free(room);
    return failed;
}

int column_words_check(const table_column *c, const channel_form *as, const char *subject, fault *f)
{
    if (c->what || (c->string.kind && as->kind != VALUES_WORDS))
        return fault_set(f, EXIT_DATA, "%s: column %.80s holds %s, not plain numbers: choose another with --column",
                         subject, c->name, c->what ? c->what : "strings");
    if (as->kind == VALUES_WORDS || as->kind == VALUES_NUMBERS) return 0;
    return fault_set(f, EXIT_DATA, "%s: column %.80s holds numbers, not dates as text", subject, c->name);
}

int word_maker_band(word_maker *w, const column_table *columns, selection *s, band *b, const char *subject, fault *f)
{
    const size_t samples = (size_t)(b->rows * b->cols);
    const int64_t shape[] = {b->rows, b->cols};
    size_t made = 0;
    for (int i = 0; s->forms && i < s->count; i++)
        made += s->forms[i].kind == VALUES_WORDS;
    if (!made) return 0;
    histo_view *valid = realloc(w->valid, (size_t)s->count * sizeof *valid);
    if (valid) w->valid = valid;
    if (!valid || !scratch_reserve(&w->room, made * samples * (sizeof(uint32_t) + 1)))
        return fault_set(f, EXIT_DATA, "no memory to read %s", subject);
    uint32_t *codes = (uint32_t *)(void *)w->room.data;
    unsigned char *marks = w->room.data + made * samples * sizeof *codes;
    bool missing = b->valid;
    for (int i = 0; i < s->count; i++) {
        histo_view *v = &b->views[i];
        valid[i] = b->valid ? b->valid[i] : (histo_view){0};
        if (s->forms[i].kind != VALUES_WORDS) continue;
        if (column_words_make(&columns->column[s->wanted[i]], v, &valid[i], s->forms[i].words, codes, marks, subject,
                              f) != 0)
            return -1;
        *v = histo_view_nd(codes, HISTO_U32, 2, shape);
        valid[i] = histo_view_nd(marks, HISTO_U8, 2, shape);
        missing = missing || memchr(marks, 0, samples);
        codes += samples;
        marks += samples;
    }
    if (missing) b->valid = valid;
    return 0;
}

void word_maker_free(word_maker *w)
{
    free(w->room.data);
    free(w->valid);
    *w = (word_maker){0};
}
