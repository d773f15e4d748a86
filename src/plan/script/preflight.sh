
# Before anything moves: every node is the one that the plan names, the cluster is well, and each node can do its part. Each
# stage lists all of its faults; a later stage needs the answers of the earlier ones.
faults=0
fault() {
    say "$@"
    faults=$((faults + 1))
}

end_stage() {
    ((faults == 0)) || die "nothing was moved$before: fix $faults of the above first"
}

preflight() {
    local node job before=''
    local -a is_known is_able held peak
    is_known=() is_able=() held=() peak=()
    failed=2
    say "asking ${#host[@]} nodes who they are and how the cluster is"
    for node in "${!host[@]}"; do check_identity "$node"; done
    for node in "${!is_known[@]}"; do check_state "$node"; done
    end_stage
    count_moved
    for job in ${jobs[@]+"${jobs[@]}"}; do check_job "$job"; done
    for node in "${!peak[@]}"; do check_room "$node" "${peak[node]}"; done
    end_stage
    failed=1
}

check_identity() {
    local node=$1 other at="${host[$1]}:${port[$1]}" was=${host[$1]} elsewhere=${announced[$1]-}
    if ! is host "${host[node]}" || ! is number "${port[node]}"; then
        fault "${name[node]}: fill in its host and port at the top of this script"
        return
    fi
    if ! ask_for id "$node" CLUSTER MYID; then
        case $complaint in
            *LOADING*) fault "${name[node]} at $at is loading its keys: wait until it has them" ;;
            'Could not connect'* | 'no answer'* | 'Error: '*)
                fault "${name[node]} does not answer at $at: $complaint"
                [[ -n $elsewhere ]] || return 0
                host[node]=$elsewhere
                ! ask_for id "$node" CLUSTER MYID || fault "  only under the name that it announces: write host[$node]='$elsewhere' at the top of this script"
                host[node]=$was
                ;;
            *) fault "${name[node]} at $at does not give its id: $complaint" ;;
        esac
        return
    fi
    [[ -z ${id[node]} || ${id[node]} == "$value" ]] || fault "${name[node]} is $value now: make a new plan"
    for other in "${!is_known[@]}"; do
        [[ ${id[other]} != "$value" ]] || fault "${name[node]} and ${name[other]} are the same node: correct host and port at the top of this script"
    done
    id[node]=$value is_known[node]=yes
}

# What NODE says of the cluster, and of every node of this script.
check_state() {
    local node=$1 other is_ok=''
    ask "$node" CLUSTER INFO
    while next_line; do [[ $line != cluster_state:ok ]] || is_ok=yes; done
    [[ -n $is_ok ]] || fault "${name[node]} does not say cluster_state:ok; see redis-cli --cluster check: $complaint"
    if ! list "$node"; then
        fault "${name[node]} does not list the nodes: $complaint"
        return
    fi
    for other in "${!host[@]}"; do
        if [[ ${state_of[other]-} == failing ]]; then
            fault "${name[node]} sees that ${name[other]} is failed, or is failing over to a replica: wait, or make a new plan"
        elif [[ -n ${is_known[other]-} && -z ${state_of[other]-} ]]; then
            fault "${name[node]} does not know ${name[other]}: redis-cli -h ${host[node]} -p ${port[node]} CLUSTER MEET ${host[other]} ${port[other]}"
        fi
    done
    now_of[node]=${state_of[node]} primary_of[node]=${leader_of[node]-}
}

# What an earlier run has moved, in words. A replica owns no slots, whoever has them.
count_moved() {
    local job gone=0
    for job in ${jobs[@]+"${jobs[@]}"}; do
        take "$job"
        [[ ${now_of[from]} == primary ]] || continue
        list "$from" || continue
        is_open=()
        cut_off "$from"
        gone=$((gone + rest))
    done
    ((gone == 0)) || before=" by this run; $gone of $slots_planned slots had left their nodes before"
}

