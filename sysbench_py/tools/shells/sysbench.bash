# Completion of sysbench for bash: source <(sysbench tools completion bash)

_sysbench_py() {
    local line=${COMP_LINE:0:COMP_POINT} word prefix
    local -a words
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    word=${words[${#words[@]} - 1]}
    mapfile -t COMPREPLY < <("${words[0]/#\~/$HOME}" tools complete -- "${words[@]:1}" 2> /dev/null)
    # A candidate comes with its description, behind a tab.
    COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
    if [[ $word == *=* && $COMP_WORDBREAKS == *=* ]]; then
        # To bash, the word that is being completed begins behind the =.
        prefix=${word%%=*}=
        COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
    fi
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace
    fi
}

complete -o bashdefault -o default -F _sysbench_py sysbench sysbench-py
