
# A server's reply is text. Messages show it, and a terminal gets nothing of it but what can be printed; it is compared with
# what servers say, and counted with only if it is a number. Arithmetic and subscripts of bash run the commands in what they
# read, as in id[$(reboot)]. Sets `number` to TEXT if it is one, else to nothing: as_number TEXT
number=''
as_number() {
    number=''
    if [[ $1 =~ ^(0|[1-9][0-9]{0,17})$ ]]; then number=$1; fi
}

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

interrupted() {
    trap '' INT TERM HUP
    say "stopped by a signal: $slots_done slots are moved, $slots_left are left; run this script again to go on"
    [[ -z $open ]] || say "$open"
    exit 130
}

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

# A field of INFO: info NODE SECTION FIELD
info() {
    ask "$1" INFO "$2" | tr -d '\r' | sed -n "s/^$3://p"
}
