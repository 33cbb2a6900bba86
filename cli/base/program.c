#include "base/program.h"

#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/process/interrupt.h"
#include "base/process/process.h"

/* If a standard stream is closed, the next file opened would take its place. Open /dev/null there instead, in the
 * direction in which using it fails; messages to a closed standard error are lost. */
static void hold_closed_streams(void)
{
    static const int directions[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", directions[fd]) < 0) return;
}

int program_run(int argc, char **argv, int (*run)(int argc, char **argv))
{
    hold_closed_streams();
    setlocale(LC_CTYPE, ""); /* numbers stay in the C locale */
    interrupt_install();
    process_keep_arguments(argc, argv); /* before option parsing modifies them */
    int status = run(argc, argv);
    if (status == EXIT_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        fault f = {0};
        fault_set(&f, EXIT_DATA, "standard output cannot be written: free some space, or name a file with -o");
        status = fault_report(&f);
    }
    return status;
}
