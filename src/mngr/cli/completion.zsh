#compdef mngr
_mngr() {
    local -a found
    found=("${(@f)$(mngr __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${found[*]}" ]]; then compadd -- "${found[@]}"; else _files; fi
}
if [[ "${funcstack[1]}" == _mngr ]]; then _mngr "$@"; else compdef _mngr mngr; fi
