/* The name and metadata of histograms. */
#include <string.h>

#include "base/memory.h"
#include "counts/hist.h"
#include "counts/saved/json.h"

histo_status histo_check_name(const char *name)
{
    const size_t size = strlen(name);
    if (size == 0) return histo_fail(HISTO_INVALID, "name is empty: give NULL for none");
    if (size > HISTO_MAX_NAME)
        return histo_fail(HISTO_INVALID, "name has %zu bytes, and may have %d", size, HISTO_MAX_NAME);
    if (strcmp(name, "uhi_schema") == 0)
        return histo_fail(HISTO_INVALID, "name is uhi_schema, which readers of JSON take for a key");
    for (size_t at = 0; at < size;) {
        const size_t length = histo_json_character(name + at, size - at);
        if (length == 0) return histo_fail(HISTO_INVALID, "name is not UTF-8 from byte %zu on", at);
        at += length;
    }
    return HISTO_OK;
}

/* Metadata are saved within the object of a histogram, which is nested in that of the document. */
static histo_status check_metadata(const char *json)
{
    histo_pace pace = {.stage = "checking JSON"};
    const histo_json doc = {.text = json, .size = strlen(json), .within = 2, .pace = &pace};
    if (doc.size > HISTO_MAX_METADATA)
        return histo_fail(HISTO_INVALID, "json has %zu bytes, and may have %d", doc.size, HISTO_MAX_METADATA);
    if (json[histo_json_root(&doc)] != '{') return histo_fail(HISTO_INVALID, "json is not the text of a JSON object");
    const histo_status status = histo_json_check(&doc);
    if (status != HISTO_CORRUPT) return status;
    char why[256];
    strncpy(why, histo_last_error(), sizeof why - 1);
    why[sizeof why - 1] = '\0';
    return histo_fail(HISTO_INVALID, "json is not the text of a JSON object: %s", why);
}

/* Replace a text by a copy of another, or by none. */
static histo_status replace(char **text, const char *by)
{
    char *copy = NULL;
    if (by) {
        const size_t bytes = strlen(by) + 1;
        copy = histo_malloc(bytes);
        if (!copy) return histo_fail_memory(bytes, "the name or the metadata of a histogram");
        memcpy(copy, by, bytes);
    }
    histo_free(*text);
    *text = copy;
    return HISTO_OK;
}

histo_status histo_hist_set_name(histo_hist *hist, const char *name)
{
    if (!hist) return histo_fail(HISTO_INVALID, "hist is NULL");
    const histo_status status = name ? histo_check_name(name) : HISTO_OK;
    return status == HISTO_OK ? replace(&hist->name, name) : status;
}

histo_status histo_hist_set_metadata(histo_hist *hist, const char *json)
{
    if (!hist) return histo_fail(HISTO_INVALID, "hist is NULL");
    const histo_status status = json ? check_metadata(json) : HISTO_OK;
    return status == HISTO_OK ? replace(&hist->metadata, json) : status;
}

const char *histo_hist_name(const histo_hist *hist)
{
    return hist ? hist->name : NULL;
}

const char *histo_hist_metadata(const histo_hist *hist)
{
    return hist ? hist->metadata : NULL;
}

histo_status histo_hist_copy_texts(histo_hist *to, const histo_hist *from)
{
    const histo_status status = replace(&to->name, from->name);
    return status == HISTO_OK ? replace(&to->metadata, from->metadata) : status;
}
