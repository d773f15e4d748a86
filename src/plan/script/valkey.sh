
check_commands() {
    local from=$1 to=$2 reply
    reply=$(ask "$from" CLUSTER GETSLOTMIGRATIONS)
    if [[ $reply == *ERR* || $reply == *NOPERM* ]]; then
        fault "${name[from]} cannot move slots as a whole, which needs Valkey 9.0: $reply; plan with --commands setslot"
        return
    fi
    check_replication "$from" "$to"
    check_modules "$from"
    check_modules "$to"
}

# The source logs in to the target as the user of its replication. Who may not ask for that user finds out by the migration:
# check_replication SOURCE TARGET
check_replication() {
    local from=$1 to=$2 user reply
    user=$(ask "$from" CONFIG GET masteruser)
    user=${user#masteruser} user=${user#$'\n'}
    [[ $user != *NOPERM* && $user != *ERR* ]] || return 0
    reply=$(ask "$to" ACL DRYRUN "${user:-default}" CLUSTER SYNCSLOTS FINISH)
    [[ $reply != *'no permissions'* && $reply != *'not found'* ]] ||
        fault "${name[to]} would refuse the replication user of ${name[from]}, ${user:-default}, which moves slots: $reply"
}

# A server refuses all migrations while a module is loaded that does not support them. It says so even of one that cannot
# be, to itself: check_modules NODE
check_modules() {
    local node=$1 reply
    reply=$(ask "$node" CLUSTER MIGRATESLOTS SLOTSRANGE 0 0 NODE "${id[node]}")
    [[ $reply != *module* ]] || fault "${name[node]}: $reply; or plan with --commands setslot"
}

# The state of what leaves FROM: running FROM TO
running() {
    ask "$1" CLUSTER GETSLOTMIGRATIONS | awk '
        NR % 2 { key = $0; next }
        key == "operation" { operation = $0 }
        key == "state" && operation == "EXPORT" && !/^(success|failed|cancelled)$/ { found = $0 }
        END { print found }'
}

# What the newest migration from FROM ended with: last_word FROM TO
last_word() {
    ask "$1" CLUSTER GETSLOTMIGRATIONS | awk '
        NR % 2 { key = $0; next }
        key == "operation" { operation = $0 }
        key == "state" && operation == "EXPORT" && !state { state = $0 }
        key == "message" && state && !message { message = state " " $0 }
        END { print message }'
}

how_to_cancel() {
    local from=$1
    echo "redis-cli -h ${host[from]} -p ${port[from]} CLUSTER CANCELSLOTMIGRATIONS"
}

stop_moves() {
    ask "$1" CLUSTER CANCELSLOTMIGRATIONS >/dev/null
    open=''
}

start() {
    local from=$1 to=$2 reply
    shift 2
    set_bounds "$@"
    reply=$(ask "$from" CLUSTER MIGRATESLOTS SLOTSRANGE "${bounds[@]}" NODE "${id[to]}")
    [[ $reply != *'already migrating'* ]] || return 1
    [[ $reply == OK ]] || die "slots $(in_short "$@") cannot leave ${name[from]}: $reply"
}
