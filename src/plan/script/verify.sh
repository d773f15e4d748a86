
# Whether the cluster is as it was planned: the slots, then the keys.
verify() {
    local job second=0
    for job in ${jobs[@]+"${jobs[@]}"}; do
        take "$job"
        find_left
        shorten ${left[@]+"${left[@]}"}
        ((rest == 0)) || die "slots $few are not on ${name[to]}: run this script again"
    done
    # Nodes hear of new owners from each other.
    until agree; do
        ((second++ < agree_secs)) || die "the nodes do not agree about their slots: redis-cli --cluster check ${host[to]}:${port[to]}"
        nap 1
    done
    show_nodes
    compare_keys
    say "to look at all nodes: redis-cli --cluster check ${host[to]}:${port[to]}"
}
agree_secs=30

# Whether all nodes list the same slots for each.
agree() {
    local node other listed first=''
    for node in "${!host[@]}"; do
        list "$node" || die "${name[node]} does not list the nodes: $complaint"
        listed=''
        for other in "${!host[@]}"; do listed+="$other ${slots_of[other]-}, "; done
        [[ ${first:=$listed} == "$listed" ]] || return 1
    done
}

# Names the nodes that gave all their slots away, which a server may make replicas, and what each node uses of its limit.
show_nodes() {
    local node job what=''
    for node in "${!host[@]}"; do
        info "$node"
        is_replica[node]=''
        [[ $role != slave ]] || is_replica[node]=yes
        if [[ -z ${slots_of[node]-} && " ${jobs[*]%% *} " == *" $node "* ]]; then
            what=''
            [[ $role != slave ]] || what=" and is a replica of $leader now"
            say "${name[node]} owns no slots$what: keep it, or remove it: redis-cli --cluster del-node ${host[node]}:${port[node]} ${id[node]}"
        fi
        [[ -n $used ]] || continue
        in_mib "$used"
        if ((${most:-0} > 0)); then mib+=", $((100 * used / most))% of its maxmemory"; fi
        say "  ${name[node]} uses $mib"
    done
}

# Writes go on meanwhile: a node is compared by its part of all keys. Keys that came or went explain up to a tenth of it.
compare_keys() {
    local node all=0 all_planned=0 planned off changed is what share differs=''
    local -a keys_of
    # Of a plan that knows no keys there is not even the array.
    if [[ -z ${keys_after[*]-} ]] || ((${#keys_after[@]} < 2)); then return 0; fi
    for node in "${!keys_after[@]}"; do
        [[ -n ${host[node]-} ]] && ask_for number "$node" DBSIZE || return 0
        # A node that gave its keys away may be a replica, whose keys are those of another node.
        if ((keys_after[node] == 0)) && [[ -n ${is_replica[node]-} ]]; then value=0; fi
        keys_of[node]=$value
        all=$((all + value)) all_planned=$((all_planned + keys_after[node]))
    done
    ((all > 0 && all_planned > 0)) || return 0
    changed=$((all > all_planned ? all - all_planned : all_planned - all))
    for node in "${!keys_after[@]}"; do
        planned=$((keys_after[node] * all / all_planned))
        off=$((keys_of[node] > planned ? keys_of[node] - planned : planned - keys_of[node]))
        what=''
        if ((50 * off > planned && off > 50 && (off > changed || 10 * off > planned))); then what=', DIFFERENT' differs=yes; fi
        percent "${keys_of[node]}" "$all"
        is=$share
        percent "${keys_after[node]}" "$all_planned"
        say "  ${name[node]}: $is of the keys, planned $share$what"
    done
    [[ -z $differs ]] ||
        die "the keys are not spread as planned, by more than the keys that came or went explain: the dump was old; collect and analyze again"
}

# Sets `share` to a part in percent: percent PART ALL
percent() {
    printf -v share '%04d' $(((1000 * $1 + $2 / 2) / $2))
    share="$((10#${share%?})).${share#"${share%?}"}%"
}
