/* This process. */
#ifndef CLI_PROCESS_H
#define CLI_PROCESS_H

/* Its arguments as they were when it was first asked for, divided by blanks, for results to tell how they were made. */
const char *process_command_line(void);

#endif
