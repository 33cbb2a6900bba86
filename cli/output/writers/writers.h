/* The writers listed in outputs.def: writer_NAME. */
#ifndef CLI_WRITERS_H
#define CLI_WRITERS_H

#include "output/terminal/terminal.h"
#include "output/write.h"

/* The output of the writer "text", for any screen. */
int text_draw(const screen *on, const result *r, const settings *s, fault *f);

#define OUTPUT(name, what) extern const writer writer_##name;
#include "output/outputs.def"
#undef OUTPUT

#endif
