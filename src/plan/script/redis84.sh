
check_commands() {
    local to=$2 reply
    reply=$(ask "$to" CLUSTER MIGRATION STATUS ALL)
    if [[ $reply == *ERR* || $reply == *NOPERM* ]]; then
        fault "${name[to]} cannot move slots as a whole, which needs Redis 8.4: $reply; plan with --commands setslot"
        return
    fi
}

# The state of what comes to TO; a server tries an import that failed again each second: running FROM TO
running() {
    ask "$2" CLUSTER MIGRATION STATUS ALL | awk '
        NR % 2 { key = $0; next }
        { value[key] = $0 }
        key == "retries" && value["operation"] == "import" && value["state"] !~ /^(completed|cancell?ed)$/ {
            # A minute of tries that all failed.
            found = (value["state"] == "failed" && value["retries"] + 0 > 60 ? "hopeless: " : "") value["state"]
            found = found ", " value["retries"] " retries" (value["last_error"] == "" ? "" : ": " value["last_error"])
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

how_to_cancel() {
    local to=$2
    echo "redis-cli -h ${host[to]} -p ${port[to]} CLUSTER MIGRATION CANCEL ALL"
}

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
