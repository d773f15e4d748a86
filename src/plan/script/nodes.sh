
# What servers reply is shown in some messages: a terminal gets nothing of it but what can be printed.
say() {
    local text="$*"
    printf '%s\n' "${text//[^[:print:]]/?}" >&2
}
die() { say "$@"; exit 1; }

# redis-cli, connected to a node: at NODE ARGUMENT...
at() {
    local node=$1
    shift
    "${cli[@]}" -h "${host[node]}" -p "${port[node]}" "$@"
}

# The same for one command, whose errors are answers too: ask NODE ARGUMENT...
ask() {
    at "$@" </dev/null 2>&1 || true
}

# Nothing moves unless every node is the one that the plan is about, and the cluster is well.
say "asking ${#host[@]} nodes who they are and how the cluster is"
for node in "${!host[@]}"; do
    [[ -n ${host[node]} && -n ${port[node]} ]] || die "${name[node]}: fill in its host and port at the top of this script"
    found=$(ask "$node" CLUSTER MYID)
    [[ $found =~ ^[0-9a-f]{40}$ ]] || die "${name[node]} at ${host[node]}:${port[node]} does not give its id: $found"
    [[ -z ${id[node]} || ${id[node]} == "$found" ]] || die "${name[node]} is $found now: make a new plan"
    id[node]=$found
done
for node in "${!host[@]}"; do
    state=$(ask "$node" CLUSTER INFO)
    [[ $state == *cluster_state:ok* ]] || die "${name[node]} does not say cluster_state:ok; see redis-cli --cluster check: ${state%%$'\r'*}"
    while read -r member address flags _; do
        for other in "${!host[@]}"; do
            [[ $member == "${id[other]}" ]] || continue
            case ,$flags, in
                *,fail,* | *,fail\?,*) die "${name[node]} sees that ${name[other]} is failed ($flags): wait, or make a new plan" ;;
                *,slave,* | *,replica,*)
                    [[ -z ${takes[other]-} ]] || die "${name[other]} is a replica and cannot take slots: make a new plan"
                    ;;
            esac
        done
    done <<<"$(ask "$node" CLUSTER NODES)"
done

# Progress: slots and keys so far, of the moves that were not made by an earlier run.
slots_left=$slots_planned keys_left=$keys_planned slots_done=0 keys_done=0 reported=0

# Counts what has moved, says every few seconds how far it is, and stops when time is up: moved SLOTS KEYS
moved() {
    slots_left=$((slots_left - $1)) slots_done=$((slots_done + $1))
    keys_left=$((keys_left > $2 ? keys_left - $2 : 0)) keys_done=$((keys_done + $2))
    if ((SECONDS - reported >= 5)); then
        reported=$SECONDS
        # Moving a slot takes as long as moving about a hundred keys.
        local left=$((SECONDS * (100 * slots_left + keys_left) / (100 * slots_done + keys_done + 1)))
        say "  $slots_done slots and $keys_done keys moved, $((slots_done / SECONDS)) slots/s; $slots_left slots left, about $left s"
    fi
    if ((max_minutes > 0 && SECONDS >= 60 * max_minutes && slots_left > 0)); then
        end_moves
        say "stopped after $max_minutes min with $slots_left slots left; run this script again to go on"
        exit 3
    fi
    ((pause_ms == 0)) || sleep "$pause"
}

# Counts what an earlier run has moved: skipped SLOTS KEYS
skipped() {
    slots_left=$((slots_left - $1)) keys_left=$((keys_left > $2 ? keys_left - $2 : 0))
}

pause=$(printf '%d.%03d' $((pause_ms / 1000)) $((pause_ms % 1000)))
