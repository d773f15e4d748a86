
check_commands() {
    local reply
    reply=$(ask "$1" CLUSTER GETSLOTMIGRATIONS)
    [[ $reply != *ERR* && $reply != *NOPERM* ]] || die "${name[$1]} cannot move slots as a whole, which needs Valkey 9.0: $reply; plan with --commands setslot"
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

is_hopeless() { false; }

how_to_cancel() { echo "redis-cli -h ${host[$1]} -p ${port[$1]} CLUSTER CANCELSLOTMIGRATIONS"; }

stop_moves() {
    ask "$1" CLUSTER CANCELSLOTMIGRATIONS >/dev/null
    open=''
}

start() {
    local from=$1 to=$2 reply
    shift 2
    set_bounds "$@"
    reply=$(ask "$from" CLUSTER MIGRATESLOTS SLOTSRANGE "${bounds[@]}" NODE "${id[to]}")
    [[ $reply == OK || $reply == *'already migrating'* ]] || die "slots $(in_short "$@") cannot leave ${name[from]}: $reply"
}
