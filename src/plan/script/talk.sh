
is_shown='' # whether the line of the terminal that is written over has something in it
say() {
    local text="$*"
    [[ -z $is_shown ]] || printf '\n' >&2
    is_shown=''
    printf '%s\n' "${text//[^[:print:]]/?}" >&2
}

# A line that the next one is written over where a terminal reads.
say_over() {
    local text="$*"
    if [[ -t 2 ]]; then
        # A line that a terminal wraps could not be written over.
        text=${text:0:79}
        printf '\r%s\033[K' "${text//[^[:print:]]/?}" >&2
        is_shown=yes
    else
        say "$text"
    fi
}

# What is between two nodes just now, and what to type: said wherever the script ends.
open=''
failed=1 # the exit code: 2 before anything moves
die() {
    say "$@"
    [[ -z $open ]] || say "$open"
    exit "$failed"
}

# bash runs a trap once the program in front has ended. So all programs run behind: `read` and `wait` end at a signal.
interrupted() {
    trap '' INT TERM HUP
    set +e
    say "stopped by a signal: $slots_done slots are moved, $slots_left are left; run this script again to go on"
    [[ -z $open ]] || say "$open"
    exit 130
}

work=$(mktemp -d)
trap 'kill $(jobs -rp) 2>/dev/null || true; rm -rf "$work"' EXIT
mkfifo "$work/ends"
ulimit -v 4000000 2>/dev/null || true # kB, for a reply that does not end

# Becomes redis-cli for a node; of what it prints only INFO, CLUSTER INFO and CLUSTER NODES are raw: at NODE ARGUMENT...
at() { exec "${cli[@]}" -h "${host[$1]}" -p "${port[$1]}" --no-raw "${@:2}" 3>&- 4<&- 5>&- 6<&- 7<&-; }

nap() {
    sleep "$1" &
    wait $!
}

limit_secs=60 # for one answer of a server
asked=0 noted=0
begin_call() { asked=$SECONDS noted=0; }

# A line that a program PID prints of what a node says, as `line`. False at the end, and after `limit_secs`:
# listen DESCRIPTOR NODE PID
listen() {
    local status rest=''
    until IFS= read -r -t 1 -n 1 -u "$1" line; do
        status=$?
        # bash 3.2 has one status for "nothing yet" and for the end.
        if ((status <= 128 && BASH_VERSINFO[0] > 3)) || ! kill -0 "$3" 2>/dev/null; then return 1; fi
        if ((SECONDS - asked >= limit_secs)); then
            line="no answer within $limit_secs s"
            kill "$3" 2>/dev/null || true
            return 1
        fi
        if ((SECONDS - asked >= noted + 10)); then
            noted=$((SECONDS - asked))
            say_over "waiting for ${host[$2]}:${port[$2]}, $noted s"
        fi
    done
    # redis-cli prints whole replies: the rest of a line that has begun is there. A limit costs a call for each byte.
    [[ -z $line ]] || IFS= read -r -n "$longest" -u "$1" rest || true
    line+=$rest
}

# Sends a command, or else what is in the file `input`, and reads the reply: the first line is `complaint`, next_line begins
# with it: ask NODE ARGUMENT...
input=/dev/null
ask() {
    local node=$1 call
    begin_call
    # Until redis-cli ends, it holds the pipe open: this tells when, and `read` can wait for that with a limit. It gets the
    # pipe open for both, as opening it for one would wait for ever where the script is killed meanwhile.
    exec 8<>"$work/ends"
    at "$@" <"$input" >"$work/reply" 2>&1 &
    call=$!
    exec 9<"$work/ends" 8>&-
    ! listen 9 "$node" "$call" || true
    exec 9<&-
    [[ -z $line ]] || printf '%s\n' "$line" >"$work/reply"
    wait "$call" 2>/dev/null || true
    again
    next_line || true
    complaint=${line:0:200}
    again
}
