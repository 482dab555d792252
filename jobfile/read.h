/* jobfile/read.h - from a file's syntax to arguments: one function a syntax. */
#ifndef FR_STUDY_JOB_READ_H
#define FR_STUDY_JOB_READ_H

#include "jobfile/facts.h"
#include "jobfile/shell.h"

/* Shell scripts, read together: the arguments of the training program among what they run, and the
 * framework that knows most of them. FR_EPARSE: none does, and no other file can say it (is_alone).
 */
enum fr_status fr__job_read_shell(struct fr_job *j, const struct fr__shell_input *in, bool is_alone,
                                  struct fr_error *err);
/* A tree of keys, in YAML or JSON, or by its ending in TOML. On failure j has no argument more. */
enum fr_status fr__job_read_tree(struct fr_job *j, const struct fr__shell_text *file,
                                 const struct fr__shell_input *in, struct fr_error *err);

/* fr_job_read of files in memory: texts [o->n_files], o->files is not looked at. */
enum fr_status fr__job_read_texts(struct fr_job **out, const struct fr_job_options *o,
                                  const struct fr__shell_text texts[], struct fr_error *err);
#endif
