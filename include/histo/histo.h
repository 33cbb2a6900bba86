/* histo: exact histograms at memory speed.
 *
 * Describe axes, create a histogram, fill it from any memory, read it:
 *
 *     histo_axis axis = histo_axis_regular(256, 0.0, 1.0);
 *     histo_hist *h;
 *     histo_hist_create(&h, 1, &axis, NULL);
 *     histo_view samples = histo_view_1d(data, HISTO_F32, n);
 *     histo_hist_fill(h, &samples, NULL);
 *     histo_hist_read_counts(h, HISTO_BINS, counts, 256, NULL);
 *     histo_hist_destroy(h);
 *
 * Rules that hold everywhere:
 *   - Every call that can fail returns a histo_status. histo_last_error() returns the sentence that describes the last
 *     failure on the calling thread. A failed call leaves every handle unchanged.
 *   - NULL for an argument that must not be NULL is HISTO_INVALID. Functions that return no status then do nothing, and
 *     return 0, NULL, NaN (for a double) or what their description says. Destroying and freeing NULL is allowed.
 *   - Results are written through pointers only when a call succeeds. After a failure, a new handle, or memory that the
 *     caller would free, is NULL, and a number or small struct is zero; for arrays, see the function.
 *   - Options that do not apply are refused, not ignored.
 *   - The library never prints, exits or aborts.
 *   - A pointer passed in is borrowed for the call only; the library copies what must outlive it.
 *   - A handle may be used by one thread at a time; different handles by different threads at once. To fill one
 *     histogram from several threads, give each thread a clone and merge the clones.
 *   - All counts of a histogram, including masked samples and all batch entries, add up to less than 2^64, so no sum of
 *     them wraps. A call that would exceed this is HISTO_INVALID; a file that does is HISTO_CORRUPT. Counts that change
 *     outside the library's calls are not checked: launches of CUDA graphs, histo_hist_borrow_words.
 *   - Results do not depend on the floating-point state of the calling thread, such as flush-to-zero (-ffast-math) or
 *     the rounding mode: calls compute in the standard state, and restore the caller's.
 *   - Samples, and arrays that counts are read into, may be in any host memory or in a GPU's memory; the library
 *     detects which. Reading into host memory, merging or saving waits for the histogram's fills.
 *   - A thread that calls the library needs 256 KiB of stack, more than musl's default.
 *   - After fork() the child can count samples in host memory on the CPU. If the parent has used CUDA, the child cannot
 *     use a GPU, and calls that would are refused: start processes that need one by exec or spawn.
 *   - After cudaDeviceReset(), calls that need data that was on the GPU fail with HISTO_DEVICE: reset histograms, and
 *     make plans and maps again.
 *   - Options structs may be NULL, and zero in any field means its default: write them with designated initialisers, or
 *     start from HISTO_DEFAULTS, as code that is both C and C++17 must.
 *   - Structs keep their size and layout, and enumerators their numbers, from version to version, so that a program
 *     runs with any later library of the same soname. New fields replace reserved ones, which are zero in structs that
 *     the library writes. In structs that it reads they must be zero: a library that does not know what a program asks
 *     for there returns HISTO_INVALID. Enumerations are uint32_t, whatever the compiler. */
#ifndef HISTO_H
#define HISTO_H

#include <histo/axis.h>
#include <histo/base.h>
#include <histo/boosting.h>
#include <histo/hist.h>
#include <histo/map.h>
#include <histo/numbers.h>
#include <histo/plan.h>
#include <histo/samples.h>
#include <histo/save.h>
#include <histo/survey.h>

#endif
