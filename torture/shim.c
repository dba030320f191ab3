/* Counts the I/O calls on one folder's files and makes the k-th of them fail, or the process die in it.
 *
 * Loaded with LD_PRELOAD, quiet until torture_arm() names the folder. stat and mmap pass through uncounted.
 * torture_record() writes down every change of the folder, with its bytes. Linux on 64 bits; the real calls are raw
 * system calls.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum action { NONE, KILL_BEFORE, HALF_THEN_KILL, KILL_AFTER, FAIL_ONCE, FAIL_FROM_HERE, SHORT };

#define MOST_CALLS 65536
#define MOST_FILES 4096

static char folder[PATH_MAX];
static size_t folder_length;
static char watched[MOST_FILES];
static char kinds[MOST_CALLS];
static long calls, target;
static enum action wanted;
static int error;
static int failing;

/* Watch `path` and what is below it; at call `k` (from 1) do `action`, with `number` for an errno. */
void torture_arm(const char *path, long k, int action, int number)
{
    strncpy(folder, path, sizeof folder - 1);
    folder_length = strlen(folder);
    memset(watched, 0, sizeof watched);
    calls = 0;
    failing = 0;
    target = k;
    wanted = (enum action)action;
    error = number;
}

long torture_disarm(void)
{
    folder_length = 0;
    return calls;
}

/* One letter for each call so far: o(pen) r(ead) w(rite) s(ync) t(runcate) u(nlink) m(ove or link) c(lose)
 * a(ttributes) l(ock) */
const char *torture_kinds(void) { return kinds; }

static int record = -1;
static char names[MOST_FILES][NAME_MAX + 1];

/* From now on, write every change into a file: a kind, two names, a place and bytes. */
void torture_record(const char *path)
{
    record = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void written_down(char kind, const char *name, const char *other, long place, const void *bytes, long n)
{
    if (record < 0)
        return;
    char head[2 * (NAME_MAX + 2) + 64];
    int length = snprintf(head, sizeof head, "%c\t%s\t%s\t%ld\t%ld\n", kind, name, other, place, n);
    if (syscall(SYS_write, record, head, length) != length || (n && syscall(SYS_write, record, bytes, n) != n))
        abort();
}

static int inside(const char *path)
{
    return folder_length && strncmp(path, folder, folder_length) == 0
        && (path[folder_length] == 0 || path[folder_length] == '/');
}

static int is_watched(int fd) { return folder_length && fd >= 0 && fd < MOST_FILES && watched[fd]; }

static void die(void)
{
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;)
        pause();
}

/* Count a call. Return 1 if it must fail; errno is set then. Allocating calls alone meet a full disk. */
static int before(char kind, int allocates)
{
    long n = __sync_add_and_fetch(&calls, 1);
    if (n < MOST_CALLS)
        kinds[n - 1] = kind;
    if (n == target && wanted == KILL_BEFORE)
        die();
    if (n == target && wanted == FAIL_FROM_HERE)
        failing = 1;
    if ((n == target && wanted == FAIL_ONCE) || (failing && (error != ENOSPC || allocates))) {
        errno = error;
        return 1;
    }
    return 0;
}

static void after(void)
{
    if (calls == target && wanted == KILL_AFTER)
        die();
}

static int dies_halfway(void) { return calls == target && wanted == HALF_THEN_KILL; }
static int is_cut(void) { return calls == target && (wanted == HALF_THEN_KILL || wanted == SHORT); }

#define ON_FILE(kind, allocates, fd, call)                                                                            \
    do {                                                                                                               \
        if (!is_watched(fd))                                                                                           \
            return call;                                                                                               \
        if (before(kind, allocates))                                                                                   \
            return -1;                                                                                                 \
        long done = call;                                                                                              \
        after();                                                                                                       \
        return done;                                                                                                   \
    } while (0)

#define ON_PATH(kind, allocates, is_inside, call)                                                                     \
    do {                                                                                                               \
        if (!(is_inside))                                                                                              \
            return call;                                                                                               \
        if (before(kind, allocates))                                                                                   \
            return -1;                                                                                                 \
        int done = call;                                                                                               \
        after();                                                                                                       \
        return done;                                                                                                   \
    } while (0)

