#include "output/npy_header.h"

#include <stdint.h>

char npy_byte_order(void)
{
    static const uint16_t one = 1;
    return *(const unsigned char *)&one == 1 ? '<' : '>';
}

void npy_put_header(const char *dtype, const char *shape, bool fortran, FILE *out)
{
    char header[1024];
    int size = snprintf(header, sizeof header, "{'descr': %s, 'fortran_order': %s, 'shape': (%s), }", dtype,
                        fortran ? "True" : "False", shape);
    int padded = (10 + size + 1 + 63) / 64 * 64 - 10; /* data must be aligned to 64 bytes */
    const unsigned char preamble[] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(padded & 255), (unsigned char)(padded >> 8)};
    fwrite(preamble, 1, sizeof preamble, out);
    fprintf(out, "%-*s\n", padded - 1, header);
}
