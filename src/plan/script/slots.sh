
# How many slots RANGE... are.
count() {
    local range slots=0
    for range in "$@"; do slots=$((slots + ${range#*-} - ${range%-*} + 1)); done
    echo "$slots"
}

# Those slots of RANGE... that TO does not own, or whose move is still open, as ranges: missing FROM TO RANGE...
missing() {
    local from=$1 to=$2
    shift 2
    { ask "$from" CLUSTER NODES; echo 'next'; ask "$to" CLUSTER NODES; echo "wanted $*"; } | awk '
        function bounds(range) {
            split(range, bound, "-"); low = bound[1] + 0; high = bound[bound[2] == "" ? 1 : 2] + 0
            if (high > 16383) high = low - 1
        }
        function flush() { if (first >= 0) printf "%d-%d ", first, slot - 1; first = -1 }
        $1 == "next" { is_target = 1 }
        $3 ~ /myself/ {
            listed++
            for (i = 9; i <= NF; i++) {
                if ($i ~ /^\[/) is_open[substr($i, 2) + 0] = 1
                else if (is_target) {
                    bounds($i)
                    for (slot = low; slot <= high; slot++) owned[slot] = 1
                }
            }
        }
        $1 == "wanted" {
            for (i = 2; i <= NF; i++) {
                bounds($i)
                first = -1
                for (slot = low; slot <= high; slot++) {
                    if (slot in owned && !(slot in is_open)) flush()
                    else if (first < 0) first = slot
                }
                flush()
            }
        }
        END { exit listed != 2 }' || die "$(silent "$from" "$to")"
}

# Those slots that are to leave NODE and have not: to_leave NODE
to_leave() {
    local node=$1 job
    for job in ${jobs[@]+"${jobs[@]}"}; do left_of "$node" $job; done
}

# Those of one job, if it takes slots from NODE: left_of NODE FROM TO KEYS BYTES RANGE...
left_of() {
    local node=$1 from=$2 to=$3
    shift 5
    [[ $from != "$node" ]] || missing "$from" "$to" "$@"
}

# Whether NODE gives slots away: is_source NODE
is_source() {
    local node=$1 job
    for job in ${jobs[@]+"${jobs[@]}"}; do
        [[ ${job%% *} != "$node" ]] || return 0
    done
    return 1
}

# Whether NODE owns no slots: is_empty NODE
is_empty() {
    ask "$1" CLUSTER NODES | awk '$3 ~ /myself/ { is_empty = NF == 8 } END { exit !is_empty }'
}

# Which of two nodes does not list its slots, and its answer: silent NODE NODE
silent() {
    local node listed
    for node in "$@"; do
        listed=$(ask "$node" CLUSTER NODES)
        [[ $listed == *myself* ]] || echo "${name[node]} does not list its slots: ${listed%%$'\n'*}"
    done
}

# Sets `head` to the first SLOTS of some ranges, and `tail` to the others: split SLOTS RANGE...
split() {
    local left=$1 range size first
    head=() tail=()
    shift
    for range in "$@"; do
        size=$(count "$range") first=${range%-*}
        if ((size <= left)); then
            head+=("$range")
        elif ((left == 0)); then
            tail+=("$range")
        else
            head+=("$first-$((first + left - 1))") tail+=("$((first + left))-${range#*-}")
        fi
        left=$((left > size ? left - size : 0))
    done
}

# A few of many ranges, for messages.
in_short() {
    if (($# > 6)); then
        echo "${*:1:5} and $(($# - 5)) more ranges"
    else
        echo "$*"
    fi
}
