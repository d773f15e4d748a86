
# Nothing moves unless every node is the one that the plan is about, the cluster is well, and each node can do its part.
preflight() {
    local node job
    say "asking ${#host[@]} nodes who they are and how the cluster is"
    for node in "${!host[@]}"; do check_identity "$node"; done
    for node in "${!host[@]}"; do check_state "$node"; done
    for job in ${jobs[@]+"${jobs[@]}"}; do check_job $job; done
    for node in "${!coming[@]}"; do
        has_room "$node" "${coming[node]}"
        evicted_before[node]=$(info "$node" stats evicted_keys)
    done
}

check_identity() {
    local node=$1 found
    [[ -n ${host[node]} && -n ${port[node]} ]] || die "${name[node]}: fill in its host and port at the top of this script"
    found=$(ask "$node" CLUSTER MYID)
    [[ $found =~ ^[0-9a-f]{40}$ ]] || die "${name[node]} at ${host[node]}:${port[node]} does not give its id: $found"
    [[ -z ${id[node]} || ${id[node]} == "$found" ]] || die "${name[node]} is $found now: make a new plan"
    id[node]=$found
}

check_state() {
    local node=$1 state member flags other
    state=$(ask "$node" CLUSTER INFO)
    [[ $state == *cluster_state:ok* ]] || die "${name[node]} does not say cluster_state:ok; see redis-cli --cluster check: ${state%%$'\r'*}"
    while read -r member _ flags _; do
        for other in "${!host[@]}"; do
            [[ $member == "${id[other]}" ]] || continue
            case ,$flags, in
                *,fail,* | *,fail\?,*) die "${name[node]} sees that ${name[other]} is failed ($flags): wait, or make a new plan" ;;
                *,slave,* | *,replica,*) is_replica[other]=yes ;;
            esac
        done
    done <<<"$(ask "$node" CLUSTER NODES)"
}

# A job is: from node, to node, keys, bytes, ranges of slots. What an earlier run has moved is no part of it any more.
check_job() {
    local from=$1 to=$2 bytes=$4 left
    shift 4
    [[ -z ${is_replica[to]-} ]] || die "${name[to]} is a replica and cannot take slots: make a new plan"
    left=$(missing "$from" "$to" "$@")
    [[ -n $left ]] || return 0
    [[ -z ${is_replica[from]-} ]] || die "${name[from]} is a replica and has no slots to give: make a new plan"
    if [[ -z ${is_able[from]-} || -z ${is_able[to]-} ]]; then check_commands "$from" "$to"; fi
    is_able[from]=yes is_able[to]=yes
    coming[to]=$((${coming[to]-0} + bytes / $(count "$@") * $(count $left)))
}

# Dies where NODE has no room for BYTES more: has_room NODE BYTES
has_room() {
    local node=$1 bytes=$2 used most policy what
    used=$(info "$node" memory used_memory) most=$(info "$node" memory maxmemory)
    [[ $used =~ ^[0-9]+$ && $most =~ ^[0-9]+$ ]] || die "${name[node]} does not tell its memory: INFO memory"
    ((most > 0 && used + bytes > most)) || return 0
    policy=$(info "$node" memory maxmemory_policy)
    what="it would EVICT KEYS ($policy)"
    [[ $policy != noeviction ]] || what="it would refuse writes, and stop with a slot open"
    [[ $evictions == allow && $policy != noeviction ]] ||
        die "${name[node]} uses $used bytes and is to get $bytes more, but its maxmemory is $most: $what; raise maxmemory, or plan with --maxmemory"
}
