/* The header of a NumPy array, .npy version 1. */
#ifndef CLI_NPY_HEADER_H
#define CLI_NPY_HEADER_H

#include <stdbool.h>
#include <stdio.h>

/* '<' or '>': this machine's. */
char npy_byte_order(void);

/* dtype: as NumPy writes it, in quotes; shape: "480, 640" or "12,". The samples follow, in C or Fortran order. */
void npy_put_header(const char *dtype, const char *shape, bool fortran, FILE *out);

#endif
