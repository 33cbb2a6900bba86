/* Read and write numbers as in the "C" locale, whatever the application's locale. */
#ifndef BASE_LOCALE_H
#define BASE_LOCALE_H

#include "base/error.h"

/* Switch this thread to the "C" locale, and back. */
typedef struct histo_c_locale {
    void *plain, *before; /* locale_t on POSIX; Windows stores other values */
} histo_c_locale;
histo_status histo_c_locale_begin(histo_c_locale *locale);
void histo_c_locale_end(const histo_c_locale *locale);

#endif
