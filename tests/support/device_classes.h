/* Random GPU problems, and the classes (cuda/jit/specialised.h) for which kernels would be compiled. Needs no GPU. */
#ifndef TESTS_DEVICE_CLASSES_H
#define TESTS_DEVICE_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct device_class {
    bool weighted;
    bool in_vectors;    /* some operand is read in vectors, … */
    bool is_aligned;    /* … each of which is aligned to its size, within one run */
    char problem[512];  /* in words */
    char text[1 << 13]; /* functions of records and `struct constants` */
} device_class;

#ifdef __cplusplus
extern "C" {
#endif

/* False if no kernel is compiled for the problem with this number. */
bool device_class_draw(uint64_t number, device_class *it);

#ifdef __cplusplus
}
#endif

#endif
