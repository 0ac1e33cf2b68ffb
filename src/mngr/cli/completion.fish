function __mngr_complete
    set -l words (commandline -opc) (commandline -ct)
    mngr __complete $words[2..-1] 2>/dev/null
end
complete -c mngr -f -a '(__mngr_complete)'
