/* Statuses and their messages. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <histo/histo.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Set this thread's message and return status, so that callers write `return histo_fail(…)`. */
histo_status histo_fail(histo_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* HISTO_IO, or HISTO_NO_MEMORY if errno says so. what: the operation that failed on the file, such as "cannot read
 * wisdom from". */
histo_status histo_fail_file(const char *what, const char *path, int error);

/* HISTO_INVALID: reserved bytes of the caller's struct, which is named in the message, are not zero. */
histo_status histo_fail_reserved(const char *name);

/* Whether all bytes are zero. Small fills check 64 bytes in a few instructions. */
static inline bool histo_are_zero(const void *bytes, size_t n)
{
    const unsigned char *of = (const unsigned char *)bytes;
    uint64_t any = 0, some;
    for (; n >= sizeof some; n -= sizeof some, of += sizeof some) {
        memcpy(&some, of, sizeof some);
        any |= some;
    }
    for (; n > 0; n--, of++)
        any |= *of;
    return !any;
}

/* HISTO_INVALID unless they are zero. */
static inline histo_status histo_check_reserved(const void *reserved, size_t bytes, const char *name)
{
    return histo_are_zero(reserved, bytes) ? HISTO_OK : histo_fail_reserved(name);
}

/* HISTO_NO_MEMORY, with a message that says how much was requested and for what. */
histo_status histo_fail_memory(size_t bytes, const char *what);

#ifdef __cplusplus
}
#endif

#endif
