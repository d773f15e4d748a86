
patience_secs=3600  # for one job
tries=3             # to start it
slot_usec=100 key_usec=4 mib_usec=10000

end_moves() { :; }

# Moves slots as a whole. Of the first job a twentieth goes alone: it shows that the servers can do it, and how long the
# rest takes: move FROM TO KEYS BYTES RANGE...
move() {
    local from=$1 to=$2 keys=$3 bytes=$4 slots part
    shift 4
    slots=$(count "$@")
    if ((slots_done == 0 && slots > 1)); then
        part=$(((slots + 19) / 20))
        split "$part" "$@"
        move_together "$from" "$to" $((keys * part / slots)) $((bytes * part / slots)) "${head[@]}"
        set -- "${tail[@]}"
        keys=$((keys - keys * part / slots)) bytes=$((bytes - bytes * part / slots))
    fi
    move_together "$from" "$to" "$keys" "$bytes" "$@"
}

# Hands slots over and waits for it, also where they are on their way already: move_together FROM TO KEYS BYTES RANGE...
move_together() {
    local from=$1 to=$2 keys=$3 bytes=$4 left started=0 end=$((SECONDS + patience_secs)) polls=0
    shift 4
    # In this order: a migration that ends in between is not started again.
    while state=$(running "$from" "$to") && left=$(missing "$from" "$to" "$@") || exit 1; [[ -n $left ]]; do
        if [[ -n $state ]]; then
            open="the servers go on with slots $(in_short "$@"); to take them back: $(how_to_cancel "$from" "$to")"
        elif ((started == tries)); then
            die "slots $(in_short "$@") do not leave ${name[from]}: $(last_word "$from" "$to")"
        else
            open=''
            if start "$from" "$to" $left; then started=$((started + 1)); else state='waiting for another migration'; fi
        fi
        if ((SECONDS > end)) || [[ $state == hopeless:* ]]; then
            stop_moves "$from" "$to"
            die "slots $(in_short "$@") do not leave ${name[from]}: $state"
        fi
        look "$from" "$to"
        sleep $((polls++ < 10 ? 0 : 1)).1
    done
    open=''
    moved "$from" "$to" "$(count "$@")" "$keys" "$bytes"
}

# Ranges as the servers want them: `bounds` has the first slot of each, and the last one.
set_bounds() {
    local range
    bounds=()
    for range in "$@"; do bounds+=("${range%-*}" "${range#*-}"); done
}
