# fish completion of trawl-cli, trawld, trawl-wallet and trawl-load: save it as trawl-cli.fish in
# ~/.config/fish/completions, with links to it for the names of the others.

set -g __trawl_cli_methods '@METHODS@'

set -g __trawl_cli_options '@OPTIONS@'

set -g __trawld_options '@DAEMON@'

set -g __trawl_load_options '@LOAD@'

set -g __trawl_wallet_options '@WALLET@'

# Prints what may stand at the cursor of a program that has options alone.
function __trawl_options
    switch (commandline -ct)
        case '-chain=*'
            printf '%s\n' -chain={main,test,testnet4,signet,regtest}
        case '-*'
            string split \n -- $argv
    end
end

# Prints what may stand at the cursor.
function __trawl_cli_complete
    set -l method
    set -l named
    set -l cur (commandline -ct)
    set -l words (commandline -opc)
    set -e words[1]
    for word in $words
        if test "$word" = -named
            set named 1
        else if not string match -q -- '-*' "$word"
            set method $word
            break
        end
    end
    if test -z "$method"
        switch "$cur"
            case '-chain=*'
                printf '%s\n' -chain={main,test,testnet4,signet,regtest}
            case '-color=*'
                printf '%s\n' -color={always,auto,never}
            case '-completion=*'
                printf '%s\n' -completion={bash,zsh,fish}
            case '-*'
                printf '%s\n' (string split \n -- $__trawl_cli_options)
            case '*'
                string split \n -- $__trawl_cli_methods | string replace -r ' .*' ''
        end
    else if test "$method" = help
        string split \n -- $__trawl_cli_methods | string replace -r ' .*' ''
    else if test -n "$named"; and not string match -q -- '*=*' "$cur"
        for line in (string split \n -- $__trawl_cli_methods)
            set -l names (string split ' ' -- $line)
            if test "$names[1]" = "$method"
                for name in $names[2..-1]
                    echo $name=
                end
            end
        end
    end
end

complete -c trawl-cli -f -a '(__trawl_cli_complete)'

for daemon in trawld trawld-qbit
    complete -c $daemon -a '(__trawl_options $__trawld_options)'
end

complete -c trawl-load -a '(__trawl_options $__trawl_load_options)'

complete -c trawl-wallet -a '(__trawl_options $__trawl_wallet_options)'
complete -c trawl-wallet -a '@COMMANDS@'
