_mngr() {
    local IFS=$'\n'
    COMPREPLY=($(mngr __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _mngr mngr
