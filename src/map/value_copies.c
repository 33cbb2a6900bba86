/* Where a map's values are. Host memory always has room for them. A device has them once they were made or applied
 * there; host memory fetches them when they are read, and gives them to a device that applies them. */
#include "base/error.h"
#include "counts/hist.h"
#include "map/map.h"
#include "map/moments_cache.h"
#include "plan/strategy.h"

histo_mapping histo_map_mapping(const histo_map *map)
{
    return (histo_mapping){map->naxes, map->axes, map->within, map->batch, map->length};
}

void histo_map_leave_devices(const histo_map *map)
{
    if (!map->copies) return;
    for (histo_device_map *copy = map->copies->on_devices, *next; copy; copy = next) {
        next = copy->next;
        copy->backend->maps->free(copy);
    }
    map->copies->on_devices = NULL;
}

histo_status histo_map_fetch(const histo_map *map)
{
    const histo_map_copies *copies = map->copies;
    histo_device_map *from = NULL;
    for (histo_device_map *copy = copies->on_devices; copy; copy = copy->next)
        if (copy->current && (copy->captured || !copies->on_host)) from = copy;
    if (!from) return HISTO_OK;
    const histo_mapping mapping = histo_map_mapping(map);
    histo_moments_cache_clear(map);
    histo_status status = from->backend->maps->fetch(from, &mapping, map->values);
    if (status == HISTO_OK) map->copies->on_host = true;
    return status;
}

void histo_map_changed(const histo_map *map)
{
    histo_moments_cache_clear(map);
    map->copies->on_host = true;
    for (histo_device_map *copy = map->copies->on_devices; copy; copy = copy->next)
        copy->current = false;
}

/* The map's place on a device, whose values need not be current; made if missing. */
static histo_status copy_on(const histo_map *map, histo_device device, histo_device_map **copy)
{
    for (*copy = map->copies->on_devices; *copy; *copy = (*copy)->next)
        if ((*copy)->device == device) return HISTO_OK;
    const histo_mapping mapping = histo_map_mapping(map);
    histo_status status = histo_backend_of(device)->maps->create(&mapping, device, copy);
    if (status != HISTO_OK) return status;
    (*copy)->next = map->copies->on_devices;
    map->copies->on_devices = *copy;
    return HISTO_OK;
}

histo_status histo_map_on(const histo_map *map, histo_device device, void *stream, histo_device_map **copy)
{
    const histo_backend *backend = histo_backend_of(device);
    for (*copy = map->copies->on_devices; *copy; *copy = (*copy)->next)
        if ((*copy)->device == device && (*copy)->current) return HISTO_OK;
    if (backend->capturing(stream))
        return histo_fail(HISTO_UNSUPPORTED,
                          "make the map on this GPU, or apply it there, before that is captured into a graph");
    histo_status status = histo_map_fetch(map);
    if (status == HISTO_OK) status = copy_on(map, device, copy);
    const histo_mapping mapping = histo_map_mapping(map);
    if (status == HISTO_OK) status = (*copy)->backend->maps->send(*copy, &mapping, map->values, stream);
    if (status == HISTO_OK) (*copy)->current = true;
    return status;
}

static histo_status make_on(const histo_map *map, histo_device device, const histo_making *making)
{
    const histo_backend *backend = histo_backend_of(device);
    const bool capturing = backend->capturing(making->options.stream);
    histo_device_map *copy;
    for (copy = map->copies->on_devices; copy && copy->device != device;)
        copy = copy->next;
    if (!copy && capturing)
        return histo_fail(HISTO_UNSUPPORTED, "make the map on this GPU once before that is captured into a graph");
    const histo_mapping mapping = histo_map_mapping(map);
    histo_status status = copy_on(map, device, &copy);
    if (status == HISTO_OK) status = copy->backend->maps->make(copy, &mapping, making);
    if (status != HISTO_OK) return status;
    histo_map_changed(map);
    map->copies->on_host = false;
    copy->current = true;
    copy->captured = copy->captured || capturing;
    return HISTO_OK;
}

histo_status histo_map_make_there(const histo_map *map, const histo_hist *hist, const histo_hist *other,
                                  const histo_making *making, bool *made)
{
    histo_making m = *making;
    const histo_device_accumulators *any = hist->accumulators.on_devices;
    if (!any && other) any = other->accumulators.on_devices;
    *made = false;
    if (!any) return HISTO_OK;
    m.from = histo_accumulators_home(&hist->accumulators);
    if (other) m.other = histo_accumulators_home(&other->accumulators);
    if (other) m.other_axes = other->axes;
    const bool is_there = m.from && (!other || (m.other && m.other->device == m.from->device));
    const histo_mapping mapping = histo_map_mapping(map);
    if (is_there && any->backend->maps && any->backend->maps->makes(&mapping, &m)) {
        *made = true;
        return make_on(map, m.from->device, &m);
    }
    if (!any->backend->capturing(m.options.stream)) return HISTO_OK;
    if (is_there) return histo_fail(HISTO_UNSUPPORTED, "a graph cannot make such a map: the host computes it");
    return histo_fail(HISTO_UNSUPPORTED, "a graph can make a map only of dense histograms without reproducible sums "
                                         "that one GPU alone has counted since they were created or reset");
}

histo_status histo_map_locate(const histo_map *map, const histo_view *views, const histo_view *out,
                              const histo_view *mask, histo_device *device)
{
    bool all = true, bound = false;
    *device = HISTO_DEVICE_CPU;
    for (int o = 0; o < map->naxes + 2; o++) {
        const histo_view *view = o < map->naxes ? &views[o] : o == map->naxes ? out : mask;
        if (!view || histo_view_size(view) == 0) continue;
        bool only;
        const histo_device home = histo_device_of(view->data, &only);
        if (o == 0 || (only && !bound)) *device = home;
        all &= home == *device;
        bound |= only;
    }
    if (!all && bound)
        return histo_fail(HISTO_UNSUPPORTED, "samples, results and mask are not in the memory of the same device");
    if (!all) *device = HISTO_DEVICE_CPU;
    if (*device == HISTO_DEVICE_CPU || histo_backend_of(*device)->maps) return HISTO_OK;
    return histo_fail(HISTO_UNSUPPORTED, "maps are applied to host memory only");
}

histo_status histo_map_apply_on(const histo_map *map, histo_device device, const histo_view *views,
                                const histo_view *out, const histo_apply_options *options)
{
    histo_device_map *copy;
    histo_status status = histo_map_on(map, device, options->stream, &copy);
    const histo_mapping mapping = histo_map_mapping(map);
    return status == HISTO_OK ? copy->backend->maps->apply(copy, &mapping, views, out, options) : status;
}

histo_status histo_map_moments_on(const histo_map *map, histo_device device, const histo_view *views,
                                  const histo_apply_options *options, histo_moments *moments)
{
    histo_device_map *copy;
    histo_status status = histo_map_on(map, device, options->stream, &copy);
    const histo_mapping mapping = histo_map_mapping(map);
    return status == HISTO_OK ? copy->backend->maps->moments(copy, &mapping, views, options, moments) : status;
}