# Slots that an earlier run has moved no longer count: check_job JOB
check_job() {
    take "$1"
    if has_failed_over "$from" || has_failed_over "$to"; then return; fi
    if [[ ${now_of[to]} == replica ]]; then
        fault "${name[to]} is a replica and cannot take slots: make a new plan without it, or make it an empty primary again: redis-cli -h ${host[to]} -p ${port[to]} CLUSTER RESET, then CLUSTER MEET ${host[from]} ${port[from]}"
        return
    fi
    find_left
    ((rest > 0)) || return 0
    if [[ ${now_of[from]} == replica ]]; then
        fault "${name[from]} is a replica and has no slots to give: make a new plan"
        return
    fi
    if [[ -z ${is_able[from]-} || -z ${is_able[to]-} ]]; then
        check_versions
        check_commands
    fi
    is_able[from]=yes is_able[to]=yes
    # Jobs run one after the other: what has left a node by then makes room in it.
    bytes=$((bytes * rest / slots))
    held[from]=$((${held[from]-0} - bytes)) held[to]=$((${held[to]-0} + bytes))
    if ((held[to] > ${peak[to]-0})); then peak[to]=${held[to]}; else peak[to]=${peak[to]-0}; fi
}

# Whether NODE follows a node that the plan does not name: that one took over, and may have no other replica. A primary that
# gave its last slot away follows one that the plan names: has_failed_over NODE
has_failed_over() {
    local node=$1 primary=${primary_of[$1]-} address='another node'
    local -a word
    [[ -n $primary && " ${id[*]} " != *" $primary "* ]] || return 1
    ask "$node" CLUSTER NODES
    while ((lines++ < most_lines)) && read -r -n "$longest" -u 7 -a word; do
        ! { [[ ${word[0]-} == "$primary" ]] && is host "${word[1]%%[@,]*}"; } || address=$value
    done
    fault "${name[node]} is now a replica of $address, which took over its slots: make a new plan"
}

# An older server does not read what a newer one writes.
check_versions() {
    local product_from version_from
    info "$from"
    product_from=$product version_from=$version
    ((loading == 0)) || fault "${name[from]} is loading its keys: wait until it has them"
    info "$to"
    ((loading == 0)) || fault "${name[to]} is loading its keys: wait until it has them"
    [[ -n $version && -n $version_from ]] || return 0
    if [[ $product == "$product_from" ]] && ((version < version_from)); then
        fault "${name[to]} has an older version than ${name[from]} and may refuse its keys ($((version / 1000)).$((version % 1000)), $((version_from / 1000)).$((version_from % 1000))): upgrade it first"
    elif [[ $product != "$product_from" ]]; then
        fault "${name[from]} is a server of $product_from and ${name[to]} of $product: keys may not be moved between them"
    fi
}

# Sets `mib` to BYTES in MiB: in_mib BYTES
in_mib() {
    mib=$((($1 * 10 + 524288) / 1048576))
    mib="$((mib / 10)).$((mib % 10)) MiB"
}

# Whether NODE has room for BYTES more: check_room NODE BYTES
check_room() {
    local node=$1 more=$2 what uses gets
    info "$node"
    evicted_before[node]=$evicted
    if [[ -z $used || -z $most ]]; then
        fault "${name[node]} does not tell its memory: INFO memory"
        return
    fi
    ((most > 0 && used + more > most)) || return 0
    what="it would EVICT KEYS ($policy)"
    [[ $policy != noeviction ]] || what="it would refuse writes, and stop with a slot open"
    in_mib "$used"; uses=$mib
    in_mib "$more"; gets=$mib
    in_mib "$most"
    [[ $evictions == allow && $policy != noeviction ]] ||
        fault "${name[node]} uses $uses and is to get $gets more, but its maxmemory is $mib: $what; raise its maxmemory, or collect again and make a new plan"
}
