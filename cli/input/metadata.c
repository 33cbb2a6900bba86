#include "input/metadata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

metadata *metadata_create(void)
{
    metadata *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->owners = 1;
    m->intent = -1;
    return m;
}

metadata *metadata_share(metadata *m)
{
    if (m) m->owners++;
    return m;
}

void metadata_release(metadata *m)
{
    if (!m || --m->owners > 0) return;
    for (int i = 0; i < m->fields_count; i++)
        free(m->fields[i].values.data);
    free(m->fields);
    free(m->profile.data);
    free(m->exif.data);
    free(m->nifti.data);
    free(m);
}

bool metadata_keep(metadata_block *block, const void *data, size_t size)
{
    block->data = malloc(size ? size : 1);
    if (!block->data) return false;
    memcpy(block->data, data, size);
    block->size = size;
    return true;
}

void metadata_place(metadata *m, const double first[3], double steps[3][3], bool left_posterior)
{
    m->placed = true;
    for (int d = 0; d < 3; d++) {
        const double sign = left_posterior && d < 2 ? -1 : 1;
        for (int k = 0; k < 4; k++) {
            m->place[d][k] = sign * (k < 3 ? steps[k][d] : first[d]);
            m->placed = m->placed && isfinite(m->place[d][k]);
        }
    }
}
