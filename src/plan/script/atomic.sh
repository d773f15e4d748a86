
patience_secs=3600  # for one job
tries=3             # to start it
slot_usec=100 key_usec=4 mib_usec=10000
item_form='^ *([0-9]+[)] +)?([0-9]+)[)] (.*)$'

end_moves() { :; }

check_commands() {
    name_slots "${left[@]}"
    set_words
    ask "$mover" "${listing[@]}"
    if [[ $complaint == '(error) '* || $complaint == *NOPERM* ]]; then
        fault "${name[mover]} cannot move slots as a whole, which needs $needs: $complaint; plan with --commands setslot"
    else
        check_more
    fi
}

stop_moves() {
    ask "$mover" "${cancelling[@]}"
    open=''
}

# Hands over what is left of the job. Of the first one a twentieth goes alone: it shows that the servers can do it, and how
# long the rest takes.
move() {
    local part=$(((rest + 19) / 20)) whole="$from $to $keys $bytes ${ranges[*]}"
    if ((slots_done == 0 && rest > 1)); then
        first_of "$part" "${left[@]}"
        take "$from $to $((keys * part / slots)) $((bytes * part / slots)) ${head[*]}"
        find_left
        move_together
        take "$whole"
        find_left
    fi
    move_together
}

# Hands it over and waits for it, also where it is on its way already.
move_together() {
    local started=0 polls=0 end=$((SECONDS + patience_secs)) together
    local -a progress
    progress=("$rest" $((keys * rest / slots)) $((bytes * rest / slots)))
    shorten ${left[@]+"${left[@]}"}
    together=$few
    set_words
    # In this order: a migration that ends in between is not started again.
    while read_state; find_left; ((rest > 0)); do
        if [[ -n $state ]]; then
            open="the servers go on with slots $together; to take them back: redis-cli -h ${host[mover]} -p ${port[mover]} ${cancelling[*]}"
        elif ((started == tries)); then
            die "slots $together do not leave ${name[from]}: $ended"
        else
            open=''
            name_slots "${left[@]}"
            set_words
            ask "$mover" "${moving[@]}"
            if [[ $complaint == *"$busy"* ]]; then
                state='waiting for another migration'
            elif is "$accepted" "$complaint"; then
                started=$((started + 1))
            else
                die "slots $together do not leave ${name[from]} for ${name[to]}: $complaint"
            fi
        fi
        if ((SECONDS > end)) || [[ -n $is_hopeless ]]; then
            stop_moves
            die "slots $together do not leave ${name[from]}: $state"
        fi
        look
        nap $((polls++ < 10 ? 0 : 1)).1
    done
    open=''
    moved "${progress[@]}"
}

# Sets `state` to that of what is on its way, or to nothing, and `ended` to how the newest migration ended.
read_state() {
    local field='' text kind='' now='' why='' retries=''
    state='' ended='' is_hopeless=''
    ask "$mover" "${listing[@]}"
    while next_line; do
        [[ $line =~ $item_form ]] || continue
        [[ -z ${BASH_REMATCH[1]} ]] || end_migration
        text=${BASH_REMATCH[3]}
        if [[ ${BASH_REMATCH[2]} == *[13579] ]]; then
            ! is word "$text" || field=$value
            continue
        fi
        case $field in
            operation) ! is word "$text" || kind=$value ;;
            state) ! is word "$text" || now=$value ;;
            retries) ! is number "$text" || retries=$value ;;
            last_error | message) why=${text:0:200} ;;
        esac
        field=''
    done
    end_migration
}

end_migration() {
    if [[ $kind == "$operation" && -n $now ]]; then
        [[ $why != '""' ]] || why=''
        ended=${ended:-$now $why}
        if [[ " $over " != *" $now "* ]]; then
            # A server tries an import that failed again each second.
            if [[ $now == failed ]] && ((${retries:-0} > 60)); then is_hopeless=yes; fi
            state="$now${retries:+, $retries retries}${why:+: $why}"
        fi
    fi
    kind='' now='' why='' retries=''
}
