/* Output files appear complete or not at all. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process/interrupt.h"
#include "output/outfile.h"
#include "support/check.h"

static char folder[] = "/tmp/histo-test-XXXXXX";

static int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    (void)state;
    DIR *d = opendir(".");
    for (struct dirent *e; d && (e = readdir(d));)
        unlink(e->d_name);
    if (d) closedir(d);
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

static int files_here(void)
{
    int count = 0;
    DIR *d = opendir(".");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return count;
}

static void assert_content(const char *path, const char *wanted)
{
    char text[64] = "";
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    size_t size = fread(text, 1, sizeof text - 1, in);
    fclose(in);
    assert_int_equal(size, strlen(wanted));
    assert_string_equal(text, wanted);
}

static void write_good(const char *path, const char *text)
{
    fault f = {0};
    outfile *o = outfile_open(path, &f);
    if (!o) fail_msg("%s", f.text);
    assert_string_equal(outfile_name(o), path);
    fputs(text, outfile_stream(o));
    if (outfile_commit(o, &f) != 0) fail_msg("%s", f.text);
}

static void open_bad(const char *path, const char *words)
{
    fault f = {0};
    assert_null(outfile_open(path, &f));
    assert_true(f.status == EXIT_DATA || f.status == EXIT_USAGE);
    if (!strstr(f.text, words)) fail_msg("the sentence '%s' has no '%s'", f.text, words);
}

static void test_commit_replaces(void **state)
{
    (void)state;
    write_good("a", "old");
    fault f = {0};
    outfile *o = outfile_open("a", &f);
    assert_non_null(o);
    fputs("new and longer", outfile_stream(o));
    fflush(outfile_stream(o));
    assert_content("a", "old"); /* until the new file is complete */
    assert_int_equal(files_here(), 2);
    assert_int_equal(outfile_commit(o, &f), 0);
    assert_content("a", "new and longer");
    assert_int_equal(files_here(), 1);
    unlink("a");
}

static void test_abandon_leaves_nothing(void **state)
{
    (void)state;
    fault f = {0};
    outfile *o = outfile_open("b", &f);
    assert_non_null(o);
    fputs("half", outfile_stream(o));
    outfile_abandon(o);
    outfile_abandon(NULL);
    assert_int_equal(files_here(), 0);
}

static void test_permissions_are_kept(void **state)
{
    (void)state;
    struct stat status;
    mode_t mask = umask(027);
    write_good("d", "1");
    assert_int_equal(stat("d", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    assert_int_equal(chmod("d", 0604), 0);
    write_good("d", "2");
    assert_int_equal(stat("d", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0604);
    umask(mask);
    unlink("d");
}

static void test_links_are_followed(void **state)
{
    (void)state;
    struct stat status;
    write_good("real", "1");
    assert_int_equal(symlink("real", "link"), 0);
    write_good("link", "2");
    assert_int_equal(lstat("link", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_content("real", "2");
    unlink("link");
    unlink("real");
}

/* Through a chain of links, one of them in a directory, to a file that does not exist yet. */
static void test_links_to_nothing_are_followed(void **state)
{
    (void)state;
    struct stat status;
    char absolute[sizeof folder + 8];
    snprintf(absolute, sizeof absolute, "%s/made", folder);
    assert_int_equal(mkdir("inside", 0777), 0);
    assert_int_equal(symlink("inside/second", "first"), 0);
    assert_int_equal(symlink("../third", "inside/second"), 0);
    assert_int_equal(symlink(absolute, "third"), 0);
    write_good("first", "1");
    assert_content("made", "1");
    static const char *const links[] = {"first", "inside/second", "third"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(lstat(links[i], &status), 0);
        assert_true(S_ISLNK(status.st_mode));
        unlink(links[i]);
    }
    unlink("made");
    assert_int_equal(rmdir("inside"), 0);
    assert_int_equal(symlink("round", "round"), 0);
    open_bad("round", "cannot be written");
    assert_int_equal(symlink("nowhere/x", "astray"), 0);
    open_bad("astray", "its directory does not exist");
    unlink("round");
    unlink("astray");
}

static void test_devices_are_written_directly(void **state)
{
    (void)state;
    fault f = {0};
    write_good("/dev/null", "nothing");
    outfile *o = outfile_open("/dev/full", &f);
    assert_non_null(o);
    fputs("does not fit", outfile_stream(o));
    assert_int_equal(outfile_commit(o, &f), -1);
    assert_int_equal(f.status, EXIT_DATA);
    assert_non_null(strstr(f.text, "the disk is full"));
}

static void test_bad_places(void **state)
{
    (void)state;
    open_bad(".", "is a directory");
    open_bad("", "empty name");
    open_bad("nowhere/x", "its directory does not exist");
    open_bad("/dev/null/x", "cannot be written");
    char name[300];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    open_bad(name, "cannot be written");
    assert_int_equal(files_here(), 0);
}

static pid_t fork_with_pipe(int ready[2])
{
    assert_int_equal(pipe(ready), 0);
    return fork();
}

/* Killed processes leave their temporary file, and the next one that writes the target removes it. */
static void test_files_of_killed_processes_are_removed(void **state)
{
    (void)state;
    fault f = {0};
    for (int i = 0; i < 3; i++) {
        int ready[2], status;
        char byte;
        const pid_t child = fork_with_pipe(ready);
        if (child == 0) {
            outfile *o = outfile_open("k", &f);
            if (o && write(ready[1], "", 1) == 1) pause();
            _exit(99);
        }
        assert_int_equal(read(ready[0], &byte, 1), 1);
        outfile *beside = outfile_open("k", &f); /* at the same time */
        assert_non_null(beside);
        assert_int_equal(files_here(), 2);
        outfile_abandon(beside);
        assert_int_equal(files_here(), 1);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        close(ready[0]);
        close(ready[1]);
        assert_int_equal(files_here(), 1);
    }
    write_good("k", "new");
    assert_int_equal(files_here(), 1);
    assert_content("k", "new");
    unlink("k");
}

/* Wherever it is: before, while and after files are made, guarded and removed. */
static void test_interrupts_leave_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        int ready[2], status;
        char byte;
        const pid_t child = fork_with_pipe(ready);
        if (child == 0) {
            interrupt_install();
            fault f = {0};
            while (write(ready[1], "", 1) == 1 && outfile_check("i", &f) == 0 && outfile_check("j", &f) == 0)
                continue;
            _exit(99);
        }
        close(ready[1]);
        for (int turn = 0; turn <= i % 20; turn++)
            assert_int_equal(read(ready[0], &byte, 1), 1);
        kill(child, SIGTERM);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
        close(ready[0]);
        assert_int_equal(files_here(), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commit_replaces),
        cmocka_unit_test(test_abandon_leaves_nothing),
        cmocka_unit_test(test_permissions_are_kept),
        cmocka_unit_test(test_links_are_followed),
        cmocka_unit_test(test_links_to_nothing_are_followed),
        cmocka_unit_test(test_devices_are_written_directly),
        cmocka_unit_test(test_bad_places),
        cmocka_unit_test(test_files_of_killed_processes_are_removed),
        cmocka_unit_test(test_interrupts_leave_nothing),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
