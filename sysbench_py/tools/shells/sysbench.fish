# Completion of sysbench for fish: sysbench tools completion fish | source

function __sysbench_py_candidates
    set -l words (commandline -opc)
    $words[1] tools complete -- $words[2..-1] (commandline -ct) 2>/dev/null
end

complete -c sysbench -a '(__sysbench_py_candidates)'
complete -c sysbench-py -a '(__sysbench_py_candidates)'
