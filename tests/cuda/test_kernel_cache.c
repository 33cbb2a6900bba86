/* The directory of compiled kernels: what is written is read back; what is damaged, foreign, or may be another user's
 * is not. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cuda/jit/cache.h"
#include "support/check.h"

static const char key[] = "a key", value[] = "the value of a key";

/* Files belong to this user, or seem to be another's; so does this directory. */
static bool others;
static const char *of_other;
int __real_stat(const char *name, struct stat *s);
int __wrap_stat(const char *name, struct stat *s);
int __wrap_stat(const char *name, struct stat *s)
{
    int result = __real_stat(name, s);
    if (of_other && strcmp(name, of_other) == 0) s->st_uid++;
    return result;
}

int __real_fstat(int fd, struct stat *s);
int __wrap_fstat(int fd, struct stat *s);
int __wrap_fstat(int fd, struct stat *s)
{
    int result = __real_fstat(fd, s);
    if (others && S_ISREG(s->st_mode)) s->st_uid++;
    return result;
}

static char base[] = "/tmp/histo-cache-XXXXXX", directory[64], path[512];

static bool is_found(void)
{
    size_t size = 0;
    void *found = histo_cache_read(key, &size);
    if (found) assert_true(size == sizeof value && memcmp(found, value, size) == 0);
    free(found);
    return found != NULL;
}

static void name_file(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", directory, name);
}

/* Call act, if any, with each file's name in `path`; how many there are. */
static int each_file(void (*act)(void))
{
    DIR *open = opendir(directory);
    int files = 0;
    for (const struct dirent *entry; open && (entry = readdir(open));)
        if (entry->d_name[0] != '.') {
            name_file(entry->d_name);
            if (act) act();
            files++;
        }
    if (open) closedir(open);
    return files;
}

static int remove_base(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", base);
    return system(command) == 0 ? 0 : -1;
}

static int remove_all(void **state)
{
    (void)state;
    OK(histo_kernel_cache(NULL));
    return remove_base();
}

static int fresh(void **state)
{
    (void)state;
    others = false;
    strcpy(base + sizeof base - 7, "XXXXXX");
    assert_non_null(mkdtemp(base));
    snprintf(directory, sizeof directory, "%s/made/here", base);
    OK(histo_kernel_cache(directory));
    return 0;
}

static int filled(void **state)
{
    fresh(state);
    histo_cache_write(key, value, sizeof value);
    assert_true(is_found());
    return each_file(NULL) == 1 ? 0 : -1;
}

