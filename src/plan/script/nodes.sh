
say() { printf '%s\n' "$*" >&2; }
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

# Nothing moves unless every node is the one that the plan is about.
for node in "${!host[@]}"; do
    [[ -n ${host[node]} && -n ${port[node]} ]] || die "node $node: fill in its host and port at the top of this script"
    found=$(ask "$node" CLUSTER MYID)
    [[ $found =~ ^[0-9a-f]{40}$ ]] || die "node $node at ${host[node]}:${port[node]} does not tell its id: $found"
    [[ -z ${id[node]} || ${id[node]} == "$found" ]] || die "node $node is $found now: make a new plan"
    id[node]=$found
done
