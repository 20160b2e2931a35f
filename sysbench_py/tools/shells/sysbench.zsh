#compdef sysbench sysbench-py
# Completion of sysbench for zsh: source <(sysbench tools completion zsh), after compinit

_sysbench_py() {
    local line name
    local -a whole open
    # A candidate comes with its description, behind a tab; _describe wants a colon.
    for line in "${(@f)$(_call_program candidates ${(q)words[1]} tools complete -- ${(q)words[2,CURRENT]} 2> /dev/null)}"; do
        [[ -n $line ]] || continue
        name=${${line%%$'\t'*}//:/\\:}
        if [[ $name == *= ]]; then
            open+=("$name:${line#*$'\t'}")
        else
            whole+=("$name:${line#*$'\t'}")
        fi
    done
    (( ${#whole} + ${#open} )) || { _files; return }
    local failed=1
    _describe -t candidates 'sysbench' whole && failed=0
    _describe -t candidates 'sysbench' open -S '' && failed=0
    return failed
}

compdef _sysbench_py sysbench sysbench-py
