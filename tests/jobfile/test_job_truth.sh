#!/bin/sh
# Public launch scripts and configurations state the facts that people read in them: for each line
# of the table truth.csv, where the shared data are, what `forerun job show` says of the job's
# files. Facts are compared whether or not the model can be asked for.
set -eu
source=${srcdir:-.}
jobs=$source/../shared/data/job-files
[ -e "$jobs/truth.csv" ] || { echo "SKIP the shared data are not here"; exit 77; }
command -v python3 >/dev/null || { echo "SKIP there is no python3"; exit 77; }
exec python3 -B "$source/tests/oracles/job_truth.py" ./forerun "$jobs"
