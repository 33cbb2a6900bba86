/* A list of names for a message: "a, b, c and 12 more". */
#ifndef CLI_READERS_NAMES_H
#define CLI_READERS_NAMES_H

typedef struct name_list {
    char text[640];
    int count;  /* number of names added */
    int hidden; /* number of these not shown */
} name_list;

void name_list_add(name_list *list, const char *name);
/* The complete text; "none" without names. */
const char *name_list_text(name_list *list);

#endif
