
needs='Valkey 9.0' busy='already migrating' accepted=ok
user_form='^"([A-Za-z0-9._:@-]+)"$'
operation=EXPORT over='success failed cancelled'
listing=(CLUSTER GETSLOTMIGRATIONS) cancelling=(CLUSTER CANCELSLOTMIGRATIONS)

set_words() {
    mover=$from
    moving=(CLUSTER MIGRATESLOTS SLOTSRANGE ${bounds[@]+"${bounds[@]}"} NODE "${id[to]}")
}

# The source logs in to the target as the user of its replication; who may not ask for that user finds out by the migration.
# And a server refuses all migrations while a module is loaded that does not support them. It says so even of one that
# cannot be, to itself.
check_more() {
    local node user=default
    ask "$from" CONFIG GET masteruser
    while next_line; do
        ! [[ $line =~ $item_form && ${BASH_REMATCH[2]} == 2 && ${BASH_REMATCH[3]} =~ $user_form ]] || user=${BASH_REMATCH[1]}
    done
    if [[ $complaint != '(error) '* ]]; then
        ask "$to" ACL DRYRUN "$user" CLUSTER SYNCSLOTS FINISH
        [[ $complaint != *'no permissions'* && $complaint != *'not found'* ]] ||
            fault "${name[to]} would refuse the replication user of ${name[from]}, $user, which moves slots: $complaint"
    fi
    for node in "$from" "$to"; do
        ask "$node" CLUSTER MIGRATESLOTS SLOTSRANGE "${bounds[0]}" "${bounds[0]}" NODE "${id[node]}"
        [[ $complaint != *module* ]] || fault "${name[node]}: $complaint; or plan with --commands setslot"
    done
}
