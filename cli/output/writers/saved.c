/* Complete histograms, to merge and show later: JSON and the binary form. */
#include "output/saved/saved.h"

#include "output/writers/writers.h"

static int write_json(const result *r, const settings *s, outfile *o, fault *f)
{
    return saved_write_json(r, s, outfile_stream(o), f);
}

static int write_binary(const result *r, const settings *s, outfile *o, fault *f)
{
    (void)s;
    return saved_write_binary(r, true, outfile_stream(o), f);
}

const writer writer_json = {.name = "json", .saves_moments = true, .mixes = true, .write = write_json};
const writer writer_histo = {
    .name = "histo", .binary = true, .saves_moments = true, .mixes = true, .write = write_binary};
