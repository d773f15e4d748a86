
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
    skipped "$3" "$4" "$5"
    slots_done=$((slots_done + $3)) keys_done=$((keys_done + $4)) bytes_done=$((bytes_done + $5))
    look "$1" "$2" ''
    if ((max_minutes > 0 && SECONDS >= 60 * max_minutes && slots_left > 0)); then
        end_moves
        say "stopped after $max_minutes min with $slots_left slots left; run this script again to go on"
        exit 3
    fi
    ((pause_ms == 0)) || sleep "$pause"
}

# Counts slots that are not left: skipped SLOTS KEYS BYTES
skipped() {
    slots_left=$((slots_left - $1)) keys_left=$((keys_left > $2 ? keys_left - $2 : 0)) bytes_left=$((bytes_left > $3 ? bytes_left - $3 : 0))
}

# How long moves take compared with others, of the constants of their kind; the moves so far tell how long that is in
# seconds: cost SLOTS KEYS BYTES
cost() {
    echo $(($1 * slot_usec + $2 * key_usec + $3 * mib_usec / 1048576))
}

# Every few seconds a look at both nodes, and a line: look FROM TO STATE
look() {
    local now=$SECONDS rest="$slots_left left" speed=''
    ((now - reported >= 5)) || return 0
    reported=$now
    guard "$1" "$2"
    if ((slots_done > 0 && now - began > 1)); then
        speed=", $((slots_done / (now - began))) slots/s"
        rest+=", $(((now - began) * $(cost "$slots_left" "$keys_left" "$bytes_left") / ($(cost "$slots_done" "$keys_done" "$bytes_done") + 1))) s at this speed"
    fi
    say_over "  $slots_done slots and $keys_done keys moved$speed; $rest${3:+; $3}"
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

pause=$(printf '%d.%03d' $((pause_ms / 1000)) $((pause_ms % 1000)))
