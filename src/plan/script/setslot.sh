
few_keys=100 many_keys=2000 # in one listing
keys_at_once=100   # keys in one MIGRATE at most,
batch_bytes=1048576 # and about so many bytes
timeout_ms=60000   # of one MIGRATE
patience_secs=300  # for one reply
slot_usec=4000 key_usec=30 mib_usec=10000

# A word of a command that redis-cli reads from standard input, as `quoted`: quote TEXT
quote() {
    quoted=${1//\\/\\\\}
    quoted="\"${quoted//\"/\\\"}\""
}

# Two connections, to the source and the target of a move, stay open as long as both are the same: a redis-cli each,
# which reads commands from one pipe and writes replies to another. Descriptors: source 3 and 4, target 5 and 6.
trap '' PIPE
kept=() # their processes
mkfifo "$work/3" "$work/4" "$work/5" "$work/6"
source=0 target=0

connect() {
    local auth=''
    if ((from == source && to == target)); then return; fi
    end_moves
    source=$from target=$to
    at "$source" <"$work/3" >"$work/4" 2>&1 &
    kept[3]=$!
    exec 3>"$work/3" 4<"$work/4"
    at "$target" <"$work/5" >"$work/6" 2>&1 &
    kept[5]=$!
    exec 5>"$work/5" 6<"$work/6"
    # The target of a MIGRATE asks for the same password.
    if [[ -n ${REDISCLI_AUTH-} && -n $user ]]; then
        quote "$user"
        auth="AUTH2 $quoted "
    elif [[ -n ${REDISCLI_AUTH-} ]]; then
        auth="AUTH "
    fi
    if [[ -n $auth ]]; then
        quote "$REDISCLI_AUTH"
        auth+=$quoted
    fi
    quote "${host[target]}"
    destination="$quoted ${port[target]} \"\" 0 $timeout_ms $auth REPLACE KEYS"
}

# Closes the connections. The nodes that took no part in the moves hear of them from each other as well; this is faster.
end_moves() {
    local node input="$work/news"
    ((source)) || return 0
    exec 3>&- 4<&- 5>&- 6<&-
    for node in "${!host[@]}"; do
        [[ ! -s $input || $node == "$source" || $node == "$target" ]] || ask "$node"
    done
    rm -f "$input"
    source=0 target=0 kept=()
}

# What stands in the way is better known before a slot is open.
check_commands() {
    ask "$from" MIGRATE "${host[to]}" "${port[to]}" slotscope:no-such-key 0 1000
    case ${complaint#'(error) '} in
        NOKEY* | MOVED* | ASK* | TRYAGAIN*) ;;
        *) fault "${name[from]} refuses MIGRATE, without which keys cannot be moved: $complaint" ;;
    esac
    ask "$to" RESTORE-ASKING slotscope:no-such-key 0 x
    [[ $complaint != *NOPERM* && $complaint != *'unknown command'* ]] || fault "${name[to]} refuses RESTORE-ASKING, with which it gets keys: $complaint"
}

stop_moves() { :; }

# Sends commands over an open connection and reads their replies, which the node's id ends: send DESCRIPTOR COMMANDS
# Keys come and go quoted, so that no byte is lost: `count` keys of a listing become `listed`. Of other lines the first is
# `reply`, and `more` has the others.
send() {
    local node=$source limit_secs=$patience_secs
    (($1 == 3)) || node=$target
    reply='' more='' listed='' count=0
    begin_call
    printf '%s\nCLUSTER MYID\n' "$2" >&"$1" || die "${name[node]}: redis-cli has ended"
    while listen $(($1 + 1)) "$node" "${kept[$1]}"; do
        case $line in
            "\"${id[node]}\"") return ;;
            '('[0-9]*'s)') ;; # the time that a slow command took
            'Could not connect'* | 'Error: '*) break ;;
            *') "'*) ! is key "$line" || listed+=" $value" count=$((count + 1)) ;;
            *) if [[ -z $reply ]]; then reply=${line:0:200}; else more=${more:0:200}${more:+ }${line:0:200}; fi ;;
        esac
    done
    die "${name[node]} at ${host[node]}:${port[node]} does not answer: $reply $line"
}

