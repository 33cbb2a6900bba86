/* The metadata of a page. */
#include <stdlib.h>
#include <string.h>

#include "input/readers/images/exif.h"
#include "modules/tiff/tiff.h"

/* Whether it is the offset of another directory in the file, which a copy would not have. */
static bool is_place(uint32_t tag)
{
    return tag == TIFFTAG_SUBIFD || tag == TIFFTAG_EXIFIFD || tag == TIFFTAG_GPSIFD ||
           tag == TIFFTAG_INTEROPERABILITYIFD;
}

/* Keep a field of text, or of a counted number of values; false if out of memory. Other fields are dropped. */
static bool keep_field(TIFF *tif, metadata *m, uint32_t tag)
{
    const TIFFField *known = TIFFFieldWithTag(tif, tag);
    const int readcount = known ? TIFFFieldReadCount(known) : 0;
    const void *values = NULL;
    uint32_t count = 0;
    if (!known || is_place(tag)) return true;
    const TIFFDataType type = TIFFFieldDataType(known);
    if (!TIFFFieldPassCount(known) && type == TIFF_ASCII) {
        if (!TIFFGetField(tif, tag, &values) || !values) return true;
        count = (uint32_t)strlen(values) + 1;
    } else if (TIFFFieldPassCount(known) && readcount == TIFF_VARIABLE2) {
        if (!TIFFGetField(tif, tag, &count, &values)) return true;
    } else if (TIFFFieldPassCount(known)) {
        uint16_t few = 0;
        if (!TIFFGetField(tif, tag, &few, &values)) return true;
        count = few;
    }
    const int size = TIFFFieldSetGetSize(known); /* in memory, where fractions are floats */
    if (!values || count == 0 || size < 1 || count > IMAGE_MAX_BLOCK_BYTES / (uint32_t)size) return true;
    metadata_field *more = realloc(m->fields, (size_t)(m->fields_count + 1) * sizeof *more);
    if (!more) return false;
    m->fields = more;
    metadata_field *made = &more[m->fields_count];
    *made = (metadata_field){.tag = tag, .type = (int)type, .readcount = readcount, .count = count, .size = size};
    if (!metadata_keep(&made->values, values, (size_t)count * (size_t)size)) return false;
    m->fields_count++;
    return true;
}

/* Fields that are applied to the samples are not copied. */
static bool keep_fields(tiff_reader *t, metadata *m)
{
    uint16_t tags = (uint16_t)TIFFGetTagListCount(t->tif);
    for (uint16_t i = 0; i < tags; i++) {
        const uint32_t tag = TIFFGetTagListEntry(t->tif, i);
        if (tag == TIFF_GDAL_NODATA && !t->options.raw) continue;
        const int before = m->fields_count;
        if (!keep_field(t->tif, m, tag)) return false;
        if (tag != TIFF_GDAL_METADATA || !t->meaning.scaled || m->fields_count == before) continue;
        metadata_field *field = &m->fields[before];
        free(field->values.data);
        field->values = (metadata_block){0};
        if (!tiff_keep_unscaled(t, &field->values)) return false;
        field->count = (uint32_t)field->values.size;
    }
    m->has_nodata = tiff_delivered_nodata(t, m->nodata);
    return true;
}

int tiff_keep_metadata(tiff_reader *t, fault *f)
{
    TIFF *tif = t->tif;
    metadata *m = image_describe(&t->image, &t->options, f);
    if (!m) return t->options.about ? -1 : 0;
    static const resolution_unit units[] = {[RESUNIT_NONE] = RESOLUTION_NONE,
                                            [RESUNIT_INCH] = RESOLUTION_INCH,
                                            [RESUNIT_CENTIMETER] = RESOLUTION_CENTIMETER};
    const unsigned unit = tiff_field_u16(tif, TIFFTAG_RESOLUTIONUNIT);
    float across, down;
    if (unit <= RESUNIT_CENTIMETER && TIFFGetField(tif, TIFFTAG_XRESOLUTION, &across) &&
        TIFFGetField(tif, TIFFTAG_YRESOLUTION, &down)) {
        m->unit = unit ? units[unit] : RESOLUTION_NONE;
        m->resolution[0] = (double)across;
        m->resolution[1] = (double)down;
    }
    uint16_t orientation = 0, extras = 0, *kinds = NULL;
    if (TIFFGetField(tif, TIFFTAG_ORIENTATION, &orientation)) m->orientation = orientation;
    TIFFGetFieldDefaulted(tif, TIFFTAG_EXTRASAMPLES, &extras, &kinds);
    m->premultiplied = extras > 0 && kinds[0] == EXTRASAMPLE_ASSOCALPHA;
    m->compression = (int)tiff_field_u16(tif, TIFFTAG_COMPRESSION);
    m->predictor = (int)tiff_predictor(tif);
    const void *profile;
    uint32_t size;
    bool kept = m->orientation < 2 || exif_make(&m->exif, m->orientation);
    if (TIFFGetField(tif, TIFFTAG_ICCPROFILE, &size, &profile))
        kept = kept && metadata_keep(&m->profile, profile, size);
    if (kept && keep_fields(t, m)) return 0;
    return fault_set(f, EXIT_DATA, "%s: out of memory", input_name(t->image.reader.in));
}
