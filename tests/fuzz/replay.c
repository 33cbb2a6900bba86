/* Replaces libFuzzer: runs a fuzz target on every file of the given folders. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat about;
    if (!file || fstat(fileno(file), &about) != 0) {
        perror(path);
        exit(1);
    }
    if (!S_ISREG(about.st_mode)) {
        fclose(file);
        return 0;
    }
    size_t size = (size_t)about.st_size;
    uint8_t *data = malloc(size ? size : 1); /* of the exact size, so that sanitizers detect reads past the end */
    if (!data || fread(data, 1, size, file) != size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

int main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (!folder) {
            perror(argv[i]);
            return 1;
        }
        for (struct dirent *entry; (entry = readdir(folder));) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            files += replay(path);
        }
        closedir(folder);
    }
    printf("%d files replayed\n", files);
    return files == 0;
}
