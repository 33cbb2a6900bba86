/* Strict parsers of option values. Each takes the text of one option and returns 0, or -1 with a sentence and
 * EXIT_USAGE in f. */
#ifndef CLI_OPTION_VALUES_H
#define CLI_OPTION_VALUES_H

#include "options/settings.h"

/* The caller handles the byte order of "<f4". */
int value_dtype(settings *s, char *text, fault *f);
int value_shape(settings *s, char *text, fault *f);
int value_endian(settings *s, char *text, fault *f);
int value_page(settings *s, char *text, fault *f);
int value_delimiter(settings *s, char *text, fault *f);
int value_comment(settings *s, char *text, fault *f);
int value_header(settings *s, char *text, fault *f);
int value_date_format(settings *s, char *text, fault *f);
int value_decimal(settings *s, char *text, fault *f);
int value_number(settings *s, char *text, fault *f);
int value_cycle(settings *s, char *text, fault *f);
int value_timezone(settings *s, char *text, fault *f);
int value_pairs(settings *s, char *text, fault *f);
int value_roi(settings *s, char *text, fault *f);
int value_model_roi(settings *s, char *text, fault *f);
int value_window(settings *s, char *text, fault *f);
int value_state_range(settings *s, char *text, fault *f);
int value_logy(settings *s, char *text, fault *f);
int value_theme(settings *s, char *text, fault *f);
/* Joins the lists of repeated options. */
int value_time(settings *s, char *text, fault *f);
/* Splits text that names a column, in place. */
int value_where(settings *s, char *text, fault *f);
/* For text that names no column. */
int value_where_of_samples(settings *s, char *text, fault *f);
int value_top(settings *s, char *text, fault *f);
int value_tiles(settings *s, char *text, fault *f);
int value_tile_size(settings *s, char *text, fault *f);
int value_clip(settings *s, char *text, fault *f);
int value_landmarks(settings *s, char *text, fault *f);
int value_target(settings *s, char *text, fault *f);
int value_8_bits(settings *s, char *text, fault *f);
int value_target_or_8_bits(settings *s, char *text, fault *f);
int value_split_method(settings *s, char *text, fault *f);
/* The quantiles for a list of percentages, from 0 to 1: returns how many, in *quantiles, freed by the caller; -1 with a
 * sentence. NULL: the quartiles. */
int value_quantiles(const char *text, double **quantiles, fault *f);
int value_quantile_rule(settings *s, char *text, fault *f);
int value_metric(settings *s, char *text, fault *f);
int value_sigma(settings *s, char *text, fault *f);
int value_size(settings *s, char *text, fault *f);
int value_device(settings *s, char *text, fault *f);
int value_strategy(settings *s, char *text, fault *f);
int value_param(settings *s, char *text, fault *f);
/* Check the environment variables of the library, which ignores invalid values. */
int value_environment(fault *f);
/* Which shard; leaves text unchanged. */
int value_shard(settings *s, char *text, fault *f);
int value_every(settings *s, char *text, fault *f);

#endif
