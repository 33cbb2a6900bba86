#include "options/parse.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

int parse_naturals(const char *text, const char *dividers, int64_t *numbers, int most)
{
    for (int count = 0; count < most; text++) {
        size_t length = strcspn(text, dividers);
        char item[TEXT_NUMBER_BYTES];
        if (length >= sizeof item || !isdigit((unsigned char)*text)) return -1;
        memcpy(item, text, length);
        item[length] = '\0';
        if (!text_to_i64(item, &numbers[count++])) return -1;
        text += length;
        if (!*text) return count;
    }
    return -1;
}

int parse_whole(const char *option, const char *text, int64_t smallest, int64_t largest, int64_t *value, fault *f)
{
    if (text_to_i64(text, value) && *value >= smallest && *value <= largest) return 0;
    if (largest == INT64_MAX)
        return fault_set(f, EXIT_USAGE, "--%s takes a whole number, %" PRId64 " or more, not '%s'", option, smallest,
                         text);
    return fault_set(f, EXIT_USAGE, "--%s takes a whole number from %" PRId64 " to %" PRId64 ", not '%s'", option,
                     smallest, largest, text);
}

int parse_int(const char *option, const char *text, int64_t smallest, int64_t largest, int *value, fault *f)
{
    int64_t whole;
    if (parse_whole(option, text, smallest, largest, &whole, f) != 0) return -1;
    *value = (int)whole;
    return 0;
}

int parse_region(const char *option, const char *text, int64_t region[4], fault *f)
{
    int64_t right, bottom;
    if (parse_naturals(text, ",", region, 4) != 4)
        return fault_set(f, EXIT_USAGE,
                         "'%s' is not a region: --%s takes left, top, width and height in pixels, as in 100,50,640,480",
                         text, option);
    if (region[2] == 0 || region[3] == 0)
        return fault_set(f, EXIT_USAGE, "the region '%s' is empty: width and height of --%s must be 1 or more", text,
                         option);
    if (__builtin_add_overflow(region[0], region[2], &right) || __builtin_add_overflow(region[1], region[3], &bottom))
        return fault_set(f, EXIT_USAGE, "the region '%s' exceeds any page: make --%s fit the data", text, option);
    return 0;
}

int parse_choice(const char *option, const char *text, const char *words, fault *f)
{
    char list[256] = "";
    size_t used = 0;
    int which = 0;
    for (const char *word = words; *word; which++) {
        const size_t length = strcspn(word, " ");
        if (strlen(text) == length && strncmp(text, word, length) == 0) return which;
        const char *before = word == words ? "" : word[length] ? ", " : " or ";
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", before, (int)length, word);
        word += length + (word[length] == ' ');
    }
    return fault_set(f, EXIT_USAGE, "--%s is %s, not '%s'", option, list, text);
}
