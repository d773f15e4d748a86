
check() {
    if ask "$1" CLUSTER MIGRATION STATUS ID "$2" | grep -qxE 'failed|canceled|cancelled'; then
        die "slots $3: see CLUSTER MIGRATION STATUS ID $2 on ${name[$1]}"
    fi
}

# Hands over the slots from FIRST to LAST and waits for it: move FIRST LAST FROM TO KEYS
move() {
    local first=$1 last=$2 from=$3 to=$4 task
    if is_done "$to" "$first" "$last" "$5"; then return; fi
    say "slots $first-$last: ${name[from]} -> ${name[to]}"
    task=$(ask "$to" CLUSTER MIGRATION IMPORT "$first" "$last")
    [[ $task =~ ^[0-9a-f]{40}$ ]] || die "slots $first-$last cannot go to ${name[to]}: $task"
    wait_for "$to" "$first" "$last" "$5" check "$to" "$task" "$first-$last"
}
