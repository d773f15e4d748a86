
# Progress of this run. What an earlier run has moved is neither done nor left.
slots_left=$slots_planned keys_left=$keys_planned bytes_left=$bytes_planned
slots_done=0 keys_done=0 bytes_done=0
began=0 reported=0 # seconds
state='' # of what is under way
pause=''
((pause_ms == 0)) || printf -v pause '%d.%03d' $((pause_ms / 1000)) $((pause_ms % 1000))

begin_moves() {
    began=$SECONDS
    reported=$((began - 3)) # the first line comes after two seconds
}

# Counts slots that have moved, says every few seconds how far it is, and stops when time is up: moved SLOTS KEYS BYTES
moved() {
    skipped "$@"
    slots_done=$((slots_done + $1)) keys_done=$((keys_done + $2)) bytes_done=$((bytes_done + $3))
    state=''
    look
    if ((max_minutes > 0 && SECONDS >= 60 * max_minutes && slots_left > 0)); then
        end_moves
        say "stopped after $max_minutes min with $slots_left slots left; run this script again to go on"
        exit 3
    fi
    [[ -z $pause ]] || nap "$pause"
}

# Counts slots that are not left: skipped SLOTS KEYS BYTES
skipped() {
    slots_left=$((slots_left - $1))
    keys_left=$((keys_left > $2 ? keys_left - $2 : 0)) bytes_left=$((bytes_left > $3 ? bytes_left - $3 : 0))
}

# Every few seconds a look at both nodes, and a line.
look() {
    local now=$SECONDS ahead="$slots_left left" speed='' left_cost done_cost
    ((now - reported >= 5)) || return 0
    reported=$now
    guard
    if ((slots_done > 0 && now - began > 1)); then
        speed=", $((slots_done / (now - began))) slots/s"
        # How long moves take compared with others, of the constants of their kind; the moves so far tell the seconds.
        left_cost=$((slots_left * slot_usec + keys_left * key_usec + bytes_left * mib_usec / 1048576))
        done_cost=$((slots_done * slot_usec + keys_done * key_usec + bytes_done * mib_usec / 1048576))
        ahead+=", $(((now - began) * left_cost / (done_cost + 1))) s at this speed"
    fi
    say_over "  $slots_done slots and $keys_done keys moved$speed; $ahead${state:+; $state}"
}

# Stops where going on does harm: a node is no primary any more or is not there, or the target evicts.
guard() {
    local node
    for node in "$from" "$to"; do
        info "$node"
        [[ $role != master ]] || continue
        # The server itself makes a primary a replica once its last slot has left.
        if [[ $node == "$from" && $role == slave ]] && ! has_to_give "$node"; then continue; fi
        stop_moves
        die "${name[node]} is ${role:-not there ($complaint)} now, no primary any more; $slots_done slots are moved: see redis-cli --cluster check, then make a new plan"
    done
    if [[ $evictions != allow ]] && ((evicted > ${evicted_before[to]:-0})); then
        stop_moves
        die "${name[to]} evicts keys: $((evicted - ${evicted_before[to]:-0})) since this script began; raise its maxmemory, then run this script again"
    fi
}

# Whether a slot is to leave NODE and has not: has_to_give NODE
has_to_give() {
    local job current="$from $to $keys $bytes ${ranges[*]}" given=''
    for job in "${jobs[@]}"; do
        [[ ${job%% *} == "$1" && -z $given ]] || continue
        take "$job"
        find_left
        ((rest == 0)) || given=yes
    done
    take "$current"
    [[ -n $given ]]
}
