/* locale.h on POSIX systems. */
#include "base/locale.h"

#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

histo_status histo_c_locale_begin(histo_c_locale *locale)
{
    locale->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!locale->plain) return histo_fail(HISTO_NO_MEMORY, "out of memory: the C locale");
    locale->before = uselocale(locale->plain);
    return HISTO_OK;
}

void histo_c_locale_end(const histo_c_locale *locale)
{
    uselocale(locale->before);
    freelocale(locale->plain);
}
