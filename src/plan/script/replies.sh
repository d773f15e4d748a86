
# A reply is data until `is` has found it to be of one of these forms, whole. What is kept is that: numbers, ids, ranges of
# slots, hosts, a word. Other text of a server is `complaint`, which is shown and not acted on. (bash runs the commands in
# what its arithmetic and subscripts read, as in id[$(reboot)].)
longest=1000000 most_lines=100000
id_form='^"?([0-9a-f]{40})"?$'
# A number is what arithmetic can hold, also where a thousand nodes are added up.
number_form='^("|[(]integer[)] )?(0|[1-9][0-9]{0,14})"?$'
range_form='^(0|[1-9][0-9]{0,4})(-(0|[1-9][0-9]{0,4}))?$'
open_form='^\[([0-9]{1,5})-[<>]-[0-9a-f]+\]$'
host_form='^[A-Za-z0-9._:%-]{1,255}$'
word_form='^"?([A-Za-z][A-Za-z_-]{0,39})"?$'
key_form='^ *[0-9]+[)] ("([^"\]|\\.)*")$'

# Sets `value` to what TEXT says, or to nothing: is FORM TEXT
is() {
    value=''
    case $1 in
        id) [[ ! $2 =~ $id_form ]] || value=${BASH_REMATCH[1]} ;;
        number) [[ ! $2 =~ $number_form ]] || value=${BASH_REMATCH[2]} ;;
        host) [[ ! $2 =~ $host_form ]] || value=$2 ;;
        word) [[ ! $2 =~ $word_form ]] || value=${BASH_REMATCH[1]} ;;
        ok) [[ $2 != OK ]] || value=OK ;;
        key) [[ ! $2 =~ $key_form ]] || value=${BASH_REMATCH[1]} ;;
    esac
    [[ -n $value ]]
}

again() { exec 7<"$work/reply"; lines=0; }

next_line() {
    line=''
    ((lines++ < most_lines)) || return 1
    IFS= read -r -n "$longest" -u 7 line || [[ -n $line ]] || return 1
    line=${line%$'\r'}
}

# Asks for one thing, the whole of an answer: ask_for FORM NODE ARGUMENT...
ask_for() {
    ask "${@:2}"
    next_line && is "$1" "$line" && ! next_line
}

# What INFO says of a node: info NODE
info() {
    role='' used='' most='' policy='' evicted=0 leader='' loading=0 product=redis version=''
    ask "$1" INFO
    while next_line; do
        local text=${line#*:}
        case $line in
            role:*) ! is word "$text" || role=$value ;;
            used_memory:*) ! is number "$text" || used=$value ;;
            maxmemory:*) ! is number "$text" || most=$value ;;
            maxmemory_policy:*) ! is word "$text" || policy=$value ;;
            evicted_keys:*) ! is number "$text" || evicted=$value ;;
            master_host:*) ! is host "$text" || leader=$value ;;
            master_port:*) ! is number "$text" || leader+=${leader:+:$value} ;;
            loading:*) ! is number "$text" || loading=$value ;;
            redis_version:* | valkey_version:*)
                if [[ $text =~ ^([0-9]{1,3})\.([0-9]{1,3})\.[0-9]{1,3}$ ]]; then
                    product=${line%%_*} version=$((10#${BASH_REMATCH[1]} * 1000 + 10#${BASH_REMATCH[2]}))
                fi
                ;;
        esac
    done
}

# How a node sees the nodes of this script, by their numbers: `slots_of` has ranges of slots in their order, `state_of` one
# of primary, replica, failing, `leader_of` the id of a replica's primary; `is_open` has the slots whose move is open at the
# node. False if it does not list itself, once, or lists anything twice: list NODE
list() {
    local node=$1 selves=0 number known=' ' other
    local -a word
    slots_of=() state_of=() leader_of=() is_open=()
    for other in "${!id[@]}"; do known+="${id[other]:-?} $other "; done
    ask "$node" CLUSTER NODES
    while ((lines++ < most_lines)) && read -r -n "$longest" -u 7 -a word; do
        if ((${#word[@]} < 8)) || ! is id "${word[0]}" || [[ $known != *" $value "* ]]; then continue; fi
        number=${known#*" $value "} number=${number%% *}
        [[ -z ${state_of[number]-} ]] || return 1
        case ,${word[2]}, in
            *,fail,* | *,fail\?,*) state_of[number]=failing ;;
            *,slave,* | *,replica,*) state_of[number]=replica ;;
            *,master,* | *,primary,*) state_of[number]=primary ;;
            *) return 1 ;;
        esac
        ! is id "${word[3]}" || leader_of[number]=$value
        if [[ ,${word[2]}, == *,myself,* ]]; then
            ((number == node)) || return 1
            selves=$((selves + 1))
        fi
        read_slots "$number" "${word[@]:8}" || return 1
    done
    ((selves == 1))
}

# read_slots NUMBER WORD...
read_slots() {
    local number=$1 text first last next=0 ranges=''
    shift
    for text in "$@"; do
        if [[ $text =~ $range_form ]]; then
            first=${BASH_REMATCH[1]} last=${BASH_REMATCH[3]:-${BASH_REMATCH[1]}}
            ((next <= first && first <= last && last <= 16383)) || return 1
            ranges+="$first-$last " next=$((last + 1))
        elif [[ $text =~ $open_form ]]; then
            is_open[10#${BASH_REMATCH[1]}]=yes
        else
            return 1
        fi
    done
    slots_of[number]=$ranges
}
