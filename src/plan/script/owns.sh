
patience_secs=3600  # for one range

# Whether a node says that it owns all slots from FIRST to LAST: owns NODE FIRST LAST
owns() {
    ask "$1" CLUSTER NODES | awk -v first="$2" -v last="$3" '
        $3 ~ /myself/ {
            for (i = 9; i <= NF; i++) {
                if ($i ~ /^\[/) continue
                ends = split($i, slot, "-")
                low = slot[1] + 0; high = slot[ends] + 0
                if (low < first) low = first
                if (high > last) high = last
                if (low <= high) owned += high - low + 1
            }
        }
        END { exit owned != last - first + 1 }'
}
