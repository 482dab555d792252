/* tests/torture/failing_malloc.c - allocation functions that fail when they are told to.
 *
 * Loaded into the command with LD_PRELOAD. TORTURE_FAIL=N fails the N-th allocation, counted from
 * 1; TORTURE_FAIL=N+ fails it and all that follow; without it nothing fails. At the end of the
 * process two numbers are written to the file TORTURE_REPORT: how many allocations were asked for,
 * and how many blocks were never freed. With TORTURE_SITES, a line each follows: the number of the
 * first allocation from each place, where a place is the innermost functions on the stack.
 * Libraries are counted as well, since their failures have to be noticed too. Needs glibc, whose
 * own functions are reachable under a second name.
 */
#include "config.h"

#include <errno.h>
#ifdef __GLIBC__
#include <execinfo.h>
#endif
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

/* Places that were seen, by the hash of their stack, and the first allocation of each. */
enum { DEPTH = 10, N_SLOTS = 1 << 16, MOST_SITES = N_SLOTS / 2 };
static bool wants_sites;
static atomic_flag sites_in_use = ATOMIC_FLAG_INIT;
static uint64_t slots[N_SLOTS];
static unsigned long first[MOST_SITES];
static size_t n_sites;

static void note_site(unsigned long n)
{
    void *stack[DEPTH];
    int depth = backtrace(stack, DEPTH);
    uint64_t h = UINT64_C(14695981039346656037);
    size_t slot;

    for (int i = 0; i < depth; i++)
        h = (h ^ (uint64_t)(uintptr_t)stack[i]) * UINT64_C(1099511628211);
    h += h == 0;
    while (atomic_flag_test_and_set(&sites_in_use))
        ;
    for (slot = (size_t)(h >> 40) % N_SLOTS; slots[slot] && slots[slot] != h;)
        slot = (slot + 1) % N_SLOTS;
    if (!slots[slot] && n_sites < MOST_SITES) {
        slots[slot] = h;
        first[n_sites++] = n;
    }
    atomic_flag_clear(&sites_in_use);
}

__attribute__((constructor)) static void start(void)
{
    const char *text = getenv("TORTURE_FAIL");
    void *unused[1];
    char *end;

    unsetenv("LD_PRELOAD"); /* programs that the command starts are left in peace */
    if (!text)
        return;
    (void)backtrace(unused, 1); /* its first call allocates, so that comes before wants_sites */
    wants_sites = getenv("TORTURE_SITES") != NULL;
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
    for (size_t i = 0; i < n_sites; i++) {
        len = snprintf(text, sizeof(text), "%lu\n", first[i]);
        if (write(fd, text, (size_t)len) != len)
            _exit(99);
    }
    close(fd);
}

static bool is_refused(void)
{
    unsigned long n = atomic_fetch_add(&n_asked, 1) + 1;
    bool is_hit = failing && (n == failing || (fails_onward && n > failing));

    if (is_hit && n == failing && getenv("TORTURE_STOP"))
        abort(); /* for a debugger: who asked */
    if (wants_sites)
        note_site(n);
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
