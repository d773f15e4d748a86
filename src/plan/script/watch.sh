
# Progress of this run. What an earlier run has moved is neither done nor left.
slots_left=$slots_planned keys_left=$keys_planned bytes_left=$bytes_planned
slots_done=0 keys_done=0 bytes_done=0
began=0 reported=0 # seconds

begin_moves() {
    began=$SECONDS
    reported=$((began - 3)) # the first line comes after two seconds
}

# Counts slots that have moved, says every few seconds how far it is, and stops when time is up: moved FROM TO SLOTS KEYS BYTES
moved() {
    local from=$1 to=$2 slots=$3 keys=$4 bytes=$5
    skipped "$slots" "$keys" "$bytes"
    slots_done=$((slots_done + slots)) keys_done=$((keys_done + keys)) bytes_done=$((bytes_done + bytes))
    state=''
    look "$from" "$to"
    if ((max_minutes > 0 && SECONDS >= 60 * max_minutes && slots_left > 0)); then
        end_moves
        say "stopped after $max_minutes min with $slots_left slots left; run this script again to go on"
        exit 3
    fi
    ((pause_ms == 0)) || sleep "$pause"
}

# Counts slots that are not left: skipped SLOTS KEYS BYTES
skipped() {
    local slots=$1 keys=$2 bytes=$3
    slots_left=$((slots_left - slots))
    keys_left=$((keys_left > keys ? keys_left - keys : 0)) bytes_left=$((bytes_left > bytes ? bytes_left - bytes : 0))
}

# How long moves take compared with others, of the constants of their kind; the moves so far tell how long that is in
# seconds: cost SLOTS KEYS BYTES
cost() {
    local slots=$1 keys=$2 bytes=$3
    echo $((slots * slot_usec + keys * key_usec + bytes * mib_usec / 1048576))
}

# Every few seconds a look at both nodes, and a line: look FROM TO, with `state` of what is under way
look() {
    local from=$1 to=$2 now=$SECONDS ahead="$slots_left left" speed=''
    ((now - reported >= 5)) || return 0
    reported=$now
    guard "$from" "$to"
    if ((slots_done > 0 && now - began > 1)); then
        speed=", $((slots_done / (now - began))) slots/s"
        ahead+=", $(((now - began) * $(cost "$slots_left" "$keys_left" "$bytes_left") / ($(cost "$slots_done" "$keys_done" "$bytes_done") + 1))) s at this speed"
    fi
    say_over "  $slots_done slots and $keys_done keys moved$speed; $ahead${state:+; $state}"
}

# Stops where going on does harm: a node is no primary any more or is not there, or the target evicts: guard FROM TO
guard() {
    local from=$1 to=$2 node role kept
    for node in "$from" "$to"; do
        role=$(info "$node" replication role)
        [[ $role == master ]] && continue
        if [[ $node == "$from" && $role == slave ]]; then
            # The server itself makes a primary a replica once its last slot has left.
            kept=$(to_leave "$from") || exit 1
            [[ -n $kept ]] || continue
        fi
        stop_moves "$from" "$to"
        die "${name[node]} is ${role:-not there} now, no primary any more; $slots_done slots are moved: see redis-cli --cluster check, then make a new plan"
    done
    as_number "$(info "$to" stats evicted_keys)"
    if [[ $evictions != allow ]] && ((number > ${evicted_before[to]:-0})); then
        stop_moves "$from" "$to"
        die "${name[to]} evicts keys: $((number - ${evicted_before[to]:-0})) since this script began; raise its maxmemory, then run this script again"
    fi
}

pause=$(printf '%d.%03d' $((pause_ms / 1000)) $((pause_ms % 1000)))
