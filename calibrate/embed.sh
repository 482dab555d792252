#!/bin/sh
# calibrate/embed.sh FILE.yaml... - C source of the table of device files, on standard output. Bytes,
# not string literals: a compiler need not take long ones.
set -eu
echo '/* Made by calibrate/embed.sh from calibrate/devices/. */'
echo '#include "calibrate/device_file.h"'
i=0
for file; do
    i=$((i + 1))
    echo "static const char text$i[] = {"
    od -An -v -tu1 "$file" | sed 's/  */,/g; s/^,//; s/$/,/'
    echo '};'
done
echo 'const struct fr__shipped fr__shipped[] = {'
i=0
for file; do
    i=$((i + 1))
    name=${file##*/}
    echo "    {\"${name%.yaml}\", text$i, sizeof(text$i)},"
done
echo '};'
echo "const size_t fr__n_shipped = $i;"
