#compdef trawl-cli trawld trawld-qbit trawl-wallet trawl-load
# zsh completion of trawl-cli, trawld, trawl-wallet and trawl-load: save it as _trawl-cli in a directory of $fpath.

_trawl_cli_methods='@METHODS@'

_trawl_cli_options='@OPTIONS@'

_trawld_options='@DAEMON@'

_trawl_load_options='@LOAD@'

_trawl_wallet_options='@WALLET@'

# Completes a program that has options, and words behind them.
_trawl_options() {
    local -a names
    if [[ $PREFIX == -chain=* ]]; then
        compset -P 1 '*='
        compadd main test testnet4 signet regtest
    elif [[ $PREFIX == -*=* ]]; then
        compset -P 1 '*='
        _files
    else
        names=(${(f)1})
        compadd -S '' -- ${(M)names:#*=}
        compadd -- ${names:#*=}
        compadd -- ${=2}
    fi
}

_trawl-cli() {
    case $service in
        trawld*) _trawl_options "$_trawld_options"; return ;;
        trawl-load) _trawl_options "$_trawl_load_options"; return ;;
        trawl-wallet) _trawl_options "$_trawl_wallet_options" '@COMMANDS@'; return ;;
    esac
    local word method='' named=''
    local -a names
    for word in "${(@)words[2,CURRENT-1]}"; do
        if [[ $word == -named ]]; then
            named=1
        elif [[ $word != -* ]]; then
            method=$word
            break
        fi
    done
    if [[ -z $method && $PREFIX == -chain=* ]]; then
        compset -P 1 '*='
        compadd main test testnet4 signet regtest
    elif [[ -z $method && $PREFIX == -color=* ]]; then
        compset -P 1 '*='
        compadd always auto never
    elif [[ -z $method && $PREFIX == -completion=* ]]; then
        compset -P 1 '*='
        compadd bash zsh fish
    elif [[ -z $method && $PREFIX == -*=* ]]; then
        compset -P 1 '*='
        _files
    elif [[ -z $method && $PREFIX == -* ]]; then
        names=(${(f)_trawl_cli_options})
        compadd -S '' -- ${(M)names:#*=}
        compadd -- ${names:#*=}
    elif [[ -z $method || $method == help ]]; then
        names=(${${(f)_trawl_cli_methods}%% *})
        compadd -- $names
    elif [[ -n $named && $PREFIX != *=* ]]; then
        names=(${(M)${(f)_trawl_cli_methods}:#$method *})
        names=(${=names#* })
        compadd -S = -- $names
    fi
}

if [[ $funcstack[1] == _trawl-cli ]]; then
    _trawl-cli "$@"
else
    compdef _trawl-cli trawl-cli trawld trawld-qbit trawl-wallet trawl-load
fi
