/* base/base.h - what every public function of libforerun shares: status, errors, number formats,
 * context.
 *
 * Status codes say what kind of thing went wrong; the sentence in fr_error says what, where and
 * what was expected. The function that knows the cause writes the sentence; callers pass it on.
 */
#ifndef FORERUN_BASE_H
#define FORERUN_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FR_NONE UINT32_MAX /* "no such index" wherever an id is a uint32_t */

enum fr_status {
    FR_OK = 0,
    FR_EPARSE,       /* an input file or argument is malformed */
    FR_ERANGE,       /* a value is outside what is allowed */
    FR_EUSAGE,       /* options that make no sense, or not together */
    FR_ENOENT,       /* a name, file or route that does not exist */
    FR_EIO,          /* reading or writing failed */
    FR_ENOMEM,       /* the simulator itself ran out of memory */
    FR_EUNSUPPORTED, /* this build or this strategy cannot do that */
    FR_ENOROOM,      /* the model does not fit into the devices' memory, however it is placed */
    FR_EDEADLOCK,    /* the plan cannot finish: tasks wait for each other */
    FR_ECHECK,       /* a self-check found the result inconsistent: a bug of ours */
    FR_ECANCELLED    /* interrupted on request */
};

struct fr_loc {
    const char *file;   /* NULL: no file (a command-line argument, or made in memory) */
    unsigned line, col; /* 1-based, col in bytes; line 0: the whole file */
};

/* Filled on failure only. The file name is copied, so the error outlives what was being read.
 * Text and file hold no control characters, whatever the input held. */
struct fr_error {
    enum fr_status code;
    unsigned line, col;
    char file[256]; /* "" when there is none */
    char text[512];
};

/* "file:line:col: text" (the parts that exist) into buf, always terminated; returns buf. */
const char *fr_error_string(const struct fr_error *err, char *buf, size_t n);

/* Turns off GSL's aborting error handler: the one global act. Call once before anything else;
 * calling it again does no harm. Not to be called while another thread uses the library. */
void fr_init(void);

/* The version of the library, e.g. "0.1.0". */
const char *fr_version(void);

/* ---- number formats ---- */

/* FR_AMP is no format of numbers but mixed precision: fp16 where PyTorch's automatic casts put
 * it, fp32 elsewhere. No device has a rate for it; its matrix products run at that of fp16. */
enum fr_dtype { FR_FP32, FR_TF32, FR_FP16, FR_BF16, FR_FP8, FR_FP4, FR_AMP, FR_N_DTYPES };

/* "fp32", ...; the parser of it returns FR_N_DTYPES for an unknown name. */
const char *fr_dtype_name(enum fr_dtype dtype);
enum fr_dtype fr_dtype_parse(const char *name);

/* ---- long work ---- */

/* How a caller follows and stops long work. All members may be NULL or zero. */
struct fr_context {
    uint64_t seed;
    const volatile int *cancel; /* non-zero: stop soon with FR_ECANCELLED */
    /* called now and then from the working thread; total 0: not known */
    void (*progress)(void *user, const char *what, uint64_t done, uint64_t total);
    void *progress_user;
    /* one line of a strategy's decision log, without the newline; owned by the library */
    void (*log)(void *user, const char *line);
    void *log_user;
    /* Of the memory of the machine that we run on: a question that needs more is refused with
     * FR_ENOMEM before it is taken. 0: no limit. */
    double memory_bytes;
    bool is_grey; /* pictures are drawn without colours, for print */
};

#ifdef __cplusplus
}
#endif
#endif
