/* Converts stored DICOM samples to the values that they represent. */
#ifndef CLI_MODULES_DICOM_VALUES_H
#define CLI_MODULES_DICOM_VALUES_H

#include "modules/dicom/decode.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The type that holds the values of all these frames. */
histo_dtype dicom_value_dtype(const dicom_about *about, const dicom_meaning *frames, int64_t count);

/* Compute `count` values, of a type that can hold them. valid: 0 where a sample is padding; such floats are NaN. */
void dicom_values(const dicom_about *about, const dicom_meaning *meaning, const void *stored, histo_dtype dtype,
                  void *values, unsigned char *valid, int64_t count);

#ifdef __cplusplus
}
#endif

#endif
