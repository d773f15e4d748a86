
patience_secs=3600  # for one job
tries=3             # to start it

end_moves() { :; }

# Hands slots over and waits for it, also where they were on their way already: move FROM TO KEYS BYTES RANGE...
move() {
    local from=$1 to=$2 keys=$3 left state started=0 end=$((SECONDS + patience_secs)) polls=0
    shift 4
    # In this order: what ends in between is not started again.
    while state=$(running "$from" "$to") && left=$(missing "$from" "$to" "$@") || exit 1; [[ -n $left ]]; do
        if [[ -n $state ]]; then
            open="the servers go on with slots $(in_short "$@"); to take them back: $(how_to_cancel "$from" "$to")"
        elif ((started == tries)); then
            die "slots $(in_short "$@") do not leave ${name[from]}: $(last_word "$from" "$to")"
        else
            open=''
            started=$((started + 1))
            start "$from" "$to" $left
        fi
        if ((SECONDS > end)) || is_hopeless "$state"; then
            stop_moves "$from" "$to"
            die "slots $(in_short "$@") do not leave ${name[from]}: $state"
        fi
        look "$from" "$to" "$state"
        sleep $((polls++ < 10 ? 0 : 1)).1
    done
    open=''
    moved "$from" "$to" "$(count "$@")" "$keys"
}

# Ranges as the servers want them: `bounds` has the first slot of each, and the last one.
set_bounds() {
    local range
    bounds=()
    for range in "$@"; do bounds+=("${range%-*}" "${range#*-}"); done
}
