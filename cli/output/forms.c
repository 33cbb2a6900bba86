#define _GNU_SOURCE
#include "output/forms.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/rows.h"
#include "output/saved/json_members.h"

bool forms_any(const result *r, int i)
{
    bool any = false;
    for (int a = 0; a < HISTO_MAX_AXES; a++)
        any = any || r->series[i].forms[a].kind != VALUES_NUMBERS || r->series[i].forms[a].characters;
    return any;
}

static void put_form(const axis_form *form, FILE *out)
{
    if (form->kind == VALUES_TIMES) fputs(", \"values\": \"times\"", out);
    if (form->characters) fputs(", \"values\": \"characters\"", out);
    if (!form->names) return;
    fputs(", \"names\": [", out);
    for (int64_t b = 0; b < form->names->count; b++) {
        if (b) putc(',', out);
        rows_put_json_string(out, form->names->text[b]);
    }
    fprintf(out, "], \"others\": %" PRId64, form->names->others);
}

/* Inserted after the kind of each axis, which the library writes. */
char *forms_in_json(const result *r, int i, const char *data, size_t *size)
{
    static const char axes[] = "\"axes\": [", kind[] = "\"writer_info\": {\"histo\": {\"kind\": \"";
    const char *at = data, *end = data + *size, *rest = memmem(data, *size, axes, sizeof axes - 1);
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (!out) return NULL;
    for (int a = 0; rest && a < histo_hist_naxes(r->series[i].hist); a++) {
        rest = memmem(rest, (size_t)(end - rest), kind, sizeof kind - 1);
        const char *quote = rest ? strchr(rest + sizeof kind - 1, '"') : NULL;
        if (!quote) break;
        fwrite(at, 1, (size_t)(quote + 1 - at), out);
        put_form(&r->series[i].forms[a], out);
        rest = at = quote + 1;
    }
    fwrite(at, 1, (size_t)(end - at), out);
    return fclose(out) == 0 ? text : NULL;
}

/* ---- From JSON ------------------------------------------------------------------------------------------ */

/* The value of a member of the object text[0 … size): false if it is missing. */
static bool find(const char *text, size_t size, const char *name, const char **value, size_t *bytes)
{
    bool found = false;
    for (saved_member m = {0}; !found && next_member(text, size, &m);) {
        found = m.name && strcmp(m.name, name) == 0;
        free(m.name);
        *value = text + m.value;
        *bytes = m.end - m.value;
    }
    return found;
}

/* The next element of an array, after *at, initially 0: false at the end. */
static bool next_element(const char *text, size_t size, size_t *at, const char **value, size_t *bytes)
{
    size_t begin = *at + 1;
    begin += strspn(text + begin, " \t\r\n");
    if (*at >= size || begin >= size || text[begin] == ']') return false;
    *at = member_value_end(text, size, begin);
    *value = text + begin;
    *bytes = *at - begin;
    return true;
}

/* A list of strings; NULL if there is none, or memory runs out. */
static bin_names *read_names(const char *list, size_t size)
{
    const char *text;
    size_t bytes, at = 0;
    int64_t count = 0;
    while (next_element(list, size, &at, &text, &bytes))
        count++;
    bin_names *names = bin_names_make(count);
    if (!names) return NULL;
    at = 0;
    for (int64_t b = 0; b < count && next_element(list, size, &at, &text, &bytes); b++) {
        const char *quote = *text == '"' ? memrchr(text, '"', bytes) : NULL;
        names->text[b] = quote && quote > text ? member_decode(text + 1, quote) : NULL;
        if (names->text[b]) continue;
        bin_names_free(names);
        return NULL;
    }
    return names;
}

/* Whether the edges are bytes, as they must be for characters, whatever a file says. */
static bool holds_bytes(const histo_hist *hist)
{
    const histo_axis axis = histo_hist_axis(hist, 0);
    return histo_hist_naxes(hist) == 1 && axis.lo >= 0 && axis.hi <= 256 && axis.bins <= 256;
}

static bool is_word(const char *value, size_t bytes, const char *word)
{
    return bytes > strlen(word) + 1 && *value == '"' && strncmp(value + 1, word, strlen(word)) == 0 &&
           value[strlen(word) + 1] == '"';
}

/* Take the names of the bins of an axis from a list. */
static int take_list(series *to, int a, const char *list, size_t bytes, const char *path, fault *f)
{
    bin_names *names = read_names(list, bytes);
    if (!names || names->count != histo_hist_axis(to->hist, a).bins) {
        bin_names_free(names);
        return fault_set(f, EXIT_DATA, "%s: the names of an axis are damaged", path);
    }
    bin_names_free(to->forms[a].names);
    to->forms[a] = (axis_form){.kind = VALUES_WORDS, .names = names};
    return 0;
}

