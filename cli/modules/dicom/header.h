/* The image attributes in the header of a DICOM file. For decode.cpp. */
#ifndef CLI_MODULES_DICOM_HEADER_H
#define CLI_MODULES_DICOM_HEADER_H

#include <gdcmFile.h>
#include <gdcmPixelFormat.h>

#include <deque>
#include <string>
#include <vector>

#include "modules/dicom/decode.h"

namespace dicom
{

/* The meaning of all frames, or of each. */
struct meanings {
    std::vector<dicom_meaning> frames;
    std::deque<std::vector<uint16_t>> tables; /* they point into these */
};

void say(char why[256], const char *format, ...) __attribute__((format(printf, 2, 3)));

bool has_image(const gdcm::File &file);

/* The size of the image, and its samples: floats of this many bits, or integers if 0. */
bool describe_samples(const gdcm::File &file, int float_bits, dicom_about *about, char why[256]);

/* The meaning of the samples. False, with a reason, if it cannot be applied. */
bool describe_values(const gdcm::File &file, const dicom_wishes &wishes, dicom_about *about, meanings *found,
                     char why[256]);

void describe_place(const gdcm::File &file, dicom_place *place);

} // namespace dicom

#endif
