#define _GNU_SOURCE
#include "cuda/host/driver.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

static int first_of(struct dl_phdr_info *first, size_t size, void *loads)
{
    (void)size;
    *(unsigned long long *)loads = first->dlpi_adds;
    return 1;
}

/* How many libraries this process has loaded so far. */
static unsigned long long libraries_loaded(void)
{
    unsigned long long loads = 0;
    dl_iterate_phdr(first_of, &loads);
    return loads;
}

/* Looking for the driver takes file accesses, so that is done again only after other libraries were loaded. */
bool histo_driver_is_loaded(void)
{
    static int known;
    static unsigned long long missing_at;
    if (__atomic_load_n(&known, __ATOMIC_RELAXED)) return true;
    const unsigned long long loads = libraries_loaded();
    if (loads == __atomic_load_n(&missing_at, __ATOMIC_RELAXED)) return false;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!driver) {
        __atomic_store_n(&missing_at, loads, __ATOMIC_RELAXED);
        return false;
    }
    dlclose(driver);
    __atomic_store_n(&known, 1, __ATOMIC_RELAXED);
    return true;
}
