
# How many migrations from a node ended badly.
failures() {
    ask "$1" CLUSTER GETSLOTMIGRATIONS | grep -cxE 'failed|cancelled' || true
}

check() {
    (($(failures "$1") <= $2)) || die "slots $3: see CLUSTER GETSLOTMIGRATIONS on ${name[$1]}"
}

# Hands over the slots from FIRST to LAST and waits for it: move FIRST LAST FROM TO KEYS
move() {
    local first=$1 last=$2 from=$3 to=$4 reply failed
    if is_done "$to" "$first" "$last" "$5"; then return; fi
    say "slots $first-$last: ${name[from]} -> ${name[to]}"
    failed=$(failures "$from")
    reply=$(ask "$from" CLUSTER MIGRATESLOTS SLOTSRANGE "$first" "$last" NODE "${id[to]}")
    [[ $reply == OK ]] || die "slots $first-$last cannot leave ${name[from]}: $reply"
    wait_for "$to" "$first" "$last" "$5" check "$from" "$failed" "$first-$last"
}
