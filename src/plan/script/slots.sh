
# How many slots RANGE... are.
count() {
    local range slots=0
    for range in "$@"; do slots=$((slots + ${range#*-} - ${range%-*} + 1)); done
    echo "$slots"
}

# Those slots of RANGE... that NODE does not own, as ranges: missing NODE RANGE...
missing() {
    local node=$1
    shift
    { ask "$node" CLUSTER NODES; echo "wanted $*"; } | awk '
        function bounds(range) { split(range, bound, "-"); low = bound[1] + 0; high = bound[bound[2] == "" ? 1 : 2] + 0 }
        function flush() { if (first >= 0) printf "%d-%d ", first, slot - 1; first = -1 }
        $3 ~ /myself/ {
            is_listed = 1
            for (i = 9; i <= NF; i++) if ($i !~ /^\[/) {
                bounds($i)
                for (slot = low; slot <= high; slot++) owned[slot] = 1
            }
        }
        $1 == "wanted" {
            for (i = 2; i <= NF; i++) {
                bounds($i)
                first = -1
                for (slot = low; slot <= high; slot++) {
                    if (slot in owned) flush()
                    else if (first < 0) first = slot
                }
                flush()
            }
        }
        END { exit !is_listed }' || die "${name[node]} does not list its slots: $(ask "$node" CLUSTER NODES)"
}

# A few of many ranges, for messages.
in_short() {
    if (($# > 6)); then
        echo "${*:1:5} and $(($# - 5)) more ranges"
    else
        echo "$*"
    fi
}
