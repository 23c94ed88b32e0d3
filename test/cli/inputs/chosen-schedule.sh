# Prints the schedule that was chosen for a program (arguments from the second on, as tulle explain takes them), after comparing the
# code that it gives with the code without it; the first argument begins the names of files.
set -e
files=$1
shift
tulle explain "$@" --stage schedule >"$files.schedule"
for schedule in '' "$(cat "$files.schedule")"; do
  tulle explain "$@" --schedule "$schedule" --stage asm | grep -v '^#' >"$files.${schedule:+given}"
done
cmp "$files." "$files.given" >&2
cat "$files.schedule"
