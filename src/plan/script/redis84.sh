
check_commands() {
    local reply
    reply=$(ask "$2" CLUSTER MIGRATION STATUS ALL)
    if [[ $reply == *ERR* || $reply == *NOPERM* ]]; then
        fault "${name[$2]} cannot move slots as a whole, which needs Redis 8.4: $reply; plan with --commands setslot"
        return
    fi
}

# The state of what comes to TO; a server tries an import that failed again each second: running FROM TO
running() {
    ask "$2" CLUSTER MIGRATION STATUS ALL | awk '
        NR % 2 { key = $0; next }
        { value[key] = $0 }
        key == "retries" && value["operation"] == "import" && value["state"] !~ /^(completed|cancell?ed)$/ {
            found = value["state"] ", " value["retries"] " retries"
            if (value["last_error"] != "") found = found ": " value["last_error"]
        }
        END { print found }'
}

last_word() {
    ask "$2" CLUSTER MIGRATION STATUS ALL | awk '
        NR % 2 { key = $0; next }
        { value[key] = $0 }
        key == "retries" && !found { found = value["state"] " " value["last_error"] }
        END { print found }'
}

# A minute of tries that all failed.
is_hopeless() {
    local retries=${1#*, }
    [[ $1 == failed,* && ${retries%% *} -gt 60 ]]
}

how_to_cancel() { echo "redis-cli -h ${host[$2]} -p ${port[$2]} CLUSTER MIGRATION CANCEL ALL"; }

stop_moves() {
    ask "$2" CLUSTER MIGRATION CANCEL ALL >/dev/null
    open=''
}

start() {
    local to=$2 reply
    shift 2
    set_bounds "$@"
    reply=$(ask "$to" CLUSTER MIGRATION IMPORT "${bounds[@]}")
    [[ $reply != *'in progress'* ]] || return 1
    [[ $reply =~ ^[0-9a-f]{40}$ ]] || die "slots $(in_short "$@") cannot go to ${name[to]}: $reply"
}
