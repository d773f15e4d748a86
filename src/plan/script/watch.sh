
# Progress: slots and keys so far, of the moves that were not made by an earlier run.
slots_left=$slots_planned keys_left=$keys_planned slots_done=0 keys_done=0 reported=0

# Counts what has moved, says every few seconds how far it is, and stops when time is up: moved FROM TO SLOTS KEYS
moved() {
    slots_left=$((slots_left - $3)) slots_done=$((slots_done + $3))
    keys_left=$((keys_left > $4 ? keys_left - $4 : 0)) keys_done=$((keys_done + $4))
    look "$1" "$2" ''
    if ((max_minutes > 0 && SECONDS >= 60 * max_minutes && slots_left > 0)); then
        end_moves
        say "stopped after $max_minutes min with $slots_left slots left; run this script again to go on"
        exit 3
    fi
    ((pause_ms == 0)) || sleep "$pause"
}

# Every few seconds a look at both nodes, and a line: look FROM TO STATE
look() {
    ((SECONDS - reported >= 5)) || return 0
    reported=$SECONDS
    guard "$1" "$2"
    # Moving a slot takes as long as moving about a hundred keys.
    local left=$((SECONDS * (100 * slots_left + keys_left) / (100 * slots_done + keys_done + 1))) state=${3:+$3; }
    local rest="$slots_left slots left"
    ((slots_done == 0)) || rest+=", about $left s"
    say_over "  $state$slots_done slots and $keys_done keys moved, $((slots_done / SECONDS)) slots/s; $rest"
}

# Stops where going on does harm: a node is no primary any more or is not there, or the target evicts: guard FROM TO
guard() {
    local node role evicted
    for node in "$1" "$2"; do
        role=$(info "$node" replication role)
        [[ $role == master ]] && continue
        stop_moves "$1" "$2"
        die "${name[node]} is ${role:-not there} now, no primary any more: see redis-cli --cluster check, then make a new plan"
    done
    evicted=$(info "$2" stats evicted_keys)
    if [[ $evictions != allow ]] && ((${evicted:-0} > ${evicted_before[$2]:-0})); then
        stop_moves "$1" "$2"
        die "${name[$2]} evicts keys: $((evicted - evicted_before[$2])) since this script began; raise its maxmemory, then run this script again"
    fi
}

# Counts what an earlier run has moved: skipped SLOTS KEYS
skipped() {
    slots_left=$((slots_left - $1)) keys_left=$((keys_left > $2 ? keys_left - $2 : 0))
}

pause=$(printf '%d.%03d' $((pause_ms / 1000)) $((pause_ms % 1000)))
