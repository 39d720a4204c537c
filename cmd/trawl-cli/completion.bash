# bash completion of trawl-cli, trawld, trawl-wallet and trawl-load: source it, or save it as trawl-cli in the
# directory bash-completion/completions, with links to it for the names of the others.

_trawl_cli_methods='@METHODS@'

_trawl_cli_options='@OPTIONS@'

_trawld_options='@DAEMON@'

_trawl_load_options='@LOAD@'

_trawl_wallet_options='@WALLET@'

_trawld() {
    _trawl_options "$_trawld_options"
}

_trawl_load() {
    _trawl_options "$_trawl_load_options"
}

_trawl_wallet() {
    _trawl_options "$_trawl_wallet_options" '@COMMANDS@'
}

# Completes a program that has options, and words behind them.
_trawl_options() {
    local line=${COMP_LINE:0:COMP_POINT} cur
    cur=${line##*[[:space:]]}
    COMPREPLY=()
    if [[ $cur == -chain=* ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'main test testnet4 signet regtest' -- "${cur#*=}")
        [[ $COMP_WORDBREAKS == *=* ]] || COMPREPLY=("${COMPREPLY[@]/#/-chain=}")
    elif [[ $cur == -*=* ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "${cur#*=}")
        [[ $COMP_WORDBREAKS == *=* ]] || COMPREPLY=("${COMPREPLY[@]/#/${cur%%=*}=}")
    elif [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
    else
        mapfile -t COMPREPLY < <(compgen -W "${2-}" -- "$cur")
    fi
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
}

_trawl_cli() {
    local line=${COMP_LINE:0:COMP_POINT} word cur method='' named='' lead
    local -a words
    read -ra words <<<"$line"
    cur=''
    if [[ $line != *[[:space:]] ]]; then
        cur=${words[-1]}
        unset 'words[-1]'
    fi
    for word in "${words[@]:1}"; do
        if [[ $word == -named ]]; then
            named=1
        elif [[ $word != -* ]]; then
            method=$word
            break
        fi
    done
    COMPREPLY=()
    if [[ -z $method && $cur == -chain=* ]]; then
        mapfile -t COMPREPLY < <(compgen -P -chain= -W 'main test testnet4 signet regtest' -- "${cur#*=}")
    elif [[ -z $method && $cur == -color=* ]]; then
        mapfile -t COMPREPLY < <(compgen -P -color= -W 'always auto never' -- "${cur#*=}")
    elif [[ -z $method && $cur == -completion=* ]]; then
        mapfile -t COMPREPLY < <(compgen -P -completion= -W 'bash zsh fish' -- "${cur#*=}")
    elif [[ -z $method && $cur == -*=* ]]; then
        mapfile -t COMPREPLY < <(compgen -P "${cur%%=*}=" -f -- "${cur#*=}")
    elif [[ -z $method && $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$_trawl_cli_options" -- "$cur")
    elif [[ -z $method || $method == help ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(cut -d ' ' -f 1 <<<"$_trawl_cli_methods")" -- "$cur")
    elif [[ -n $named && $cur != *=* ]]; then
        mapfile -t COMPREPLY < <(compgen -S = -W "$(sed -n "s/^${method//[^a-z0-9._]/} //p" <<<"$_trawl_cli_methods")" -- "$cur")
    fi
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    # Bash breaks words at an equals sign and replaces what is behind it only.
    if [[ $cur == *=* && $COMP_WORDBREAKS == *=* ]]; then
        lead=${cur%"${cur##*=}"}
        COMPREPLY=("${COMPREPLY[@]#"$lead"}")
    fi
}

complete -F _trawl_cli trawl-cli
complete -F _trawld trawld trawld-qbit
complete -F _trawl_load trawl-load
complete -F _trawl_wallet trawl-wallet