# Moves the keys of a slot, of which `send` listed the first, until none is left, at most MOST at once. A slot that is leaving
# gets no new keys, so this ends: move_keys SLOT MOST
move_keys() {
    local slot=$1 most=$2 before='' batch size
    while ((count > 0)); do
        [[ $listed != "$before" ]] || die "slot $slot: keys that MIGRATE moved are still on ${name[source]}"
        before=$listed batch=$listed size=$count
        if ((count == few_keys || count > most)); then
            # bash reads pipes byte by byte, and files in blocks.
            batch='' size=0
            ask "$source" CLUSTER GETKEYSINSLOT "$slot" "$many_keys"
            while next_line; do
                # The last ones expired since they were listed.
                [[ $line != '(empty '* ]] || break
                is key "$line" || die "slot $slot: ${name[source]} does not list its keys: $complaint"
                ((size < most)) || migrate
                batch+=" $value" size=$((size + 1))
            done
        fi
        if ((size > 0)); then
            migrate "$looking"
        else
            send 3 "$looking"
            more="$reply $more"
        fi
    done
    # The node that gets the slot makes the other one drop what it has of it: two answers, then, that it has nothing.
    [[ $more == '(integer) 0 (empty '* ]] || die "slot $slot: ${name[source]} does not list its keys: $more"
}

# REPLACE: until the slot is handed over, what the source holds is the truth; the target may have a copy from a MIGRATE that
# was cut off. Migrates the batch, and sends more after it: migrate [COMMANDS]
migrate() {
    send 3 "MIGRATE $destination$batch${1:+$'\n'$1}"
    [[ $reply == OK || $reply == NOKEY ]] || die "slot $slot: MIGRATE from ${name[source]} to ${name[target]}: $reply"
    keys_moved=$((keys_moved + size)) batch='' size=0
}

# Hands over one slot, move_slot SLOT MOST. A target that owns it already was given it by an earlier run.
move_slot() {
    local slot=$1 most=$2 refusal looking
    # A round trip for each step, not for each command.
    looking="CLUSTER COUNTKEYSINSLOT $slot"$'\n'"CLUSTER GETKEYSINSLOT $slot $few_keys"
    keys_moved=0
    send 5 "CLUSTER SETSLOT $slot IMPORTING ${id[source]}"
    case $reply in
        OK)
            send 3 "CLUSTER SETSLOT $slot MIGRATING ${id[target]}"$'\n'"$looking"
            if [[ $reply != OK ]]; then
                refusal=$reply
                send 5 "CLUSTER SETSLOT $slot STABLE"
                open=''
                die "slot $slot cannot leave ${name[source]}: $refusal"
            fi
            move_keys "$slot" "$most"
            ;;
        *'already the owner'*) keys_moved=-1 ;;
        *)
            open=''
            die "slot $slot cannot go to ${name[target]}: $reply"
            ;;
    esac
    send 5 "CLUSTER SETSLOT $slot NODE ${id[target]}"
    [[ $reply == OK ]] || die "slot $slot: ${name[target]} does not take it over: $reply"
    send 3 "CLUSTER SETSLOT $slot NODE ${id[target]}"
    # A primary without slots may have become a replica of their new owner.
    [[ $reply == OK || $reply == *'only with masters'* ]] || die "slot $slot: ${name[source]} does not let go: $reply"
    echo "CLUSTER SETSLOT $slot NODE ${id[target]}" >>"$work/news"
}

# Hands over what is left of the job, slot by slot.
move() {
    # Not `most`: that is what a node says of its memory.
    local range slot at_once=$keys_at_once
    connect
    # Both nodes wait while a MIGRATE is under way, so that one of large keys has few.
    if ((keys > 0 && bytes * keys_at_once > batch_bytes * keys)); then at_once=$((batch_bytes * keys / bytes > 0 ? batch_bytes * keys / bytes : 1)); fi
    name_slots "${left[@]}"
    for range in "${left[@]}"; do
        for ((slot = ${range%-*}; slot <= ${range#*-}; slot++)); do
            open="slot $slot is open between ${name[source]} and ${name[target]}: run this script again to end its move, or: redis-cli --cluster fix ${host[source]}:${port[source]}"
            move_slot "$slot" "$at_once"
            open=''
            if ((keys_moved < 0)); then
                skipped 1 0 0
            else
                moved 1 "$keys_moved" $((keys > 0 ? bytes * keys_moved / keys : 0))
            fi
        done
    done
}
