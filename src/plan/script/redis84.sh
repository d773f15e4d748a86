
# Hands over the slots from FIRST to LAST and waits for it: move FIRST LAST FROM TO
move() {
    local first=$1 last=$2 from=$3 to=$4 task second
    if owns "$to" "$first" "$last"; then
        say "slots $first-$last are on node $to already"
        return
    fi
    say "slots $first-$last: node $from -> node $to"
    task=$(ask "$to" CLUSTER MIGRATION IMPORT "$first" "$last")
    [[ $task =~ ^[0-9a-f]{40}$ ]] || die "slots $first-$last cannot go to node $to: $task"
    for ((second = 0; second < patience_secs; second++)); do
        if owns "$to" "$first" "$last"; then return; fi
        if ask "$to" CLUSTER MIGRATION STATUS ID "$task" | grep -qxE 'failed|canceled|cancelled'; then
            die "slots $first-$last: see CLUSTER MIGRATION STATUS ID $task on node $to"
        fi
        sleep 1
    done
    die "slots $first-$last are still on their way after $patience_secs s; run this script again when they are there"
}

