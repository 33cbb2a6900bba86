/* The settings of the command line: every option of histo, as in options.def. Zero or NULL: not given. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include <histo/histo.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/dates/cycle.h"
#include "base/dates/reading.h"
#include "base/fault.h"

#define MAX_SHARDS (INT64_C(1) << 31)

enum { COMMENT_NONE = 1 }; /* not a valid character */

/* Options for the input. Zero or NULL: not given. */
typedef struct read_options {
    const char *purpose; /* for a file read without options: "masks"; NULL for samples */
    const char *format;  /* --format: force a reader by name */
    bool bytes;          /* --bytes: count the bytes of any file */
    bool letters;        /* --letters: count letters, case folded; bytes is set, too */
    bool has_dtype;      /* --dtype: raw binary */
    histo_dtype dtype;
    int ndim; /* --shape */
    int64_t shape[HISTO_MAX_DIMS];
    int64_t offset;           /* --offset: bytes to skip before raw samples */
    bool big_endian;          /* --endian big */
    const char *dataset;      /* --dataset: HDF5 path, the member of an .npz, or a DICOM series */
    const char *query;        /* --query: of a database, instead of --dataset */
    bool raw;                 /* --raw: samples as stored, whatever attributes say */
    const char *window;       /* --window: for DICOM, count what is displayed; NULL: the values */
    int page;                 /* --page: 0-based; -1: all */
    bool has_page;            /* --page was given */
    bool in_slices;           /* a region is counted: in each slice of a volume */
    bool skip_bad;            /* --skip-bad: count cells that are not numbers in `bad` instead of failing */
    char delimiter;           /* --delimiter; 0: detect */
    char comment;             /* --comment; 0: # before the first row; COMMENT_NONE: none */
    date_order date_order;    /* --date-format mdy or dmy */
    const char *date_pattern; /* --date-format %d.%m.%Y; NULL: any */
    char decimal;             /* --decimal; 0: not given */
    const char *number;       /* --number PATTERN */
    int64_t skip_lines;       /* --skip-lines */
    int header;               /* --header yes/no: 1, 0; -1: detect */
    bool columns;             /* columns are requested, so blanks between plain numbers separate them */
    bool about;               /* also read the metadata of image files */
    bool paired;              /* cells of a row belong together: a bad one excludes its row */
    bool in_parts;            /* each thread reads its own parts: bands of arrays are copied to its cache, not mapped */
    const struct input_waiter *waiter; /* for --live: called before each read; NULL: none */
} read_options;

enum { TIME_UNITS = 4 }; /* for --time: s, ms, us, ns, each a thousandth of the one before */
enum { MAX_CONDITIONS = 32, LIST_DIVIDER = '\x1f' };

/* --where NAME=VALUES: rows count if the value in this column is, or with != is not, among these. */
typedef struct where_condition {
    const char *column;
    const char *values; /* LO:HI, numbers or words, separated by commas */
    bool negated;
} where_condition;

enum { MAX_THREADS = 1024 };

enum { PICTURE_MIN_SIZE = 200, PICTURE_MAX_SIZE = 8192 }; /* pixels per side, of --size */

/* How counts are drawn. Auto is linear for bars; for heat maps, the first scale that distinguishes most cells. */
typedef enum count_scale { SCALE_AUTO = 0, SCALE_LINEAR, SCALE_ROOT, SCALE_LOG } count_scale;

