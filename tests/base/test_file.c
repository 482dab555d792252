/* tests/base/test_file.c - reading whole files, and files that appear whole or not at all. */
#include "config.h"

#include "base/file.h"
#include "tests/support/base_check.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each test works in a folder of its own, below the build folder. */
static char folder[] = "test_base_file.XXXXXX";

static void enter_folder(void)
{
    memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void leave_folder(void)
{
    DIR *d = opendir(".");

    ck_assert_ptr_nonnull(d);
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            ck_assert_int_eq(remove(e->d_name), 0);
    closedir(d);
    ck_assert_int_eq(chdir(".."), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

static int count_entries(void)
{
    DIR *d = opendir(".");
    int n = -2; /* . and .. */

    ck_assert_ptr_nonnull(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void put_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");

    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    ck_assert_int_eq(fclose(f), 0);
}

static void assert_file(const char *path, const char *expected)
{
    struct fr_error err;
    char *text;
    size_t len;

    ck_assert_int_eq(fr__read_file(path, 1000, &text, &len, &err), FR_OK);
    ck_assert_uint_eq(len, strlen(expected));
    ck_assert_str_eq(text, expected);
    free(text);
}

/* ---- reading ---- */

TEST(files_of_any_small_size_are_read_whole)
{
    put_file("empty", "");
    assert_file("empty", "");
    put_file("one", "x");
    assert_file("one", "x");
    put_file("some", "a\nb\n");
    assert_file("some", "a\nb\n");
}

TEST(a_file_may_have_just_the_size_allowed)
{
    struct fr_error err;
    char *text = NULL;
    size_t len;

    put_file("f", "12345");
    ck_assert_int_eq(fr__read_file("f", 5, &text, &len, &err), FR_OK);
    ck_assert_uint_eq(len, 5);
    free(text);
    text = NULL;
    ck_assert_int_eq(fr__read_file("f", 4, &text, &len, &err), FR_ERANGE);
    assert_message(&err, "f: is larger than 4 B");
    ck_assert_ptr_null(text);
    ck_assert_int_eq(fr__read_file("f", 0, &text, &len, &err), FR_ERANGE);
}

/* Linux gives the size of files in /proc as 0 whatever they hold. */
TEST(the_size_that_the_system_states_is_not_trusted)
{
    struct fr_error err;
    char *text;
    size_t len;

    if (!fr__exists("/proc/self/stat")) {
        printf("skipped: no /proc/self/stat\n");
        return;
    }
    ck_assert_int_eq(fr__read_file("/proc/self/stat", 1 << 20, &text, &len, &err), FR_OK);
    ck_assert_uint_gt(len, 10);
    ck_assert_uint_eq(strlen(text), len);
    free(text);
    ck_assert_int_eq(fr__read_file("/proc/self/stat", 10, &text, &len, &err), FR_ERANGE);
}

/* Opening a pipe without a writer would wait forever: Check's time limit would end this test. */
TEST(what_is_no_regular_file_is_refused_at_once)
{
    struct fr_error err;
    char *text;
    size_t len;

    ck_assert_int_eq(mkfifo("pipe", 0600), 0);
    ck_assert_int_eq(fr__read_file("pipe", 10, &text, &len, &err), FR_EPARSE);
    assert_message(&err, "pipe: is a pipe or a device, expected a regular file");
    ck_assert_int_eq(fr__read_file("/dev/zero", 10, &text, &len, &err), FR_EPARSE);
    assert_message(&err, "/dev/zero: is a pipe or a device, expected a regular file");
    ck_assert_int_eq(fr__read_file(".", 10, &text, &len, &err), FR_EPARSE);
    assert_message(&err, ".: is a folder, expected a file");
}

TEST(what_does_not_exist_is_named)
{
    struct fr_error err;
    char *text;
    size_t len;

    ck_assert_int_eq(fr__read_file("nothing", 10, &text, &len, &err), FR_ENOENT);
    assert_message(&err, "nothing: cannot open: No such file or directory");
    ck_assert_int_eq(fr__read_file("", 10, &text, &len, &err), FR_ENOENT);
    put_file("file", "");
    ck_assert_int_eq(fr__read_file("file/below", 10, &text, &len, &err), FR_ENOENT);
}

TEST(folders_and_files_are_told_apart)
{
    put_file("file", "");
    ck_assert(fr__is_folder("."));
    ck_assert(!fr__is_folder("file"));
    ck_assert(!fr__is_folder("nothing"));
    ck_assert(fr__exists("."));
    ck_assert(fr__exists("file"));
    ck_assert(!fr__exists("nothing"));
}

/* ---- writing ---- */

static void write_out(const char *path, const char *text)
{
    struct fr_error err;
    struct fr__out out;

    ck_assert_int_eq(fr__out_open(&out, path, &err), FR_OK);
    fputs(text, out.f);
    ck_assert_int_eq(fr__out_commit(&out, &err), FR_OK);
    fr__out_abort(&out); /* does nothing any more */
}

TEST(a_file_appears_on_commit_only)
{
    struct fr_error err;
    struct fr__out out;

    ck_assert_int_eq(fr__out_open(&out, "f", &err), FR_OK);
    fputs("new", out.f);
    ck_assert(!fr__exists("f"));
    ck_assert_int_eq(fr__out_commit(&out, &err), FR_OK);
    assert_file("f", "new");
    ck_assert_int_eq(count_entries(), 1);
}

TEST(an_abandoned_file_leaves_nothing_and_changes_nothing)
{
    struct fr_error err;
    struct fr__out out;

    put_file("f", "old");
    ck_assert_int_eq(fr__out_open(&out, "f", &err), FR_OK);
    fputs("new", out.f);
    fr__out_abort(&out);
    fr__out_abort(&out);
    assert_file("f", "old");
    ck_assert_int_eq(count_entries(), 1);
}

TEST(two_writers_of_one_file_do_not_mix)
{
    struct fr_error err;
    struct fr__out a, b;

    ck_assert_int_eq(fr__out_open(&a, "f", &err), FR_OK);
    ck_assert_int_eq(fr__out_open(&b, "f", &err), FR_OK);
    fputs("first", a.f);
    fputs("second", b.f);
    ck_assert_int_eq(fr__out_commit(&b, &err), FR_OK);
    assert_file("f", "second");
    ck_assert_int_eq(fr__out_commit(&a, &err), FR_OK);
    assert_file("f", "first");
    ck_assert_int_eq(count_entries(), 1);
}

TEST(a_new_file_has_the_permissions_of_the_mask)
{
    mode_t old = umask(027);
    struct stat sb;

    write_out("f", "x");
    umask(old);
    ck_assert_int_eq(stat("f", &sb), 0);
    ck_assert_uint_eq(sb.st_mode & 0777, 0640);
}

TEST(a_replaced_file_keeps_its_permissions)
{
    struct stat sb;

    put_file("f", "old");
    ck_assert_int_eq(chmod("f", 0604), 0);
    write_out("f", "new");
    ck_assert_int_eq(stat("f", &sb), 0);
    ck_assert_uint_eq(sb.st_mode & 0777, 0604);
    assert_file("f", "new");
}

TEST(a_link_is_followed_and_stays)
{
    struct stat sb;

    put_file("target", "old");
    ck_assert_int_eq(symlink("target", "link"), 0);
    write_out("link", "new");
    assert_file("target", "new");
    ck_assert_int_eq(lstat("link", &sb), 0);
    ck_assert(S_ISLNK(sb.st_mode));
}

TEST(a_name_as_long_as_the_file_system_allows_can_be_written)
{
    char name[256];

    memset(name, 'n', 255);
    name[255] = '\0';
    write_out(name, "x");
    assert_file(name, "x");
}

TEST(places_that_cannot_be_written_are_refused)
{
    struct fr_error err;
    struct fr__out out;

    ck_assert_int_eq(fr__out_open(&out, "no/such", &err), FR_EIO);
    assert_message(&err, "no/such: cannot write: No such file or directory");
    fr__out_abort(&out);
    ck_assert_int_eq(fr__out_open(&out, ".", &err), FR_EIO);
    assert_message(&err, ".: is a folder, expected a file");
    fr__out_abort(&out);
}

TEST(a_device_is_written_in_place)
{
    struct stat sb;

    write_out("/dev/null", "x");
    ck_assert_int_eq(stat("/dev/null", &sb), 0);
    ck_assert(S_ISCHR(sb.st_mode));
}

/* The shell's "forerun -o /dev/stdout > f": what was there before stays, the file is the same. */
TEST(standard_output_in_a_file_is_appended_to)
{
    int saved = dup(STDOUT_FILENO), fd = open("f", O_WRONLY | O_CREAT, 0600);

    ck_assert_int_ge(saved, 0);
    ck_assert_int_ge(fd, 0);
    fflush(stdout);
    ck_assert_int_eq(write(fd, "a", 1), 1);
    ck_assert_int_eq(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
    write_out("/dev/stdout", "b");
    ck_assert_int_eq(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
    close(fd);
    close(saved);
    assert_file("f", "ab");
    ck_assert_int_eq(count_entries(), 1);
}

TEST(a_full_disk_is_an_error_at_the_latest_on_commit)
{
    struct fr_error err;
    struct fr__out out;

    if (!fr__exists("/dev/full")) {
        printf("skipped: no /dev/full\n");
        return;
    }
    for (int is_large = 0; is_large < 2; is_large++) { /* more than stdio's buffer, or less */
        ck_assert_int_eq(fr__out_open(&out, "/dev/full", &err), FR_OK);
        for (int i = 0; i < (is_large ? 1 << 20 : 1); i++)
            putc('x', out.f);
        ck_assert_int_eq(fr__out_commit(&out, &err), FR_EIO);
        assert_message(&err, "/dev/full: cannot write: No space left on device");
    }
}

TEST(two_names_of_one_file_are_known_also_before_it_is_there)
{
    static const struct {
        const char *a, *b;
        bool is_same;
    } cases[] = {
        {"new.csv", "./new.csv", true},
        {"new.csv", "in/../new.csv", true},
        {"in/new.csv", "link/new.csv", true},
        {"in/new.csv", "in//new.csv", true},
        {"dangling", "new.csv", true}, /* to write through the link makes new.csv */
        {"in/dangling", "new.csv", true},
        {"new.csv", "other.csv", false},
        {"new.csv", "in/new.csv", false},
        {"old.csv", "new.csv", false},
        {"old.csv", "hard.csv", true},
        {"old.csv", "soft.csv", true},
        {"in/../soft.csv", "./hard.csv", true},
        {"no/new.csv", "no/new.csv", false}, /* nothing can stand there */
        {"loop", "loop", false},
        {"", "", false},
    };

    put_file("old.csv", "old");
    ck_assert_int_eq(mkdir("in", 0777), 0);
    ck_assert_int_eq(symlink("in", "link"), 0);
    ck_assert_int_eq(symlink("new.csv", "dangling"), 0);
    ck_assert_int_eq(symlink("../dangling", "in/dangling"), 0);
    ck_assert_int_eq(symlink("loop", "loop"), 0);
    ck_assert_int_eq(symlink("old.csv", "soft.csv"), 0);
    ck_assert_int_eq(link("old.csv", "hard.csv"), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_msg(fr__is_same_file(cases[i].a, cases[i].b) == cases[i].is_same, "%s, %s",
                      cases[i].a, cases[i].b);
        ck_assert(fr__is_same_file(cases[i].b, cases[i].a) == cases[i].is_same);
    }
    ck_assert_int_eq(unlink("in/dangling"), 0);
}

int main(void)
{
    TCase *tc = tcase_create("file");

    tcase_add_checked_fixture(tc, enter_folder, leave_folder);
    add_tests(tc);
    return run_case(tc, "file");
}
