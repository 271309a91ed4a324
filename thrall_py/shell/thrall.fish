# Completion of thrall for fish: thrall completion fish | source

function __thrall_complete
    set -l before (commandline -opc)
    set -l token (commandline -ct)
    if set -l at (contains -i -- -- $before) # the words behind it are a command of their own
        set -l from (math $at + 1)
        set -l server (string escape -- $before[$from..-1]) $token
        complete -C (string join -- ' ' $server)
        return
    end
    # What the word means; its quote may be open. What is behind it, fish does not tell.
    set -l word (string unescape -- $token; or string unescape -- $token"'"; or string unescape -- $token'"')
    set -l place (math (count $before) - 1)
    set -l answer ($before[1] completion fish $place -- $before[2..-1] "$word" 2>/dev/null)
    set -l kind $answer[1]
    set -e answer[1]
    set -l front $answer[1]
    switch "$kind"
        case words
            string join -- \n $answer
        case files
            string join -- \n $front(__thrall_paths $answer[2])
        case directories
            string join -- \n $front(__thrall_paths $answer[2] | string match -- '*/')
        case catalogs
            string join -- \n $front(__thrall_paths $answer[2] | string match -r -- '.*(?:/|\.json)$')
    end
end

# What fish offers behind a command that it does not know.
function __thrall_paths
    set -l path (string escape --no-quoted -- $argv | string replace -r -- '^\\\\~' '~')
    complete -C "__thrall_nothing $path"
end

complete -c thrall -e
complete -c thrall -f -a '(__thrall_complete)'