static void kept_for_this_user_only(void **state)
{
    (void)state;
    struct stat s;
    assert_false(is_found());
    assert_int_not_equal(stat(directory, &s), 0); /* reading makes nothing */
    histo_cache_write(key, value, sizeof value);
    assert_true(is_found());
    assert_int_equal(each_file(NULL), 1);
    assert_int_equal(stat(directory, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0700);
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    size_t size;
    assert_null(histo_cache_read("another key", &size));
    histo_cache_write(key, value, sizeof value); /* again, in the same file */
    assert_true(each_file(NULL) == 1 && is_found());
}

/* ---- The environment ---- */

typedef struct place {
    const char *own, *caches, *home; /* variables: under base; NULL: not set; "": empty; beginning with '=': as it is */
    const char *expected;            /* under base; NULL: none */
    const char *foreign;             /* under base: another user's */
} place;

static void set_variable(const char *name, const char *text)
{
    if (!text)
        unsetenv(name);
    else if (!*text || *text == '=')
        setenv(name, *text ? text + 1 : "", 1);
    else {
        snprintf(path, sizeof path, "%s/%s", base, text);
        setenv(name, path, 1);
    }
}

/* Where nothing has been set, the environment is asked once, so this is a process of its own. Write a kernel; 0 if it
 * is found until there is to be no cache. */
static int write_by_environment(const place *at)
{
    static char foreign[128];
    set_variable("HISTO_KERNEL_CACHE", at->own);
    set_variable("XDG_CACHE_HOME", at->caches);
    set_variable("HOME", at->home);
    snprintf(foreign, sizeof foreign, "%s/%s", base, at->foreign ? at->foreign : "");
    of_other = at->foreign ? foreign : NULL;
    if (chdir(base) != 0) return 3;
    const bool is_set = histo_cache_generation() != 0;
    histo_cache_write(key, value, sizeof value);
    if (is_set != (at->expected != NULL)) return 4;
    if (is_set && !is_found()) return 5;
    if (histo_kernel_cache(NULL) != HISTO_OK || is_found() || histo_cache_generation()) return 6;
    return 0;
}

static int count_files(const char *under, bool only_files)
{
    char command[128];
    int files = -1;
    snprintf(command, sizeof command, "find %s -mindepth 1 %s | wc -l", under, only_files ? "-type f" : "");
    FILE *pipe = popen(command, "r");
    if (!pipe || fscanf(pipe, "%d", &files) != 1) files = -1;
    if (pipe) pclose(pipe);
    return files;
}

static void by_environment(void **state)
{
    (void)state;
    static const place places[] = {
        {NULL, NULL, "home", "home/.cache/histo/kernels", NULL},
        {NULL, "", "home", "home/.cache/histo/kernels", NULL},
        {NULL, "=relative", "home", "home/.cache/histo/kernels", NULL},
        {NULL, "caches", "home", "caches/histo/kernels", NULL}, /* made, as the XDG base directories say */
        {NULL, "home", "=/", "home/histo/kernels", NULL},
        {"own/kernels", "caches", "home", "own/kernels", NULL},
        {"=relative", "caches", "home", "relative", NULL},
        {"own/kernels", NULL, NULL, "own/kernels", NULL},
        {"", "caches", "home", NULL, NULL},
        {NULL, NULL, NULL, NULL, NULL},
        {NULL, NULL, "", NULL, NULL},
        {NULL, NULL, "=home", NULL, NULL},
        {NULL, NULL, "nowhere", NULL, NULL},
        {NULL, NULL, "home", NULL, "home"},
        {NULL, "home", "home", NULL, "home"},
        {NULL, "home/file", "home", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const place *at = &places[i];
        strcpy(base + sizeof base - 7, "XXXXXX");
        assert_non_null(mkdtemp(base));
        snprintf(path, sizeof path, "%s/home", base);
        assert_int_equal(mkdir(path, 0755), 0);
        snprintf(path, sizeof path, "%s/home/file", base);
        fclose(fopen(path, "we"));
        fflush(NULL);
        const pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) _exit(write_by_environment(at));
        int status = -1;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (status) fail_msg("place %zu: the process ended with status %#x", i, (unsigned)status);
        snprintf(directory, sizeof directory, "%s/%s", base, at->expected ? at->expected : "home");
        const int files = each_file(NULL);
        if (files != 1 || count_files(base, true) != (at->expected ? 2 : 1) ||
            (!at->expected && count_files(base, false) != 2))
            fail_msg("place %zu: %d files in %s", i, files, directory);
        assert_int_equal(remove_base(), 0);
    }
}

static void settings(void **state)
{
    (void)state;
    char before[PATH_MAX];
    unsigned generation = histo_cache_generation();
    OK(histo_kernel_cache(NULL));
    assert_int_equal(histo_cache_generation(), 0);
    histo_cache_write(key, value, sizeof value);
    assert_false(is_found());
    assert_int_equal(histo_kernel_cache(""), HISTO_INVALID);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(base), 0);
    OK(histo_kernel_cache("made/here"));
    assert_int_equal(chdir(before), 0);
    assert_true(histo_cache_generation() > generation);
    histo_cache_write(key, value, sizeof value);
    assert_true(each_file(NULL) == 1 && is_found());
    OK(histo_kernel_cache("/dev/null/impossible"));
    histo_cache_write(key, value, sizeof value);
    assert_false(is_found());
}

static void write_file(const char *bytes, size_t size)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void damaged(void **state)
{
    (void)state;
    char bytes[256];
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    assert_true(size > sizeof key + sizeof value && size < sizeof bytes);
    fclose(file);
    for (size_t i = 0; i < size; i++) {
        write_file(bytes, i);
        assert_false(is_found());
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] = (char)(bytes[i] ^ 1 << bit);
            write_file(bytes, size);
            assert_false(is_found());
            bytes[i] = (char)(bytes[i] ^ 1 << bit);
        }
    }
    write_file(bytes, size + 1);
    assert_false(is_found());
    histo_cache_write(key, value, sizeof value);
    assert_true(is_found());
}

/* Two keys whose hashes are the same. */
static void of_another_key(void **state)
{
    (void)state;
    char mine[sizeof path];
    strcpy(mine, path);
    assert_int_equal(unlink(path), 0);
    histo_cache_write("another key", value, sizeof value);
    assert_int_equal(each_file(NULL), 1);
    assert_int_equal(rename(path, mine), 0);
    assert_false(is_found());
    histo_cache_write(key, value, sizeof value);
    assert_true(is_found());
}

static void writable_by_others(void **state)
{
    (void)state;
    for (mode_t mode = 0620; mode; mode = mode == 0620 ? 0602 : 0) {
        assert_int_equal(chmod(path, mode), 0);
        assert_false(is_found());
    }
    assert_int_equal(chmod(path, 0644), 0);
    assert_true(is_found());
    assert_int_equal(chmod(directory, 0770), 0);
    assert_false(is_found());
    assert_int_equal(unlink(path), 0);
    histo_cache_write(key, value, sizeof value);
    assert_int_equal(each_file(NULL), 0);
}

