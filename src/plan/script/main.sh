declare -a now_of primary_of evicted_before is_replica
trap interrupted INT TERM HUP

run_job() {
    take "$1"
    shorten "${ranges[@]}"
    find_left
    skipped $((slots - rest)) $((keys * (slots - rest) / slots)) $((bytes * (slots - rest) / slots))
    if ((rest == 0)); then
        say "slots $few are on ${name[to]} already"
        return
    fi
    shorten "${left[@]}"
    say "slots $few: ${name[from]} -> ${name[to]}"
    move
}

if [[ -n ${1-} && $1 != --check ]]; then
    say "unknown argument \"$1\": nothing was moved; run this script with --check, or with none to move the slots"
    exit 2
fi
preflight
if [[ ${1-} == --check ]]; then
    say "nothing stands in the way of the moves"
    exit 0
fi
begin_moves
for job in ${jobs[@]+"${jobs[@]}"}; do run_job "$job"; done
end_moves
if ((slots_done)); then
    say "done in $((SECONDS - began)) s: $slots_done slots and about $keys_done keys moved"
else
    say "nothing is left to move: every slot is where this script puts it"
fi
((${#jobs[@]} == 0)) || verify