int forms_from_json(result *r, const char *text, size_t size, const char *path, fault *f)
{
    const char *axes, *axis, *info, *ours, *value;
    size_t axes_bytes, axis_bytes, info_bytes, our_bytes, bytes, at = 0;
    series *to = &r->series[r->count - 1];
    if (!find(text, size, "axes", &axes, &axes_bytes)) return 0;
    for (int a = 0; a < histo_hist_naxes(to->hist) && next_element(axes, axes_bytes, &at, &axis, &axis_bytes); a++) {
        if (find(axis, axis_bytes, "type", &value, &bytes) && is_word(value, bytes, "category_str") &&
            find(axis, axis_bytes, "categories", &value, &bytes) && take_list(to, a, value, bytes, path, f) != 0)
            return -1;
        if (!find(axis, axis_bytes, "writer_info", &info, &info_bytes) ||
            !find(info, info_bytes, "histo", &ours, &our_bytes))
            continue;
        if (a == 0 && find(ours, our_bytes, "kind", &value, &bytes) && is_word(value, bytes, "batch")) {
            a--; /* the axis of a batch precedes all others */
            continue;
        }
        if (find(ours, our_bytes, "values", &value, &bytes)) {
            if (is_word(value, bytes, "times")) to->forms[a].kind = VALUES_TIMES;
            to->forms[a].characters = is_word(value, bytes, "characters") && holds_bytes(to->hist);
        }
        if (!find(ours, our_bytes, "names", &value, &bytes)) continue;
        if (take_list(to, a, value, bytes, path, f) != 0) return -1;
        if (find(ours, our_bytes, "others", &value, &bytes)) to->forms[a].names->others = strtoll(value, NULL, 10);
    }
    return 0;
}

/* ---- In sets -------------------------------------------------------------------------------------------- */

void forms_put(const result *r, int i, FILE *out)
{
    for (int a = 0; a < HISTO_MAX_AXES; a++) {
        const axis_form *form = &r->series[i].forms[a];
        if (form->kind == VALUES_TIMES) fprintf(out, "times %d\n", a);
        if (form->characters) fprintf(out, "characters %d\n", a);
        if (!form->names) continue;
        size_t bytes = 0;
        for (int64_t b = 0; b < form->names->count; b++)
            bytes += strlen(form->names->text[b]) + 1;
        fprintf(out, "words %d %" PRId64 " %" PRId64 " %zu\n", a, form->names->count, form->names->others, bytes);
        for (int64_t b = 0; b < form->names->count; b++)
            fwrite(form->names->text[b], 1, strlen(form->names->text[b]) + 1, out);
    }
}

static bin_names *take_names(int64_t count, int64_t others, const char *data, size_t bytes)
{
    bin_names *names = count > 0 && (uint64_t)count <= bytes ? bin_names_make(count) : NULL;
    const char *end = data + bytes;
    for (int64_t b = 0; b < count && names; b++) {
        const char *nul = memchr(data, '\0', (size_t)(end - data));
        if (nul) names->text[b] = strdup(data);
        if (!nul || !names->text[b]) {
            bin_names_free(names);
            return NULL;
        }
        data = nul + 1;
    }
    if (names) names->others = others;
    return names;
}

int forms_take(saved_forms *to, const char *line, const char *data, size_t size, size_t *at)
{
    int a;
    int64_t count, others;
    size_t bytes;
    if (sscanf(line, "times %d", &a) == 1) {
        if (a < 0 || a >= HISTO_MAX_AXES) return -1;
        to->of[a].kind = VALUES_TIMES;
        return 1;
    }
    if (sscanf(line, "characters %d", &a) == 1) {
        if (a != 0) return -1;
        to->of[a].characters = true;
        return 1;
    }
    if (sscanf(line, "words %d %" SCNd64 " %" SCNd64 " %zu", &a, &count, &others, &bytes) != 4) return 0;
    bin_names *names = a >= 0 && a < HISTO_MAX_AXES && bytes <= size - *at && !to->of[a].names
                           ? take_names(count, others, data + *at, bytes)
                           : NULL;
    if (!names) {
        forms_free(to);
        return -1;
    }
    to->of[a] = (axis_form){.kind = VALUES_WORDS, .names = names};
    *at += bytes;
    return 1;
}

bool forms_give(saved_forms *from, result *r)
{
    series *to = &r->series[r->count - 1];
    bool fits = true;
    for (int a = 0; a < HISTO_MAX_AXES; a++)
        fits = fits && (!from->of[a].names || (a < histo_hist_naxes(to->hist) &&
                                               from->of[a].names->count == histo_hist_axis(to->hist, a).bins));
    fits = fits && (!from->of[0].characters || holds_bytes(to->hist));
    if (fits)
        memcpy(to->forms, from->of, sizeof to->forms);
    else
        forms_free(from);
    *from = (saved_forms){0};
    return fits;
}

void forms_free(saved_forms *forms)
{
    for (int a = 0; a < HISTO_MAX_AXES; a++)
        bin_names_free(forms->of[a].names);
    *forms = (saved_forms){0};
}