typedef struct settings {
    const char *command;      /* its name */
    const char *const *files; /* operands; none: standard input */
    int files_count;

    read_options read; /* --format --bytes --letters --dtype --shape --offset --endian --dataset --page --skip-bad
                          --delimiter --comment --header */

    /* Which samples. */
    const char *channels; /* --channel r,g,b | gray | all | 0,2 ; --column NAME,… is the same for columns. Repeated
                             options are joined by LIST_DIVIDER */
    bool has_roi;
    int64_t roi[4];   /* --roi x,y,w,h: pixels of a page */
    const char *mask; /* --mask FILE: count where nonzero; same height and width */
    bool has_where;
    double where[2]; /* --where lo:hi, for the counted samples, inclusive; an open end is infinite */
    where_condition conditions[MAX_CONDITIONS]; /* --where COLUMN=…, all of which must hold */
    int conditions_count;
    const char *weights; /* --weights COLUMN */
    const char *by;      /* --by COLUMN */
    const char
        *times[TIME_UNITS]; /* --time LIST=UNIT, for each unit since 1970; lists are joined like those of category */
    time_cycle cycle;       /* --cycle day|week|year */
    const char *category;   /* --category LIST; repeated options are joined by LIST_DIVIDER */
    const char *joint;      /* --joint A,B[,C…] */
    histo_pairing pairs;    /* --pairs ring|apart: files and pages are images of one stack */
    bool relative;          /* --relative: divide differences by the mean */
    bool sparse;            /* --sparse: only occupied bins */
    bool reproducible;      /* --reproducible: order-independent sums of weights */
    const char *segments;   /* --segments FILE: their beginnings and the end; one histogram each */
    bool batch;             /* --batch: one histogram per file or page instead of one for all */
    bool compare;           /* --compare */
    bool live;              /* --live */
    bool per_file;          /* one per file, with all its pages */

    /* Bins. For joint histograms, bins, range and edges may be lists with one entry per axis, separated by ';'. */
    const char *bins;  /* -b N | rule | @edges-file */
    const char *width; /* --width W */
    const char *range; /* -r lo:hi | minmax | dtype | p1:p99 */
    const char *edges; /* --edges a,b,c */
    bool log_bins;     /* --log */
    uint32_t top;      /* --top N: words with bins of their own; 0: not given */
    int order;         /* --sort count|name: a dictionary_order */
    bool every_value;  /* by default, integers within a range of 2^16 have a bin for each value */
    bool every_word;   /* all words have bins of their own by default */
    bool every_group;  /* all words have groups of their own by default */
    bool exact;        /* numbers of samples are exact, even for pipes, which are copied */

    /* Colours that `histo backproject` and `histo track` search for. */
    int64_t model_roi[4]; /* --model-roi X,Y,W,H; a width of 0: not given */
    int64_t window[4];    /* --window X,Y,W,H; a width of 0: not given */
    const char *model;    /* --model SAVED */
    const char *space;    /* --space hsv|opponent|none */
    const char *axes;     /* --axes h:30,s:32 */
    const char *method;   /* --method */
    bool has_state_range;
    int64_t state_range[3]; /* --search DXxDY[xDS]: for x, y and scale, to each side */
    /* For commands that map images to images. */
    const char *color;          /* --color luma|each|joint|value */
    int bits;                   /* --bits N; 0: as many as the samples need */
    const char *review;         /* --review FILE */
    bool to_8_bits;             /* --to 8bit */
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
    const char *quantiles;             /* -q P,… or --quantiles P,… in percent */
    histo_quantile_rule quantile_rule; /* --rule NAME */
    const char *metric;                /* --metric NAME; NULL: all */
    int64_t search;                    /* --search N */
    bool interpolate;                  /* --interpolate */
    double sigma;                      /* --sigma S; 0: not given */

    /* Output. */
    const char
        *output; /* -o FILE, or the operand that is written; the suffix selects the format; "-" is standard output */
    const char *output_format;                            /* --to FORMAT: instead of the suffix */
    count_scale scale;                                    /* --scale, --logy */
    bool dense;                                           /* --dense */
    bool counts, density, normalize, cumulative, reverse; /* --counts, --density … : what is shown for the bins */
    bool rebin;                                           /* --rebin */
    bool stats;                           /* --stats: all statistics; in tables, instead of the counts */
    const char *title;                    /* --title */
    const char *x_label, *y_label, *unit; /* --xlabel, --ylabel, --unit */
    bool ascii;                           /* --ascii */
    bool light, dark;                     /* --theme */
    bool quiet, verbose;
    int plot_width, plot_height; /* --size WxH, pixels */

    /* Parts of a run, and runs in parts. */
    int64_t shard, shards;  /* --shard i/N: index, from 0, and number of shards; 0: not given */
    const char *agreed;     /* --survey FILE */
    bool merge_surveys;     /* --merge */
    const char *checkpoint; /* --checkpoint FILE */
    double every_s;         /* --every SECONDS */
    bool complete;          /* --complete: of all shards */
    const char *what;       /* the options that determine what is counted, one per line: "--column price" */

    /* How to count. */
    histo_device device;  /* --device auto|cpu|cuda|cuda:N|cuda:all */
    const char *strategy; /* --strategy NAME */
    const char *params;   /* --param name=value (repetitions are joined by ',') */
    int threads;          /* --threads N */
    bool compile;         /* --compile */
    bool measure;         /* --measure */
    bool vary;            /* --vary */
    const char *wisdom;   /* --wisdom FILE: loaded at the start, and saved after --measure */

    const char *document; /* for `histo help`: man, bash, zsh or fish; NULL: help for the terminal */

    struct kept_text *texts; /* members point into these */
} settings;

/* A copy of `text`, after `before` and the divider if `before` is not NULL. It lives as long as s. NULL if out of
 * memory. */
char *settings_join(settings *s, const char *before, char divider, const char *text);
void settings_free(settings *s);

/* The subcommands, each defined in cli/commands/NAME.c. They return the exit status, after printing a fault as "histo:
 * MESSAGE" on standard error. */
#define COMMAND(id, name, operands, most, summary, description, examples) int command_##name(const settings *s);
#include "options/commands.def"
#undef COMMAND

#endif
