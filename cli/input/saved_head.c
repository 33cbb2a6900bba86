#define _GNU_SOURCE
#include "input/saved_head.h"

#include <string.h>

static bool begins_with(const char *data, size_t size, const char *magic)
{
    return size >= strlen(magic) && memcmp(data, magic, strlen(magic)) == 0;
}

bool saved_is_set(const char *data, size_t size)
{
    return begins_with(data, size, SAVED_SET_MAGIC);
}

bool saved_is_binary(const char *data, size_t size)
{
    return begins_with(data, size, "\x93HISTO\r\n");
}

bool saved_is_object(const char *data, size_t size)
{
    size_t at = 0;
    while (at < size && strchr(" \t\r\n", data[at]) && data[at])
        at++;
    return at < size && data[at] == '{';
}

bool saved_begins(const char *head, size_t size)
{
    return saved_is_set(head, size) || saved_is_binary(head, size) ||
           (saved_is_object(head, size) && memmem(head, size, "\"uhi_schema\"", 12));
}
