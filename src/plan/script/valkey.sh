
# How many migrations from a node ended badly.
failures() {
    ask "$1" CLUSTER GETSLOTMIGRATIONS | grep -cxE 'failed|cancelled' || true
}

# Hands over the slots from FIRST to LAST and waits for it: move FIRST LAST FROM TO
move() {
    local first=$1 last=$2 from=$3 to=$4 reply failed second
    if owns "$to" "$first" "$last"; then
        say "slots $first-$last are on node $to already"
        return
    fi
    say "slots $first-$last: node $from -> node $to"
    failed=$(failures "$from")
    reply=$(ask "$from" CLUSTER MIGRATESLOTS SLOTSRANGE "$first" "$last" NODE "${id[to]}")
    [[ $reply == OK ]] || die "slots $first-$last cannot leave node $from: $reply"
    for ((second = 0; second < patience_secs; second++)); do
        if owns "$to" "$first" "$last"; then return; fi
        (($(failures "$from") <= failed)) || die "slots $first-$last: see CLUSTER GETSLOTMIGRATIONS on node $from"
        sleep 1
    done
    die "slots $first-$last are still on their way after $patience_secs s; run this script again when they are there"
}

