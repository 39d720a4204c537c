#compdef trawl-cli trawld trawld-qbit
# zsh completion of trawl-cli and trawld: save it as _trawl-cli in a directory of $fpath.

_trawl_cli_methods='@METHODS@'

_trawl_cli_options='@OPTIONS@'

_trawld_options='@DAEMON@'

_trawld() {
    local -a names
    if [[ $PREFIX == -*=* ]]; then
        compset -P 1 '*='
        _files
    else
        names=(${(f)_trawld_options})
        compadd -S '' -- ${(M)names:#*=}
        compadd -- ${names:#*=}
    fi
}

_trawl-cli() {
    if [[ $service == trawld* ]]; then
        _trawld
        return
    fi
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
    compdef _trawl-cli trawl-cli trawld trawld-qbit
fi
