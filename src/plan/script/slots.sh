
# The job at hand, and its slots: fixed at the top of this script. No command names a slot that is not among them:
# take JOB
take() {
    local range slot
    local -a word
    read -r -a word <<<"$1"
    from=${word[0]} to=${word[1]} keys=${word[2]} bytes=${word[3]} ranges=("${word[@]:4}") is_planned=()
    for range in "${ranges[@]}"; do
        for ((slot = ${range%-*}; slot <= ${range#*-}; slot++)); do is_planned[slot]=yes; done
    done
    slots=${#is_planned[@]}
}

# Sets `left` to those slots of the job that TO does not own, or whose move is open at either, as ranges; `rest` is how many.
find_left() {
    local slot
    local -a opened
    list "$from" || die "${name[from]} does not list its slots: $complaint"
    opened=(${is_open[@]+"${!is_open[@]}"})
    list "$to" || die "${name[to]} does not list its slots: $complaint"
    for slot in ${opened[@]+"${opened[@]}"}; do is_open[slot]=yes; done
    cut_off "$to"
}

# The same of what the last listing says that NODE owns: cut_off NODE
cut_off() {
    local range slot first last before=-1 at=0
    local -a word
    left=() rest=0
    read -r -a word <<<"${slots_of[$1]-}"
    word+=(16384-16385) # beyond all slots
    for range in "${ranges[@]}"; do
        first=-1 last=${range#*-}
        ((${range%-*} > before)) || at=0
        before=$last
        for ((slot = ${range%-*}; slot <= last + 1; slot++)); do
            while ((${word[at]#*-} < slot)); do at=$((at + 1)); done
            if ((slot <= last)) && { ((${word[at]%-*} > slot)) || [[ -n ${is_open[slot]-} ]]; }; then
                ((first >= 0)) || first=$slot
                rest=$((rest + 1))
            elif ((first >= 0)); then
                left+=("$first-$((slot - 1))") first=-1
            fi
        done
    done
    ((rest <= slots)) || die "this script has a fault: $rest of $slots slots are left"
}

# Stops unless all these slots are of the job at hand, and sets `bounds` to the first and last of each range, `size` to how
# many they are: name_slots RANGE...
name_slots() {
    local range slot
    bounds=() size=0
    for range in "$@"; do
        for ((slot = ${range%-*}; slot <= ${range#*-}; slot++)); do
            [[ -n ${is_planned[slot]-} ]] || die "this script has a fault: slot $slot is not to move"
        done
        bounds+=("${range%-*}" "${range#*-}") size=$((size + slot - ${range%-*}))
    done
}

# Sets `head` to the first SLOTS of some ranges: first_of SLOTS RANGE...
first_of() {
    local wanted=$1 range first last
    head=()
    shift
    for range in "$@"; do
        first=${range%-*} last=${range#*-}
        ((wanted > 0)) || return 0
        ((last - first < wanted)) || last=$((first + wanted - 1))
        head+=("$first-$last") wanted=$((wanted - (last - first + 1)))
    done
}

# A few of many ranges, for messages: shorten RANGE...
shorten() {
    few="$*"
    if (($# > 6)); then few="${*:1:5} and $(($# - 5)) more ranges"; fi
}
