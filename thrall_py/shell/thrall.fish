# Completion of thrall for fish: thrall completion fish | source

function __thrall_complete
    set -l before (commandline -opc)
    set -l word (commandline -ct)
    set -l answer ($before[1] completion fish (math (count $before) - 1) -- $before[2..-1] $word 2>/dev/null)
    set -l kind $answer[1]
    set -e answer[1]
    set -l front $answer[1]
    switch "$kind"
        case words
            string join -- \n $answer
        case files
            string replace -r -- '^' (string escape --style=regex -- $front) (__fish_complete_path $answer[2])
        case directories
            string join -- \n $front(__fish_complete_directories $answer[2])
        case catalogs
            string join -- \n $front(__fish_complete_suffix --complete=$answer[2] .json)
    end
end

function __thrall_is_server
    contains -- -- (commandline -opc)
end

complete -c thrall -e
complete -c thrall -f -n 'not __thrall_is_server' -a '(__thrall_complete)'
complete -c thrall -n __thrall_is_server -x -a '(__fish_complete_subcommand --fcs-skip=(contains -i -- -- (commandline -opc)))'
