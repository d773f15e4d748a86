declare -a primary_of is_able held peak evicted_before
# A signal that comes while bash 5.2 parses a $(...) has the trap parsed as if it were inside: it needs the ) and is lost
# without. Everywhere else the first line never returns.
on_signal=$'interrupted\n)'
# shellcheck disable=SC2064
trap "$on_signal" INT TERM HUP

# From node, to node, keys, bytes, ranges of slots.
run_job() {
    local from=$1 to=$2 keys=$3 bytes=$4 slots left rest
    shift 4
    slots=$(count "$@")
    left=$(missing "$from" "$to" "$@")
    rest=$(count $left)
    skipped $((slots - rest)) $((keys * (slots - rest) / slots)) $((bytes * (slots - rest) / slots))
    if ((rest == 0)); then
        say "slots $(in_short "$@") are on ${name[to]} already"
        return
    fi
    say "slots $(in_short $left): ${name[from]} -> ${name[to]}"
    move "$from" "$to" $((keys * rest / slots)) $((bytes * rest / slots)) $left
}

preflight
if [[ ${1-} == --check ]]; then
    say "nothing stands in the way of the moves"
    exit 0
fi
begin_moves
for job in ${jobs[@]+"${jobs[@]}"}; do run_job $job; done
end_moves
if ((slots_done)); then
    say "done in $((SECONDS - began)) s: $slots_done slots and about $keys_done keys moved"
else
    say "nothing is left to move: every slot is where this script puts it"
fi
