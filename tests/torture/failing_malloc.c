/* tests/torture/failing_malloc.c - allocation functions that fail when they are told to.
 *
 * Loaded into the command with LD_PRELOAD. TORTURE_FAIL=N fails the N-th allocation, counted from
 * 1; TORTURE_FAIL=N+ fails it and all that follow; without it nothing fails. At the end of the
 * process two numbers are written to the file TORTURE_REPORT: how many allocations were asked for,
 * and how many blocks were never freed. Libraries are counted as well, since their failures have to
 * be noticed too. Needs glibc, whose own functions are reachable under a second name.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __GLIBC__
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *p);

static atomic_ulong n_asked, n_live;
static unsigned long failing;
static bool fails_onward;

__attribute__((constructor)) static void start(void)
{
    const char *text = getenv("TORTURE_FAIL");
    char *end;

    unsetenv("LD_PRELOAD"); /* programs that the command starts are left in peace */
    if (!text)
        return;
    fails_onward = strchr(text, '+') != NULL;
    failing = strtoul(text, &end, 10);
    atomic_store(&n_asked, 0);
}

/* Not fopen(), which allocates. */
__attribute__((destructor)) static void finish(void)
{
    const char *path = getenv("TORTURE_REPORT");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    char text[64];
    int len =
        snprintf(text, sizeof(text), "%lu %lu\n", atomic_load(&n_asked), atomic_load(&n_live));

    if (fd < 0)
        return;
    if (write(fd, text, (size_t)len) != len)
        _exit(99);
    close(fd);
}

static bool is_refused(void)
{
    unsigned long n = atomic_fetch_add(&n_asked, 1) + 1;
    bool is_hit = failing && (n == failing || (fails_onward && n > failing));

    if (is_hit && n == failing && getenv("TORTURE_STOP"))
        abort(); /* for a debugger: who asked */
    if (is_hit)
        errno = ENOMEM;
    return is_hit;
}

static void *counted(void *p)
{
    if (p)
        atomic_fetch_add(&n_live, 1);
    return p;
}

void *malloc(size_t size)
{
    return is_refused() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
    return is_refused() ? NULL : counted(__libc_calloc(n, size));
}

void *realloc(void *p, size_t size)
{
    void *grown;

    if (is_refused())
        return NULL;
    grown = __libc_realloc(p, size);
    return p ? grown : counted(grown);
}

void *memalign(size_t alignment, size_t size)
{
    return is_refused() ? NULL : counted(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *p = memalign(alignment, size);

    if (p)
        *out = p;
    return p ? 0 : ENOMEM;
}

void free(void *p)
{
    if (p)
        atomic_fetch_sub(&n_live, 1);
    __libc_free(p);
}
#else
typedef int no_shim; /* a translation unit must hold something */
#endif
