
# Before anything moves: every node is the one that the plan names, the cluster is well, and each node can do its part. Each
# stage lists all of its faults; a later stage needs the answers of the earlier ones.
faults=0
fault() {
    say "$@"
    faults=$((faults + 1))
}

end_stage() {
    ((faults == 0)) || die "nothing was moved$(moved_before): fix $faults of the above first"
}

# What an earlier run has moved, in words.
moved_before() {
    local job gone=0
    for job in ${jobs[@]+"${jobs[@]}"}; do count_gone $job; done
    ((gone == 0)) || echo " by this run; $gone of $slots_planned slots had left their nodes before"
}

# Adds the slots of a job that FROM does not own to `gone`: count_gone FROM TO KEYS BYTES RANGE...
count_gone() {
    local from=$1 left
    shift 4
    # A replica owns none, whoever has them.
    [[ $(info "$from" replication role) == master ]] || return 0
    left=$(missing "$from" "$from" "$@" 2>/dev/null) || left=''
    gone=$((gone + $(count $left)))
}

preflight() {
    local node job
    failed=2
    say "asking ${#host[@]} nodes who they are and how the cluster is"
    for node in "${!host[@]}"; do check_identity "$node"; done
    end_stage
    for node in "${!host[@]}"; do check_state "$node"; done
    end_stage
    for job in ${jobs[@]+"${jobs[@]}"}; do check_job $job; done
    for node in "${!peak[@]}"; do
        check_room "$node" "${peak[node]}"
        as_number "$(info "$node" stats evicted_keys)"
        evicted_before[node]=$number
    done
    end_stage
    failed=1
}

check_identity() {
    local node=$1 found
    if [[ -z ${host[node]} || -z ${port[node]} ]]; then
        fault "${name[node]}: fill in its host and port at the top of this script"
        return
    fi
    found=$(ask "$node" CLUSTER MYID)
    if [[ ! $found =~ ^[0-9a-f]{40}$ ]]; then
        fault "${name[node]} at ${host[node]}:${port[node]} does not give its id: $found"
    elif [[ -n ${id[node]} && ${id[node]} != "$found" ]]; then
        fault "${name[node]} is $found now: make a new plan"
    fi
    id[node]=$found
}

check_state() {
    local node=$1 state member flags primary other
    state=$(ask "$node" CLUSTER INFO)
    [[ $state == *cluster_state:ok* ]] || fault "${name[node]} does not say cluster_state:ok; see redis-cli --cluster check: ${state%%$'\r'*}"
    while read -r member _ flags primary _; do
        for other in "${!host[@]}"; do
            [[ $member == "${id[other]}" ]] || continue
            case ,$flags, in
                *,fail,* | *,fail\?,*) fault "${name[node]} sees that ${name[other]} is failed ($flags): wait, or make a new plan" ;;
                *,slave,* | *,replica,*) primary_of[other]=$primary ;;
            esac
        done
    done <<<"$(ask "$node" CLUSTER NODES)"
}

# Slots that an earlier run has moved no longer count: check_job FROM TO KEYS BYTES RANGE...
check_job() {
    local from=$1 to=$2 bytes=$4 left
    shift 4
    if has_failed_over "$from" || has_failed_over "$to"; then return; fi
    if [[ -n ${primary_of[to]-} ]]; then
        fault "${name[to]} is a replica and cannot take slots: make a new plan without it, or make it an empty primary again: $(how_to_reset "$to")"
        return
    fi
    left=$(missing "$from" "$to" "$@")
    [[ -n $left ]] || return 0
    if [[ -n ${primary_of[from]-} ]]; then
        fault "${name[from]} is a replica and has no slots to give: make a new plan"
        return
    fi
    if [[ -z ${is_able[from]-} || -z ${is_able[to]-} ]]; then check_commands "$from" "$to"; fi
    is_able[from]=yes is_able[to]=yes
    # Jobs run one after the other: what has left a node by then makes room in it.
    bytes=$((bytes * $(count $left) / $(count "$@")))
    held[from]=$((${held[from]-0} - bytes)) held[to]=$((${held[to]-0} + bytes))
    if ((held[to] > ${peak[to]-0})); then peak[to]=${held[to]}; else peak[to]=${peak[to]-0}; fi
}

# Whether NODE follows a node that the plan does not name: that one took over, and may have no other replica. A primary that
# gave its last slot away follows one that the plan names: has_failed_over NODE
has_failed_over() {
    local node=$1 primary=${primary_of[$1]-} address=''
    [[ -n $primary && " ${id[*]} " != *" $primary "* ]] || return 1
    [[ ! $primary =~ ^[0-9a-f]{40}$ ]] || address=$(ask "$node" CLUSTER NODES | sed -n "s/^$primary \\([^@ ]*\\).*/\\1/p")
    fault "${name[node]} is now a replica of ${address:-another node}, which took over its slots: make a new plan"
}

# The commands that turn a replica into a primary without slots: how_to_reset NODE
how_to_reset() {
    local node=$1 other
    for other in "${!host[@]}"; do [[ -n ${primary_of[other]-} ]] || break; done
    echo "redis-cli -h ${host[node]} -p ${port[node]} CLUSTER RESET, then CLUSTER MEET ${host[other]} ${port[other]}"
}

# BYTES in MiB.
mib() {
    local tenths=$((($1 * 10 + 524288) / 1048576))
    echo "$((tenths / 10)).$((tenths % 10)) MiB"
}

# Whether NODE has room for BYTES more: check_room NODE BYTES
check_room() {
    local node=$1 bytes=$2 used most policy what
    as_number "$(info "$node" memory used_memory)"
    used=$number
    as_number "$(info "$node" memory maxmemory)"
    most=$number
    if [[ -z $used || -z $most ]]; then
        fault "${name[node]} does not tell its memory: INFO memory"
        return
    fi
    ((most > 0 && used + bytes > most)) || return 0
    policy=$(info "$node" memory maxmemory_policy)
    what="it would EVICT KEYS ($policy)"
    [[ $policy != noeviction ]] || what="it would refuse writes, and stop with a slot open"
    [[ $evictions == allow && $policy != noeviction ]] ||
        fault "${name[node]} uses $(mib "$used") and is to get $(mib "$bytes") more, but its maxmemory is $(mib "$most"): $what; raise its maxmemory, or collect again and make a new plan"
}
