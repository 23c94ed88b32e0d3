# Prints what `--stage schedule` makes of a schedule (the second argument) for a program (arguments behind it, as tulle explain takes
# them), after comparing the code that the two give; the first argument begins the names of files.
set -e
files=$1
given=$2
shift 2
tulle explain "$@" --schedule "$given" --stage schedule >"$files.schedule"
tulle explain "$@" --schedule "$given" --stage asm | grep -v '^#' >"$files.first"
tulle explain "$@" --schedule "@$files.schedule" --stage asm | grep -v '^#' >"$files.second"
cmp "$files.first" "$files.second" >&2
cat "$files.schedule"