static void of_another_user(void **state)
{
    (void)state;
    others = true;
    assert_false(is_found());
    others = false;
    assert_true(is_found());
}

static void not_a_file(void **state)
{
    (void)state;
    char elsewhere[64];
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", base);
    assert_int_equal(rename(path, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, path), 0);
    assert_false(is_found());
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(is_found());
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    histo_cache_write(key, value, sizeof value);
    assert_false(is_found());
}

enum { HOUR = 3600, DAY = 24 * HOUR };

static void set_age(time_t seconds)
{
    struct timespec then = {.tv_sec = time(NULL) - seconds}, times[] = {then, then};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void make_old(void)
{
    set_age((time_t)2 * DAY);
}

static void bounded(void **state)
{
    (void)state;
    enum { FILES = 10, LEFT = 4 };
    char keys[FILES][16];
    size_t size;
    assert_int_equal(unlink(path), 0);
    for (int i = 0; i < FILES; i++) {
        snprintf(keys[i], sizeof keys[i], "key number %d", i);
        histo_cache_write(keys[i], value, sizeof value);
    }
    assert_int_equal(each_file(make_old), FILES);
    free(histo_cache_read(keys[3], &size)); /* used now */
    name_file("0123456789abcdef.kernel.abcdef");
    write_file("", 0);
    set_age((time_t)2 * HOUR);
    name_file("README");
    write_file("not a kernel", 12);
    make_old();
    histo_cache_trim(directory, LEFT * (24 + strlen(keys[0]) + sizeof value));
    int left = 0;
    for (int i = 0; i < FILES; i++) {
        void *found = histo_cache_read(keys[i], &size);
        left += found != NULL;
        if (i == 3) assert_non_null(found);
        free(found);
    }
    assert_int_equal(left, LEFT);
    assert_int_equal(each_file(NULL), LEFT + 1); /* the README, not the temporary file */
}

/* ---- Many processes ---- */

enum { KEYS = 16, WORDS = 5000 };

/* The value of a key: no two have the same. */
static void make_value(int number, char text[24], uint32_t words[WORDS])
{
    snprintf(text, 24, "key number %d", number);
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = (uint32_t)number * WORDS + i;
}

static bool is_whole(const char *of_key, const uint32_t words[WORDS], bool *found)
{
    size_t size = 0;
    void *bytes = histo_cache_read(of_key, &size);
    *found = bytes;
    const bool whole = !bytes || (size == WORDS * sizeof *words && memcmp(bytes, words, size) == 0);
    free(bytes);
    return whole;
}

/* Look for every kernel, and write it where it is not found, as a process does that has compiled it. */
static int use_cache(int first)
{
    for (int k = 0; k < KEYS; k++) {
        uint32_t words[WORDS];
        char text[24];
        bool found;
        make_value((first + k) % KEYS, text, words);
        if (!is_whole(text, words, &found)) return 1;
        if (found) continue;
        histo_cache_write(text, words, sizeof words);
        if (!is_whole(text, words, &found) || !found) return 2;
    }
    return 0;
}

/* All start at once, when the parent closes its end of a pipe. None sees a part of a file, and nothing else is left. */
static void two_hundred_processes(void **state)
{
    (void)state;
    enum { PROCESSES = 200 };
    pid_t pids[PROCESSES];
    int gate[2], failed = 0;
    assert_int_equal(pipe(gate), 0);
    fflush(NULL);
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] > 0) continue;
        char unused;
        close(gate[1]);
        _exit(read(gate[0], &unused, 1) == 0 ? use_cache(i) : 3);
    }
    close(gate[0]);
    close(gate[1]);
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        failed += status != 0;
    }
    assert_int_equal(failed, 0);
    assert_int_equal(each_file(NULL), KEYS);
    for (int k = 0; k < KEYS; k++) {
        uint32_t words[WORDS];
        char text[24];
        bool found;
        make_value(k, text, words);
        assert_true(is_whole(text, words, &found) && found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_environment), /* first, while nothing is set */
        cmocka_unit_test_setup_teardown(kept_for_this_user_only, fresh, remove_all),
        cmocka_unit_test_setup_teardown(settings, fresh, remove_all),
        cmocka_unit_test_setup_teardown(damaged, filled, remove_all),
        cmocka_unit_test_setup_teardown(of_another_key, filled, remove_all),
        cmocka_unit_test_setup_teardown(writable_by_others, filled, remove_all),
        cmocka_unit_test_setup_teardown(of_another_user, filled, remove_all),
        cmocka_unit_test_setup_teardown(not_a_file, filled, remove_all),
        cmocka_unit_test_setup_teardown(bounded, filled, remove_all),
        cmocka_unit_test_setup_teardown(two_hundred_processes, fresh, remove_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
