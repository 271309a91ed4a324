#compdef thrall
# Completion of thrall for zsh: source <(thrall completion zsh), behind compinit

_thrall() {
    local at=${words[2,CURRENT-1][(i)--]}
    if ((at < CURRENT - 1)); then # the server's own words
        shift $((at + 1)) words
        ((CURRENT -= at + 1))
        _normal
        return
    fi
    local -a before after answer
    before=("${(@Q)words[2,CURRENT-1]}")
    after=("${(@Q)words[CURRENT+1,-1]}")
    answer=("${(@f)$("${(Q)words[1]}" completion zsh $#before -- "${before[@]}" "${(Q)PREFIX}" "${after[@]}" 2>/dev/null)}")
    local -a open closed open_shown closed_shown
    local line word about
    case $answer[1] in
        words)
            for line in "${(@)answer[2,-1]}"; do
                word=${line%%$'\t'*} about=${line#*$'\t'}
                if [[ $word == *= ]]; then
                    open+=("$word") open_shown+=("$word${about:+  -- $about}")
                else
                    closed+=("$word") closed_shown+=("$word${about:+  -- $about}")
                fi
            done
            (($#open)) && compadd -l -S '' -d open_shown -a open
            (($#closed)) && compadd -l -d closed_shown -a closed
            ;;
        files) compset -P '*=(@|)'; _files ;;
        directories) compset -P '*='; _files -/ ;;
        catalogs) compset -P '*='; _files -g '*.json' ;;
    esac
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _thrall "$@"
else
    compdef _thrall thrall
fi
