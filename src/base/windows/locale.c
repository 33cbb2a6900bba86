/* locale.h on Windows. */
#include "base/locale.h"

#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* `plain` stores whether the thread had a locale of its own, `before` the name of its locale. */
histo_status histo_c_locale_begin(histo_c_locale *locale)
{
    locale->plain = (void *)(intptr_t)_configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
    locale->before = _strdup(setlocale(LC_ALL, NULL));
    if (!locale->before) {
        _configthreadlocale((int)(intptr_t)locale->plain);
        return histo_fail(HISTO_NO_MEMORY, "out of memory: the C locale");
    }
    setlocale(LC_ALL, "C");
    return HISTO_OK;
}

void histo_c_locale_end(const histo_c_locale *locale)
{
    setlocale(LC_ALL, locale->before);
    free(locale->before);
    _configthreadlocale((int)(intptr_t)locale->plain);
}