static int opened(int at, const char *path, int flags, mode_t mode)
{
    int ours = inside(path) || (path[0] != '/' && is_watched(at));
    if (ours && before('o', flags & O_CREAT))
        return -1;
    int made = ours && (flags & O_CREAT) && syscall(SYS_faccessat, at, path, F_OK) != 0;
    int fd = (int)syscall(SYS_openat, at, path, flags, mode);
    if (fd >= 0 && fd < MOST_FILES)
        watched[fd] = (char)ours;
    if (fd >= 0 && fd < MOST_FILES && ours) {
        strncpy(names[fd], inside(path) && path[folder_length] == 0 ? "" : last_part(path), NAME_MAX);
        if (made)
            written_down('o', names[fd], "", 0, "", 0);
    }
    if (ours)
        after();
    return fd;
}

#define OPEN(name)                                                                                                    \
    int name(const char *path, int flags, ...)                                                                        \
    {                                                                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = va_arg(rest, mode_t);                                                                            \
        va_end(rest);                                                                                                  \
        return opened(AT_FDCWD, path, flags, mode);                                                                    \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                                                  \
    int name(int at, const char *path, int flags, ...)                                                                \
    {                                                                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = va_arg(rest, mode_t);                                                                            \
        va_end(rest);                                                                                                  \
        return opened(at, path, flags, mode);                                                                          \
    }
OPENAT(openat)
OPENAT(openat64)

int close(int fd)
{
    if (!is_watched(fd))
        return (int)syscall(SYS_close, fd);
    int fails = before('c', 0), number = errno;
    watched[fd] = 0;
    int done = (int)syscall(SYS_close, fd); /* a close that fails has closed */
    after();
    if (!fails)
        return done;
    errno = number;
    return -1;
}

ssize_t read(int fd, void *to, size_t n) { ON_FILE('r', 0, fd, syscall(SYS_read, fd, to, n)); }
ssize_t pread(int fd, void *to, size_t n, off_t at) { ON_FILE('r', 0, fd, syscall(SYS_pread64, fd, to, n, at)); }
ssize_t pread64(int fd, void *to, size_t n, off_t at) { ON_FILE('r', 0, fd, syscall(SYS_pread64, fd, to, n, at)); }

ssize_t write(int fd, const void *from, size_t n)
{
    if (!is_watched(fd))
        return syscall(SYS_write, fd, from, n);
    if (before('w', 1))
        return -1;
    ssize_t done = syscall(SYS_write, fd, from, is_cut() ? n / 2 : n);
    if (dies_halfway())
        die();
    if (done > 0)
        written_down('w', names[fd], "", syscall(SYS_lseek, fd, 0, SEEK_CUR) - done, from, done);
    after();
    return done;
}

ssize_t pwrite64(int fd, const void *from, size_t n, off_t at)
{
    if (!is_watched(fd))
        return syscall(SYS_pwrite64, fd, from, n, at);
    if (before('w', 1))
        return -1;
    ssize_t done = syscall(SYS_pwrite64, fd, from, is_cut() ? n / 2 : n, at);
    if (dies_halfway())
        die();
    if (done > 0)
        written_down('w', names[fd], "", at, from, done);
    after();
    return done;
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at) { return pwrite64(fd, from, n, at); }

static ssize_t copied(int fd, size_t n, long call, long a, long b, long c, long d, long e)
{
    if (!is_watched(fd))
        return syscall(call, a, b, c, d, n, e);
    if (before('w', 1))
        return -1;
    ssize_t done = syscall(call, a, b, c, d, dies_halfway() ? n / 2 : n, e);
    if (dies_halfway())
        die();
    after();
    return done;
}

ssize_t copy_file_range(int in, off_t *from, int out, off_t *to, size_t n, unsigned flags)
{
    return copied(out, n, SYS_copy_file_range, in, (long)from, out, (long)to, flags);
}

ssize_t sendfile(int out, int in, off_t *from, size_t n)
{
    if (!is_watched(out))
        return syscall(SYS_sendfile, out, in, from, n);
    if (before('w', 1))
        return -1;
    ssize_t done = syscall(SYS_sendfile, out, in, from, dies_halfway() ? n / 2 : n);
    if (dies_halfway())
        die();
    after();
    return done;
}
ssize_t sendfile64(int out, int in, off_t *from, size_t n) { return sendfile(out, in, from, n); }

static int truncated(int fd, off_t n)
{
    int done = (int)syscall(SYS_ftruncate, fd, n);
    if (done == 0 && is_watched(fd))
        written_down('t', names[fd], "", n, "", 0);
    return done;
}
int ftruncate(int fd, off_t n) { ON_FILE('t', 1, fd, truncated(fd, n)); }
int ftruncate64(int fd, off_t n) { ON_FILE('t', 1, fd, truncated(fd, n)); }
int fallocate(int fd, int how, off_t at, off_t n) { ON_FILE('t', 1, fd, (int)syscall(SYS_fallocate, fd, how, at, n)); }
int fallocate64(int fd, int how, off_t at, off_t n) { ON_FILE('t', 1, fd, (int)syscall(SYS_fallocate, fd, how, at, n)); }
static int synced(int fd, long call)
{
    int done = (int)syscall(call, fd);
    if (done == 0 && is_watched(fd))
        written_down('s', names[fd], "", 0, "", 0);
    return done;
}
int fsync(int fd) { ON_FILE('s', 1, fd, synced(fd, SYS_fsync)); }
int fdatasync(int fd) { ON_FILE('s', 1, fd, synced(fd, SYS_fdatasync)); }
int fchmod(int fd, mode_t mode) { ON_FILE('a', 0, fd, (int)syscall(SYS_fchmod, fd, mode)); }

static int unlinked(int at, const char *path, int flags)
{
    int done = (int)syscall(SYS_unlinkat, at, path, flags);
    if (done == 0)
        written_down('u', last_part(path), "", 0, "", 0);
    return done;
}
static int renamed(int a, const char *from, int b, const char *to)
{
    int done = (int)syscall(SYS_renameat2, a, from, b, to, 0);
    if (done == 0)
        written_down('m', last_part(from), last_part(to), 0, "", 0);
    return done;
}
static int linked(int a, const char *from, int b, const char *to, int flags)
{
    int done = (int)syscall(SYS_linkat, a, from, b, to, flags);
    if (done == 0)
        written_down('l', last_part(from), last_part(to), 0, "", 0);
    return done;
}
int unlink(const char *path) { ON_PATH('u', 0, inside(path), unlinked(AT_FDCWD, path, 0)); }
int unlinkat(int at, const char *path, int flags)
{
    ON_PATH('u', 0, inside(path) || is_watched(at), unlinked(at, path, flags));
}
int rename(const char *from, const char *to)
{
    ON_PATH('m', 0, inside(from) || inside(to), renamed(AT_FDCWD, from, AT_FDCWD, to));
}
int renameat(int a, const char *from, int b, const char *to)
{
    ON_PATH('m', 0, inside(from) || inside(to) || is_watched(b), renamed(a, from, b, to));
}
int link(const char *from, const char *to)
{
    ON_PATH('m', 1, inside(from) || inside(to), linked(AT_FDCWD, from, AT_FDCWD, to, 0));
}
int linkat(int a, const char *from, int b, const char *to, int flags)
{
    ON_PATH('m', 1, inside(from) || inside(to) || is_watched(b), linked(a, from, b, to, flags));
}

#define FCNTL(name)                                                                                                   \
    int name(int fd, int command, ...)                                                                                \
    {                                                                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, command);                                                                                       \
        long given = va_arg(rest, long);                                                                               \
        va_end(rest);                                                                                                  \
        if (command != F_SETLK && command != F_SETLKW)                                                                 \
            return (int)syscall(SYS_fcntl, fd, command, given);                                                        \
        ON_FILE('l', 0, fd, (int)syscall(SYS_fcntl, fd, command, given));                                              \
    }
FCNTL(fcntl)
FCNTL(fcntl64)
