
# Whether the cluster is as it was planned: the slots, then the keys.
verify() {
    local node=$1 job second checked
    for job in ${jobs[@]+"${jobs[@]}"}; do check_owner $job; done
    # Nodes hear of new owners from each other.
    for ((second = 0; second < 30; second++)); do
        checked=$(at "$node" --cluster check "${host[node]}:${port[node]}" </dev/null 2>&1 || true)
        [[ $checked != *'All nodes agree'* || $checked == *WARNING* ]] || break
        sleep 1
    done
    ((second < 30)) || die "the nodes do not agree about their slots: redis-cli --cluster check ${host[node]}:${port[node]}"
    name_empty
    show_memory
    compare_keys
}

check_owner() {
    local from=$1 to=$2 left
    shift 4
    left=$(missing "$from" "$to" "$@")
    [[ -z $left ]] || die "slots $(in_short $left) are not on ${name[to]}: run this script again"
}

# Names the nodes that gave all their slots away: a server may make them replicas.
name_empty() {
    local node role
    for node in "${!host[@]}"; do
        is_source "$node" || continue
        is_empty "$node" || continue
        role=''
        if [[ $(info "$node" replication role) == slave ]]; then
            role=" and is a replica of $(info "$node" replication master_host):$(info "$node" replication master_port) now"
        fi
        say "${name[node]} owns no slots$role: keep it, or remove it: redis-cli --cluster del-node ${host[node]}:${port[node]} ${id[node]}"
    done
}

# What each node uses of its limit.
show_memory() {
    local node used most
    for node in "${!host[@]}"; do
        as_number "$(info "$node" memory used_memory)"
        used=$number
        as_number "$(info "$node" memory maxmemory)"
        most=$number
        [[ -n $used ]] || continue
        if ((${most:-0} > 0)); then
            say "  ${name[node]} uses $(mib "$used"), $((100 * used / most))% of its maxmemory"
        else
            say "  ${name[node]} uses $(mib "$used")"
        fi
    done
}

# Writes go on meanwhile: a node is compared by its part of all keys. Keys that came or went explain up to a tenth of it.
compare_keys() {
    local node line spread=''
    ((${#keys_after[@]} > 1)) || return 0
    for node in "${!keys_after[@]}"; do
        [[ -n ${host[node]-} ]] || return 0
        as_number "$(ask "$node" DBSIZE)"
        [[ -n $number ]] || return 0
        # A node that gave its keys away may be a replica, whose keys are those of another node.
        if [[ ${keys_after[node]} == 0 && $(info "$node" replication role) == slave ]]; then number=0; fi
        spread+="$number ${keys_after[node]} ${name[node]}"$'\n'
    done
    spread=$(printf '%s' "$spread" | awk '
        { now[NR] = $1; then[NR] = $2; $1 = $2 = ""; name[NR] = substr($0, 3); all_now += now[NR]; all_then += then[NR] }
        function size(x) { return x < 0 ? -x : x }
        END {
            changed = size(all_now - all_then)
            for (i = 1; i <= NR && all_now && all_then; i++) {
                is = now[i] / all_now; was = then[i] / all_then; off = size(is - was)
                differs = off > 0.02 * was && off * all_now > 50 && (off * all_now > changed || off > 0.1 * was)
                printf "  %s: %.1f%% of the keys, planned %.1f%%%s\n", name[i], 100 * is, 100 * was, differs ? ", DIFFERENT" : ""
            }
        }')
    while IFS= read -r line; do say "$line"; done <<<"$spread"
    [[ $spread != *', DIFFERENT'* ]] ||
        die "the keys are not spread as planned, by more than the keys that came or went explain: the dump was old; collect and analyze again"
}
