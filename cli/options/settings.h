/* The settings of the command line: every option of every subcommand, as in options.def. Zero or NULL: not given. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include <histo/histo.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* Options for the input. Zero or NULL: not given. */
typedef struct read_options {
    const char *purpose; /* of a file read without options: "masks"; NULL for samples */
    const char *format;  /* --format: force a reader by name */
    bool bytes;          /* --bytes: count the bytes of any file */
    bool letters;        /* --letters: count letters, case folded; bytes is set, too */
    bool has_dtype;      /* --dtype: raw binary */
    histo_dtype dtype;
    int ndim; /* --shape */
    int64_t shape[HISTO_MAX_DIMS];
    int64_t offset;      /* --offset: bytes to skip before raw samples */
    bool big_endian;     /* --endian big */
    const char *dataset; /* --dataset: HDF5 path, or the member of an .npz */
    int page;            /* --page: 0-based; -1: all */
    bool has_page;       /* --page was given */
    bool skip_bad;       /* --skip-bad: count cells that are not numbers in `bad` instead of failing */
    char delimiter;      /* --delimiter; 0: detect */
    int header;          /* --header yes/no: 1, 0; -1: detect */
    bool columns;        /* columns are requested, so blanks between plain numbers separate them */
    bool about;          /* also read what image files say besides samples */
    bool paired;         /* cells of a row belong together: a bad one excludes its row */
} read_options;

enum { PICTURE_MIN_SIZE = 200, PICTURE_MAX_SIZE = 8192 }; /* pixels per side, of --size */

