
few=100 many=2000   # keys in one listing
keys_at_once=100   # keys in one MIGRATE at most,
batch_bytes=1048576 # and about so many bytes
timeout_ms=60000   # of one MIGRATE
patience_secs=300  # for one reply
slot_usec=4000 key_usec=30 mib_usec=10000

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

# Two connections, to the source and the target of a move, stay open as long as both are the same: a redis-cli each,
# which reads commands from one pipe and writes replies to another. Descriptors: source 3 and 4, target 5 and 6.
trap '' PIPE
pipes=$(mktemp -d)
trap 'rm -rf "$pipes"' EXIT
mkfifo "$pipes/3" "$pipes/4" "$pipes/5" "$pipes/6"
source=0 target=0 news=''

# connect SOURCE TARGET
connect() {
    if [[ $source == "$1" && $target == "$2" ]]; then return; fi
    end_moves
    source=$1 target=$2
    at "$source" --no-raw <"$pipes/3" >"$pipes/4" 2>&1 &
    exec 3>"$pipes/3" 4<"$pipes/4"
    at "$target" --no-raw <"$pipes/5" >"$pipes/6" 2>&1 3>&- 4<&- &
    exec 5>"$pipes/5" 6<"$pipes/6"
    destination="$(quoted "${host[target]}") ${port[target]} \"\" 0 $timeout_ms $auth REPLACE KEYS"
}

# Closes the connections. The nodes that took no part in the moves hear of them from each other as well; this is faster.
end_moves() {
    local node
    ((source)) || return 0
    exec 3>&- 4<&- 5>&- 6<&-
    for node in "${!host[@]}"; do
        [[ $node == "$source" || $node == "$target" ]] || at "$node" <<<"$news" >/dev/null 2>&1 || true
    done
    source=0 target=0 news=''
}

# What stands in the way is better known before a slot is open: check_commands FROM TO
check_commands() {
    local from=$1 to=$2 reply
    reply=$(ask "$from" MIGRATE "${host[to]}" "${port[to]}" slotscope:no-such-key 0 1000)
    case $reply in
        NOKEY* | MOVED* | ASK* | TRYAGAIN*) ;;
        *) fault "${name[from]} refuses MIGRATE, without which keys cannot be moved: $reply" ;;
    esac
    reply=$(ask "$to" RESTORE-ASKING slotscope:no-such-key 0 x)
    [[ $reply != NOPERM* && $reply != *'unknown command'* ]] || fault "${name[to]} refuses RESTORE-ASKING, with which it gets keys: $reply"
}

stop_moves() { :; }

# Sends a command over an open connection and reads its reply, which the node's id ends: send DESCRIPTOR NODE COMMAND.
# Keys come and go quoted, so that no byte is lost: `count` keys of a listing become `listed`, other lines `reply`.
send() {
    local descriptor=$1 node=$2 line
    reply='' listed='' count=0
    printf '%s\nCLUSTER MYID\n' "$3" >&"$descriptor" || die "${name[node]}: redis-cli has ended"
    while IFS= read -r -t "$patience_secs" -u $((descriptor + 1)) line; do
        case $line in
            "\"${id[node]}\"") return ;;
            *[0-9]') "'*) listed+=" ${line#*) }" count=$((count + 1)) ;;
            '('[0-9]*'s)') ;; # the time that a slow command took
            'Could not connect'*) die "${name[node]}: $line" ;;
            *) reply+=${reply:+ }$line ;;
        esac
    done
    die "${name[node]} does not answer: $reply"
}

# Moves the keys of a slot until none is left, at most MOST at once. A slot that is leaving gets no new keys, so this ends:
# move_keys SLOT MOST
move_keys() {
    local slot=$1 most=$2 batch batches before='' IFS=$'\n'
    keys_moved=0
    while send 3 "$source" "CLUSTER GETKEYSINSLOT $slot $few" && ((count > 0)); do
        [[ $listed != "$before" ]] || die "slot $slot: keys that MIGRATE moved are still on ${name[source]}"
        before=$listed batches="$count$listed"
        if ((count == few || count > most)); then
            # bash reads pipes byte by byte, so a process of their own lists many keys: a line for each MIGRATE.
            listed=$(ask "$source" --no-raw CLUSTER GETKEYSINSLOT "$slot" "$many")
            batches=$(awk -v most="$most" '
                function flush() { if (count) print count keys; count = 0; keys = "" }
                sub(/^ *[0-9]+\) "/, " \"") { keys = keys $0; if (++count == most) flush() }
                END { flush() }' <<<"$listed")
            [[ -n $batches ]] || die "slot $slot: ${name[source]} does not list its keys: $listed"
        fi
        for batch in $batches; do
            as_number "${batch%% *}"
            keys_moved=$((keys_moved + number))
            # REPLACE: until the slot is handed over, what the source holds is the truth; the target may have a copy from
            # a MIGRATE that was cut off.
            send 3 "$source" "MIGRATE $destination ${batch#* }"
            [[ $reply == OK || $reply == NOKEY ]] || die "slot $slot: MIGRATE from ${name[source]} to ${name[target]}: $reply"
        done
    done
    [[ $reply == '(empty '* ]] || die "slot $slot: ${name[source]} does not list its keys: $reply"
}

# Hands over one slot, move_slot SLOT MOST. A target that owns it already was given it by an earlier run.
move_slot() {
    local slot=$1 most=$2
    send 5 "$target" "CLUSTER SETSLOT $slot IMPORTING ${id[source]}"
    case $reply in
        OK)
            send 3 "$source" "CLUSTER SETSLOT $slot MIGRATING ${id[target]}"
            if [[ $reply != OK ]]; then
                local complaint=$reply
                send 5 "$target" "CLUSTER SETSLOT $slot STABLE"
                open=''
                die "slot $slot cannot leave ${name[source]}: $complaint"
            fi
            move_keys "$slot" "$most"
            ;;
        *'already the owner'*) keys_moved=-1 ;;
        *)
            open=''
            die "slot $slot cannot go to ${name[target]}: $reply"
            ;;
    esac
    send 5 "$target" "CLUSTER SETSLOT $slot NODE ${id[target]}"
    [[ $reply == OK ]] || die "slot $slot: ${name[target]} does not take it over: $reply"
    send 3 "$source" "CLUSTER SETSLOT $slot NODE ${id[target]}"
    # A primary without slots may have become a replica of their new owner.
    [[ $reply == OK || $reply == *'only with masters'* ]] || die "slot $slot: ${name[source]} does not let go: $reply"
    news+="CLUSTER SETSLOT $slot NODE ${id[target]}"$'\n'
}

# Hands slots over, one after the other: move FROM TO KEYS BYTES RANGE...
move() {
    local from=$1 to=$2 keys=$3 bytes=$4 range slot most=$keys_at_once
    connect "$from" "$to"
    # Both nodes wait while a MIGRATE is under way, so that one of large keys has few.
    if ((keys > 0 && bytes * keys_at_once > batch_bytes * keys)); then most=$((batch_bytes * keys / bytes > 0 ? batch_bytes * keys / bytes : 1)); fi
    shift 4
    for range in "$@"; do
        for ((slot = ${range%-*}; slot <= ${range#*-}; slot++)); do
            open="slot $slot is open between ${name[source]} and ${name[target]}: run this script again to end its move, or: redis-cli --cluster fix ${host[source]}:${port[source]}"
            move_slot "$slot" "$most"
            open=''
            if ((keys_moved < 0)); then
                skipped 1 0 0
            else
                moved "$source" "$target" 1 "$keys_moved" $((keys > 0 ? bytes * keys_moved / keys : 0))
            fi
        done
    done
}
