
batch=100         # keys in one MIGRATE
timeout_ms=60000  # of one MIGRATE

# A word of a command that redis-cli reads from standard input.
quoted() {
    local text=${1//\\/\\\\}
    printf '"%s"' "${text//\"/\\\"}"
}

# The target of a MIGRATE asks for the same password.
auth=''
if [[ -n ${REDISCLI_AUTH-} && -n $user ]]; then
    auth="AUTH2 $(quoted "$user") $(quoted "$REDISCLI_AUTH")"
elif [[ -n ${REDISCLI_AUTH-} ]]; then
    auth="AUTH $(quoted "$REDISCLI_AUTH")"
fi

# Moves the keys of a slot until none is left. They go from redis-cli to redis-cli quoted, so that no byte is lost. A
# slot that is leaving gets no new keys, so the count bounds the rounds. REPLACE: until the slot is handed over, what
# the source holds is the truth; the target may have a copy from a MIGRATE that was cut off.
move_keys() {
    local slot=$1 from=$2 to=$3 count reply keys round
    count=$(ask "$from" CLUSTER COUNTKEYSINSLOT "$slot")
    [[ $count =~ ^[0-9]+$ ]] || die "slot $slot: node $from does not count its keys: $count"
    for ((round = 0; round <= count / batch + 100; round++)); do
        reply=$(ask "$from" --no-raw CLUSTER GETKEYSINSLOT "$slot" "$batch")
        case $reply in
            '(empty array)' | '(empty list or set)') return ;;
        esac
        keys=$(sed -nE 's/^ *[0-9]+\) (".*")$/\1/p' <<<"$reply" | tr '\n' ' ')
        [[ -n $keys ]] || die "slot $slot: node $from does not list its keys: $reply"
        reply=$(printf 'MIGRATE %s %s "" 0 %s REPLACE %s KEYS %s\n' \
            "$(quoted "${host[to]}")" "${port[to]}" "$timeout_ms" "$auth" "$keys" | at "$from" 2>&1) || true
        [[ $reply == OK || $reply == NOKEY ]] || die "slot $slot: MIGRATE from node $from to node $to: $reply"
    done
    die "slot $slot: node $from still holds keys after $round rounds; run this script again"
}

# Hands over one slot. A target that owns it already was given it by an earlier run.
move_slot() {
    local slot=$1 from=$2 to=$3 reply
    reply=$(ask "$to" CLUSTER SETSLOT "$slot" IMPORTING "${id[from]}")
    case $reply in
        OK)
            reply=$(ask "$from" CLUSTER SETSLOT "$slot" MIGRATING "${id[to]}")
            if [[ $reply != OK ]]; then
                ask "$to" CLUSTER SETSLOT "$slot" STABLE >/dev/null
                die "slot $slot cannot leave node $from: $reply"
            fi
            move_keys "$slot" "$from" "$to"
            ;;
        *'already the owner'*) ;;
        *) die "slot $slot cannot go to node $to: $reply" ;;
    esac
    reply=$(ask "$to" CLUSTER SETSLOT "$slot" NODE "${id[to]}")
    [[ $reply == OK ]] || die "slot $slot: node $to does not take it over: $reply"
    reply=$(ask "$from" CLUSTER SETSLOT "$slot" NODE "${id[to]}")
    # A primary without slots may have become a replica of their new owner.
    [[ $reply == OK || $reply == *'only with masters'* ]] || die "slot $slot: node $from does not let go: $reply"
}

# Hands over the slots from FIRST to LAST: move FIRST LAST FROM TO
move() {
    local first=$1 last=$2 from=$3 to=$4 slot node
    say "slots $first-$last: node $from -> node $to"
    for ((slot = first; slot <= last; slot++)); do
        move_slot "$slot" "$from" "$to"
    done
    # The others hear of it from each other as well; this is faster.
    for node in "${!host[@]}"; do
        [[ $node == "$from" || $node == "$to" ]] && continue
        for ((slot = first; slot <= last; slot++)); do
            printf 'CLUSTER SETSLOT %s NODE %s\n' "$slot" "${id[to]}"
        done | at "$node" >/dev/null 2>&1 || true
    done
}

