
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
    compare_keys
}

check_owner() {
    local from=$1 to=$2 left
    shift 4
    left=$(missing "$from" "$to" "$@")
    [[ -z $left ]] || die "slots $(in_short $left) are not on ${name[to]}: run this script again"
}

# Writes go on meanwhile: what is compared is the part of all keys that a node holds.
compare_keys() {
    local node line spread=''
    ((${#keys_after[@]} > 1)) || return 0
    for node in "${!keys_after[@]}"; do
        [[ -n ${host[node]-} ]] || return 0
        as_number "$(ask "$node" DBSIZE)"
        [[ -n $number ]] || return 0
        spread+="$number ${keys_after[node]} ${name[node]}"$'\n'
    done
    spread=$(printf '%s' "$spread" | awk '
        { now[NR] = $1; then[NR] = $2; $1 = $2 = ""; name[NR] = substr($0, 3); all_now += now[NR]; all_then += then[NR] }
        END {
            for (i = 1; i <= NR && all_now && all_then; i++) {
                is = now[i] / all_now; was = then[i] / all_then; off = is < was ? was - is : is - was
                differs = off > 0.02 * was && off * all_now > 50
                printf "  %s: %.1f%% of the keys, planned %.1f%%%s\n", name[i], 100 * is, 100 * was, differs ? ", DIFFERENT" : ""
            }
        }')
    while IFS= read -r line; do say "$line"; done <<<"$spread"
    [[ $spread != *', DIFFERENT'* ]] ||
        die "the keys are not spread as planned: the dump was old, or many keys came or went since; collect and analyze again"
}
