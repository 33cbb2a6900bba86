/* FITS tables, binary and ASCII: columns of numbers, rescaled by TZERO and TSCAL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modules/fits/fits.h"
/* Read strings, each terminated by a NUL; cfitsio drops trailing blanks. */
static int read_strings(fits_unit *u, const isolated_request *q, char *samples, unsigned char *valid, fault *f)
{
    const fits_column *c = &u->about.columns[q->column];
    char **strings = malloc((size_t)q->count * sizeof *strings), null[] = "";
    int status = 0, any = 0;
    if (!strings) return fault_set(f, EXIT_DATA, "no memory to read %s", u->name);
    for (int64_t i = 0; i < q->count; i++)
        strings[i] = samples + i * c->is.bytes;
    fits_read_col(u->file, TSTRING, (int)q->column + 1, q->first / c->is.values + 1, q->first % c->is.values + 1,
                  q->count, null, strings, &any, &status);
    free(strings);
    memset(valid, 1, (size_t)q->count);
    return status ? fits_fault(u, status, f) : 0;
}

int fits_table_read(fits_unit *u, const isolated_request *q, void *samples, unsigned char *valid, fault *f)
{
    const fits_column *c = &u->about.columns[q->column];
    const LONGLONG row = q->first / c->is.values + 1, element = q->first % c->is.values + 1;
    int status = 0, any = 0;
    memset(valid, 0, (size_t)q->count);
    if (c->is.bytes) return read_strings(u, q, samples, valid, f);
    if (c->nulls)
        fits_read_colnull(u->file, c->type, (int)q->column + 1, row, element, q->count, samples, (char *)valid, &any,
                          &status);
    else
        fits_read_col(u->file, c->type, (int)q->column + 1, row, element, q->count, NULL, samples, &any, &status);
    if (status) return fits_fault(u, status, f);
    for (int64_t i = 0; i < q->count; i++)
        valid[i] = !valid[i];
    if (c->above) fits_raise(samples, q->count);
    return 0;
}

/* Words for what is not read as numbers. */
static const char *words_for(int type)
{
    if (type < 0) return "arrays of different lengths";
    switch (type) {
    case TBIT:
        return "bits";
    case TCOMPLEX:
    case TDBLCOMPLEX:
        return "complex numbers";
    default:
        return NULL;
    }
}

static bool has_null(fitsfile *file, int c)
{
    int status = 0;
    char key[FLEN_KEYWORD], value[FLEN_VALUE];
    snprintf(key, sizeof key, "TNULL%d", c + 1);
    const bool has = fits_read_keyword(file, key, value, NULL, &status) == 0;
    fits_clear_errmsg();
    return has;
}

static int describe_column(fits_unit *u, int c, bool text, fault *f)
{
    fits_column *to = &u->about.columns[c];
    static const fits_type types[] = {
        {TLOGICAL, TLOGICAL, HISTO_U8},    {TBYTE, TBYTE, HISTO_U8},           {TSBYTE, TSBYTE, HISTO_I8},
        {TUSHORT, TUSHORT, HISTO_U16},     {TSHORT, TSHORT, HISTO_I16},        {TULONG, TUINT, HISTO_U32},
        {TUINT, TUINT, HISTO_U32},         {TLONG, TINT, HISTO_I32},           {TINT, TINT, HISTO_I32},
        {TLONGLONG, TLONGLONG, HISTO_I64}, {TULONGLONG, TLONGLONG, HISTO_U64}, {TFLOAT, TFLOAT, HISTO_F32},
        {TDOUBLE, TDOUBLE, HISTO_F64},
    };
    fitsfile *file = u->file;
    int status = 0, stored = 0, type = 0;
    LONGLONG repeat = 0, width = 0;
    fits_get_coltypell(file, c + 1, &stored, &repeat, &width, &status);
    fits_get_eqcoltypell(file, c + 1, &type, &repeat, &width, &status);
    if (status) return fits_fault(u, status, f);
    char key[FLEN_KEYWORD];
    snprintf(key, sizeof key, "TTYPE%d", c + 1);
    *to = (fits_column){.is = {.values = repeat}};
    if (fits_read_key(file, TSTRING, key, to->name, NULL, &status) != 0) to->name[0] = '\0';
    fits_clear_errmsg();
    const char *words = words_for(stored < 0 ? stored : type);
    if (!words && (repeat < 1 || width < 1)) words = "nothing";
    if (!words && type == TSTRING && width >= BAND_BYTES) words = "too long strings";
    if (words) {
        snprintf(to->words, sizeof to->words, "%s", words);
        return 0;
    }
    status = 0;
    if (type == TSTRING) {
        to->is.bytes = width + 1;
        to->is.values = text ? 1 : repeat / width;
        to->is.dtype = HISTO_U8;
        return 0;
    }
    const bool is_float = stored == TFLOAT || stored == TDOUBLE;
    if (text && is_float) type = TDOUBLE; /* with as many digits as there are */
    if (text && !is_float && type != TFLOAT && type != TDOUBLE) type = TLONGLONG;
    if (!is_float && type == TFLOAT) type = TDOUBLE;
    snprintf(to->words, sizeof to->words, "values of an unknown type");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].equivalent == type) {
            to->type = types[i].in_memory;
            to->is.dtype = types[i].dtype;
            to->words[0] = '\0';
        }
    to->is.boolean = stored == TLOGICAL;
    to->above = type == TULONGLONG;
    if (to->above) fits_set_tscale(file, c + 1, 1, 0, &status);
    to->nulls = stored == TLOGICAL || ((text || !is_float) && has_null(file, c));
    return 0;
}

int fits_table_describe(fits_unit *u, fault *f)
{
    fits_about *t = &u->about;
    int status = 0, kind = 0;
    LONGLONG rows = 0;
    fits_get_hdu_type(u->file, &kind, &status);
    fits_get_num_cols(u->file, &t->count, &status);
    fits_get_num_rowsll(u->file, &rows, &status);
    if (status) return fits_fault(u, status, f);
    t->rows = rows;
    if (t->count > MOST_COLUMNS || rows < 0) return fault_set(f, EXIT_DATA, "%s, %s is damaged", u->name, t->label);
    for (int c = 0; c < t->count; c++)
        if (describe_column(u, c, kind == ASCII_TBL, f) != 0) return -1;
    return 0;
}
