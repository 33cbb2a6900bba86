/* The control groups that limit this process, of version 1 or 2. */
#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

/* Called with the directory of each group. */
typedef void histo_cgroup_visitor(void *self, const char *directory);

/* Visit the groups that limit `controller` ("cpu", "memory"): those listed in the file `membership` and their parents,
 * under the directory `mount`. */
void histo_cgroups_visit(const char *membership, const char *mount, const char *controller, histo_cgroup_visitor *visit,
                         void *self);

/* Read up to two numbers from file `name` in a group's directory; returns how many were read. */
int histo_cgroup_read(const char *directory, const char *name, long long *first, long long *second);

#endif
