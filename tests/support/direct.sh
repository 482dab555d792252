# tests/support/direct.sh - the command without libtool's wrapper script, which takes eight times as
# long as the command needs to start. Read with "." in the build folder. Sets $forerun, and PATH so
# that "forerun" is the same; where there is no wrapper, it is build/forerun.
forerun=$(pwd)/forerun
if [ -x .libs/forerun ] && [ -e .libs/libforerun.so ]; then
    forerun=$(pwd)/.libs/forerun
    LD_LIBRARY_PATH=$(pwd)/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
fi
PATH=$(dirname "$forerun"):$PATH
