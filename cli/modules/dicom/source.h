/* The bytes of a DICOM file, inflated if they are deflated. For decode.cpp. */
#ifndef CLI_MODULES_DICOM_SOURCE_H
#define CLI_MODULES_DICOM_SOURCE_H

#include <gdcmReader.h>

#include <fstream>
#include <sstream>
#include <string>

namespace dicom
{

class source
{
  public:
    /* Open the file and read everything before its pixels. False, with a reason, on failure. */
    bool open(const char *path, gdcm::Reader *header, char why[256]);
    /* Rewound, for GDCM. */
    std::istream &rewound();
    /* Copy bytes from this position; false if not all are there. */
    bool read(uint64_t at, char *to, size_t bytes);
    uint64_t size();

  private:
    std::istream &in();
    std::ifstream file;
    std::istringstream memory;
    bool inflated = false;
};

} // namespace dicom

#endif
