/* Read and write numbers as in the "C" locale, whatever the application's is. */
#ifndef BASE_LOCALE_H
#define BASE_LOCALE_H

#include "base/error.h"

/* Make the "C" locale the thread's, and undo it. */
typedef struct histo_c_locale {
    void *plain, *before; /* of the system's type */
} histo_c_locale;
histo_status histo_c_locale_begin(histo_c_locale *locale);
void histo_c_locale_end(const histo_c_locale *locale);

#endif
