
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

# Waits until NODE owns the slots; CHECK ends the script where the migration failed: wait_for NODE FIRST LAST KEYS CHECK...
wait_for() {
    local node=$1 first=$2 last=$3 keys=$4 second
    shift 4
    for ((second = 0; second < patience_secs; second++)); do
        if owns "$node" "$first" "$last"; then
            moved $((last - first + 1)) "$keys"
            return
        fi
        "$@"
        sleep 1
    done
    die "slots $first-$last are still migrating after $patience_secs s; run this script again when they have arrived"
}

# Whether there is nothing left to do for a range, which it says: is_done NODE FIRST LAST KEYS
is_done() {
    owns "$1" "$2" "$3" || return 1
    say "slots $2-$3 are on ${name[$1]} already"
    skipped $(($3 - $2 + 1)) "$4"
}

end_moves() { :; }
