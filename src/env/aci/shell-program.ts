/**
 * The bash program behind `shell`. Arguments: the folder for what is kept, the command. All its own names begin with
 * `__sk_`, and nothing in it starts a process except mkdir on the first call: a process costs a guest a million
 * instructions. It must work under whatever options (`set -eu`, noclobber, noglob) the user left on.
 */
const save = String.raw`
__sk_rc=$?
trap - EXIT
{
  set +o >| "$__sk_dir/options"
  set +eufCx
  __sk_ifs=$IFS
  IFS=' '
  {
    printf 'cd -- %q 2>/dev/null || printf "%%s\\n" "The folder "%q" is gone; going on in $HOME."\n' "$PWD" "$PWD"
    printf '__sk_last=%d\n' "$__sk_rc"
    printf 'IFS=%q\n' "$__sk_ifs"
    umask -p
    shopt -p
    declare -f
    alias -p
    compgen -v >| "$__sk_dir/names"
    while IFS= read -r __sk_name; do
      case $__sk_name in
        __sk_*|BASH*|EPOCH*|IFS|EUID|PPID|UID|SHELLOPTS|GROUPS|FUNCNAME|DIRSTACK|PIPESTATUS|RANDOM|SRANDOM|SECONDS|LINENO|HOSTNAME|SHLVL|COMP_*|COPROC|PWD|OPTIND|_) ;;
        *) declare -p "$__sk_name" ;;
      esac
    done < "$__sk_dir/names"
    printf '. %q\n' "$__sk_dir/options"
  } >| "$__sk_dir/state"
} 2>/dev/null
exit "$__sk_rc"
`;

export const shellProgram = String.raw`
__sk_dir=$1
__sk_command=$2
shift 2
[[ -d $__sk_dir ]] || mkdir -m 700 -- "$__sk_dir" || exit 125
exec >> "$__sk_dir/output" 2>&1 < /dev/null
__sk_save='${save.replaceAll("'", String.raw`'\''`)}'
__sk_last=0
shopt -s expand_aliases
trap 'eval "$__sk_save"' EXIT
__sk_status() { unset -f __sk_status; return "$1"; }
if [[ -r $__sk_dir/state ]]; then . "$__sk_dir/state"; fi
[[ $- == *e* ]] || __sk_status "$__sk_last"
eval "$__sk_command"
eval "$__sk_save"
`;
