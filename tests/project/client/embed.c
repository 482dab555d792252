/* tests/project/client/embed.c - a program of somebody else's that sees one header. It asks what
 * its words say and prints the answer, or shows that calls can be cancelled and made by two
 * threads.
 *
 *     embed VERB REQUEST          the JSON, or the text; an error as "LINE:COLUMN: sentence"
 *     embed columns VERB REQUEST  the tables of the answer
 *     embed cancel S VERB REQUEST cancels after S seconds; prints how long the call went on
 *     embed threads VERB REQUEST  two threads ask at once; fails unless they get the same
 */
#define _POSIX_C_SOURCE 200809L
#include <forerun/forerun.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ask(struct fr_api *api, const char *verb, const char *request)
{
    struct fr_reply *reply;
    enum fr_call_status status = fr_call(api, verb, request, &reply);

    if (fr_reply_json(reply))
        fputs(fr_reply_json(reply), stdout);
    else if (fr_reply_text(reply))
        fputs(fr_reply_text(reply), stdout);
    fputs(fr_reply_notes(reply), stderr);
    if (fr_reply_error(reply))
        fprintf(stderr, "%u:%u: %s\n", fr_reply_error_line(reply), fr_reply_error_column(reply),
                fr_reply_error(reply));
    fr_reply_free(reply);
    return (int)status;
}

static int print_columns(struct fr_api *api, const char *verb, const char *request)
{
    struct fr_reply *reply;
    enum fr_call_status status = fr_call(api, verb, request, &reply);

    for (size_t t = 0; t < fr_reply_n_tables(reply); t++) {
        printf("table '%s', %zu rows\n", fr_reply_table_name(reply, t), fr_reply_n_rows(reply, t));
        for (size_t c = 0; c < fr_reply_n_columns(reply, t); c++) {
            const double *numbers = fr_reply_numbers(reply, t, c);
            const char *const *texts = fr_reply_texts(reply, t, c);

            printf("%s", fr_reply_column_name(reply, t, c));
            for (size_t i = 0; i < fr_reply_n_rows(reply, t); i++)
                if (numbers)
                    printf(" %.17g", numbers[i]);
                else
                    printf(" %s", texts[i] ? texts[i] : "-");
            putchar('\n');
        }
    }
    fr_reply_free(reply);
    return (int)status;
}

/* ---- cancelling ---- */

struct watch {
    struct fr_api *api;
    double after_s, told_s;
    unsigned n_reports;
};

static void count(void *user, const char *what, uint64_t done, uint64_t total)
{
    struct watch *w = user;

    (void)what;
    (void)done;
    (void)total;
    w->n_reports++;
}

static void *cancel_later(void *user)
{
    struct watch *w = user;
    struct timespec nap = {(time_t)w->after_s,
                           (long)(1e9 * (w->after_s - (double)(time_t)w->after_s))};

    nanosleep(&nap, NULL);
    w->told_s = now_s();
    fr_api_cancel(w->api);
    return NULL;
}

/* A later call is refused until the program goes on. */
static int is_cancelled_until_resumed(struct fr_api *api)
{
    struct fr_reply *first, *second;
    enum fr_call_status before = fr_call(api, "topo list", NULL, &first), after;

    fr_api_resume(api);
    after = fr_call(api, "topo list", NULL, &second);
    fr_reply_free(first);
    fr_reply_free(second);
    return before == FR_CALL_CANCELLED && after == FR_CALL_DONE;
}

static int cancel_it(struct fr_api *api, double after_s, const char *verb, const char *request)
{
    struct watch w = {api, after_s, 0, 0};
    struct fr_reply *reply;
    enum fr_call_status status;
    pthread_t thread;
    double took_s;

    fr_api_on_progress(api, count, &w);
    pthread_create(&thread, NULL, cancel_later, &w);
    status = fr_call(api, verb, request, &reply);
    took_s = now_s();
    pthread_join(thread, NULL);
    printf("%.3f s after it was told, %s reports: %s\n", took_s - w.told_s,
           w.n_reports ? "some" : "no", fr_reply_error(reply) ? fr_reply_error(reply) : "done");
    fr_reply_free(reply);
    return is_cancelled_until_resumed(api) ? (int)status : 1;
}

/* ---- threads ---- */

struct asker {
    pthread_t thread;
    const char *verb, *request;
    struct fr_reply *reply;
    enum fr_call_status status;
};

static void *ask_alone(void *user)
{
    struct asker *a = user;
    struct fr_api *api = fr_api_new();

    a->status = fr_call(api, a->verb, a->request, &a->reply);
    fr_api_free(api);
    return NULL;
}

static int ask_twice(const char *verb, const char *request)
{
    struct asker a[2];
    int status = 1;

    for (int i = 0; i < 2; i++) {
        a[i].verb = verb;
        a[i].request = request;
        pthread_create(&a[i].thread, NULL, ask_alone, &a[i]);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(a[i].thread, NULL);
    if (fr_reply_json(a[0].reply) && fr_reply_json(a[1].reply) &&
        strcmp(fr_reply_json(a[0].reply), fr_reply_json(a[1].reply)) == 0) {
        fputs(fr_reply_json(a[0].reply), stdout);
        status = (int)a[0].status;
    }
    for (int i = 0; i < 2; i++)
        fr_reply_free(a[i].reply);
    return status;
}

int main(int argc, char *argv[])
{
    struct fr_api *api = fr_api_new();
    int status = 2;

    if (argc == 3)
        status = ask(api, argv[1], argv[2]);
    else if (argc == 4 && strcmp(argv[1], "columns") == 0)
        status = print_columns(api, argv[2], argv[3]);
    else if (argc == 5 && strcmp(argv[1], "cancel") == 0)
        status = cancel_it(api, strtod(argv[2], NULL), argv[3], argv[4]);
    else if (argc == 4 && strcmp(argv[1], "threads") == 0)
        status = ask_twice(argv[2], argv[3]);
    fr_api_free(api);
    return status;
}
