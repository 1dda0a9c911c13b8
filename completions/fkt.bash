# SPDX-License-Identifier: GPL-2.0-only
#
# Completion of FKT's tools for bash. The options come from the tool itself: `fkt_print --list-options`
# prints a line for each, with tabs between its name, the name of its value (-: none) and what it does.

# The values of an option, by what its help calls its value. $1: the tool, $2: the value's name.
_fkt_values() {
    case $2 in
        UNIT) echo cycles ns us ms s ;;
        LAYERS | L) fkt_record --layers 2>/dev/null | awk '$1 ~ /^[0-9]+$/ { print $2 }' ;;
        ENGINE) echo auto direct buffered checkin sendfile uring ;;
        USER) compgen -u ;;
        *PID | TASK) ps -eo pid= 2>/dev/null ;;
        *'|'*) tr '|' ' ' <<<"$2" ;;
    esac
}

_fkt() {
    local tool=$1 word=${COMP_WORDS[COMP_CWORD]} before='' options value='' line name
    local -a names=()
    COMPREPLY=()
    ((COMP_CWORD == 0)) || before=${COMP_WORDS[COMP_CWORD - 1]}
    options=$("$tool" --list-options 2>/dev/null) || return 0
    while IFS=$'\t' read -r line value _; do
        names+=("$line")
        [[ $line == "$before" && $value != - ]] || continue
        name=$value
    done <<<"$options"
    if [[ -n ${name-} ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_fkt_values "$tool" "$name")" -- "$word")
        # A value that is no file is not completed by files' names.
        case $name in
            FILE | OUT | SLICE | OLD | TABLE | System.map | '[FILE]') mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        esac
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "${names[*]}" -- "$word")
    elif [[ ${tool##*/} == fkt_record ]]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}

complete -o filenames -F _fkt fkt_record fkt_print fkt_kd fkt_extract fkt_selection fkt_bufstats fkt_instrument \
    fkt_enable fkt_disable fkt_setmask fkt_probe fkt_snapshot fkt_receive fkt_doctor fkt_blocks fkt_cover fkt_paths fkt_addr2sym fkt_sym2addr
