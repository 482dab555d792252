/* api/forerun.h - how a call of a verb ends. */
#ifndef FR_API_FORERUN_H
#define FR_API_FORERUN_H

/* How a call ended; the command's exit statuses, and one more. */
enum fr_call_status {
    FR_CALL_DONE = 0,
    FR_CALL_FAILED = 1,    /* something failed while running, such as a file to write */
    FR_CALL_USAGE = 2,     /* a request that makes no sense, or bad input */
    FR_CALL_NO_MEMORY = 3, /* nothing fits in the devices' memory; an answer may be there */
    FR_CALL_CANCELLED = 4
};

#endif