typedef struct settings {
    const char *command;      /* its name */
    const char *const *files; /* operands; none: standard input */
    int files_count;

    read_options read; /* --format --bytes --letters --dtype --shape --offset --endian --dataset --page --skip-bad
                          --delimiter --header */

    /* Which samples. */
    const char *channels; /* --channel r,g,b | gray | all | 0,2 ; --column NAME,… is the same for columns */
    bool has_roi;
    int64_t roi[4];   /* --roi x,y,w,h: pixels of a page */
    const char *mask; /* --mask FILE: count where nonzero; same height and width */
    bool has_where;
    double where[2];          /* --where lo:hi, inclusive; an open end is infinite */
    const char *where_column; /* --where COLUMN=lo:hi filters by another column or channel */
    const char *weights;      /* --weights COLUMN */
    const char *joint;        /* --joint A,B[,C…] */
    histo_pairs pairs;        /* --pairs ring|apart: files and pages are images of one stack */
    bool relative;            /* --relative: their differences are divided by the mean */
    bool sparse;              /* --sparse: only occupied bins */
    bool reproducible;        /* --reproducible: order-independent sums of weights */
    const char *segments;     /* --segments FILE: their beginnings and the end; one histogram each */
    bool batch;               /* --batch: one histogram per file or page instead of one for all */
    bool apart;               /* one per file, with all its pages */

    /* Bins. For joint histograms, bins, range and edges may be lists with one entry per axis, separated by ';'. */
    const char *bins;  /* -b N | rule | @edges-file */
    const char *width; /* --width W */
    const char *range; /* -r lo:hi | minmax | dtype | p1:p99 */
    const char *edges; /* --edges a,b,c */
    bool log_bins;     /* --log */
    bool every_value;  /* integers of 16 bits have a bin for each value by default */

    /* Colours that `histo backproject` and `histo track` look for. */
    int64_t model_roi[4]; /* --model-roi X,Y,W,H; a width of 0: not given */
    int64_t window[4];    /* --window X,Y,W,H; a width of 0: not given */
    const char *model;    /* --model SAVED */
    const char *space;    /* --space hsv|none */
    const char *axes;     /* --axes h:30,s:32 */
    const char *method;   /* --method */
    /* Of commands that turn images into images. */
    const char *color;          /* --color luma|each|joint|value */
    int bits;                   /* --bits N; 0: as the samples need */
    int64_t bin_count;          /* -b N */
    int smooth;                 /* --smooth N: frames */
    histo_equalize_rule rule;   /* --rule minimum|cdf */
    int64_t tiles[3];           /* --tiles CxR[xD]: pages, rows, columns; 0: not given */
    int64_t tile_size[2];       /* --tile-size WxH: rows, columns; 0: not given */
    int overlap;                /* --overlap N; 1 if not given */
    double clip;                /* --clip X; 2 if not given */
    const char *reference_mask; /* --reference-mask FILE */
    int landmarks;              /* --landmarks N, or … */
    bool landmarks_itk;         /* … itk:N */
    const char *train, *with;   /* --train FILE, --with FILE */
    bool has_target;
    double target[2];         /* --to LO:HI */
    histo_split_method split; /* --method NAME */
    const char *split_name;
    int classes; /* --classes N; 0: not given */

    /* Numbers. */
    const char *quantiles;             /* -q P,… in per cent */
    histo_quantile_rule quantile_rule; /* --rule NAME */
    const char *metric;                /* --metric NAME; NULL: all */
    int64_t search;                    /* --search N */
    bool interpolate;                  /* --interpolate */
    double sigma;                      /* --sigma S; 0: not given */

    /* Output. */
    const char
        *output; /* -o FILE, or the operand that is written; the suffix selects the format; "-" is standard output */
    const char *output_format; /* --to FORMAT: instead of the suffix */
    bool log_counts;           /* --logy */
    bool dense;                /* --dense */
    const char *title;         /* --title */
    bool quiet, verbose;
    int plot_width, plot_height; /* --size WxH, pixels */

    /* How. */
    histo_device device;  /* --device auto|cpu */
    const char *strategy; /* --strategy NAME */
    const char *params;   /* --param name=value (repetitions are joined by ',') */
    int threads;          /* --threads N */
    bool compile;         /* --compile */
    bool measure;         /* --measure */
    bool vary;            /* --vary */
    const char *wisdom;   /* --wisdom FILE: loaded at the start, and saved after --measure */

    /* What `histo bench` measures. */
    int64_t samples;     /* --samples N: of an input, … */
    int64_t bytes;       /* … or --samples NMiB: its bytes */
    const char *inputs;  /* --input NAME,… */
    const char *cells;   /* --cells PATTERN,… */
    int repeat;          /* --repeat N */
    bool quick;          /* --quick */
    int64_t seed;        /* --seed N */
    int64_t count;       /* --count N */
    const char *only;    /* --only KEY=VALUE,… */
    const char *problem; /* --problem LINE */
    histo_effort effort; /* --effort NAME; HISTO_COMPILE if not given */

    const char *figure, *paper_table; /* --figure N, --table N */

    const char *image; /* --image FILE, of `histo bench` and `histo tune` */

    /* What `histo tune` explores, and where results are saved. */
    const char *sample_list;   /* --samples N,N… */
    const char *types;         /* --types u8,… */
    const char *distributions; /* --distributions NAME,… */
    bool transfers;            /* --transfers */
    double budget_s;           /* --budget SECONDS */
    const char *save;          /* --save FILE|default */
    const char *json;          /* --json FILE */

    const char *document; /* of `histo help`: man, bash, zsh or fish; NULL: help for the terminal */
} settings;

/* Parse argv of one subcommand (argv[0] is its name) into s, which is first zeroed and given defaults. Returns -1 with
 * a message and EXIT_USAGE in f; 1 after printing --help. Pointers refer to argv or to memory that is never freed. */
int settings_parse(settings *s, const char *command, int argc, char **argv, fault *f);

/* The subcommands, each defined in cli/commands/NAME.c. They return the exit status, after printing a fault as "histo:
 * MESSAGE" on standard error. */
#define COMMAND(id, name, operands, most, summary, description, examples) int command_##name(const settings *s);
#include "options/commands.def"
#undef COMMAND

#endif
