/* libpng's messages: an error jumps to png_jmpbuf, and its text is stored in the png_complaint that libpng was created
 * with; warnings are ignored. */
#ifndef CLI_READERS_PNG_MESSAGES_H
#define CLI_READERS_PNG_MESSAGES_H

#include <png.h>
#include <stdio.h>

typedef struct png_complaint {
    char text[160];
} png_complaint;

static inline void png_on_error(png_structp png, png_const_charp message)
{
    png_complaint *complaint = png_get_error_ptr(png);
    snprintf(complaint->text, sizeof complaint->text, "%s", message);
    png_longjmp(png, 1);
}

static inline void png_on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

#endif
