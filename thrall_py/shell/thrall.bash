# Completion of thrall for bash: source <(thrall completion bash)

_thrall() {
    # bash cuts words at the characters in COMP_WORDBREAKS, so title:=x comes as three pieces. Put
    # them together as they stand on the line. `head` is what is in front of the last piece: it
    # stays on the line, and a candidate replaces only the rest.
    local line=${COMP_LINE:0:COMP_POINT} words=() i piece rest kind front path found after
    for ((i = 0; i <= COMP_CWORD; i++)); do
        rest=${line#"${line%%[![:space:]]*}"}
        if ((i == 0)) || [[ $rest != "$line" ]]; then
            words+=("")
        fi
        piece=${COMP_WORDS[i]}
        ((i < COMP_CWORD)) || piece=$rest # as far as the cursor
        line=${rest#"$piece"}
        words[${#words[@]} - 1]+=$piece
    done
    local place=$((${#words[@]} - 1))
    [[ -z $piece || $piece == *[!"$COMP_WORDBREAKS"]* ]] || piece=
    local head=${words[place]%"$piece"}
    head=${head%@} # readline has an @ in the word that it replaces
    COMPREPLY=()

    for ((i = 1; i < place; i++)); do
        if [[ ${words[i]} == -- ]]; then
            _thrall_server "$i"
            return
        fi
    done

    # The program as the shell would find it. The word stands here as it was typed; ~ and a variable
    # at its beginning are filled in, and nothing else of it is ever evaluated.
    local program=${words[0]} variable
    if [[ $program == '~'/* ]]; then
        program=$HOME${program#'~'}
    elif [[ $program =~ ^\$(([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})(/.*)$ ]]; then
        variable=${BASH_REMATCH[2]}${BASH_REMATCH[3]}
        program=${!variable-}${BASH_REMATCH[4]}
    fi
    type -- "$program" &>/dev/null || program=thrall

    rest=${COMP_LINE:COMP_POINT}
    read -r -a after <<<"${rest#"${rest%%[[:space:]]*}"}"
    {
        read -r kind
        case $kind in
            words)
                while IFS= read -r path; do
                    [[ $path != "$head"* ]] || COMPREPLY+=("${path#"$head"}")
                done
                [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
                return
                ;;
            files) found=(-f) ;;
            directories) found=(-d) ;;
            catalogs) found=(-d -f -X '!*.json') ;;
            *) return ;;
        esac
        IFS= read -r front
        IFS= read -r path
    } < <("$program" completion bash $((place - 1)) -- "${words[@]:1}" "${after[@]}" 2>/dev/null)
    compopt -o filenames 2>/dev/null
    while IFS= read -r path; do
        path=$front$path
        [[ $path != "$head"* ]] || COMPREPLY+=("${path#"$head"}")
    done < <(compgen "${found[@]}" -- "$path")
}

# The words behind -- are a command of their own; $1 is the place of --.
_thrall_server() {
    for ((i = 0; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} != -- ]] || break
    done
    if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
    elif ((place == $1 + 1)); then
        while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen -c -- "${words[place]}")
    else
        compopt -o bashdefault -o default 2>/dev/null
    fi
}

complete -F _thrall thrall
