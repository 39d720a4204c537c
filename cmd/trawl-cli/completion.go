package main

import (
	_ "embed"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
)

// methodList has a line for each method of the daemon: its name and those of its
// parameters. It is made from the daemon's own table, see cmd/trawld.
//
//go:embed methods.txt
var methodList string

// completions are the scripts of -completion, by shell. In the scripts @METHODS@ is replaced
// by the methods, each with its parameters on a line. Likewise @OPTIONS@, @DAEMON@, @WALLET@
// and @LOAD@ are replaced by the options of the client, the daemon, the wallet tool and the
// load generator. Each option is on a line, with an equals sign where it needs a value.
// @COMMANDS@ is replaced by the commands of the wallet tool.
//
//go:embed completion.bash
var bashCompletion string

//go:embed completion.zsh
var zshCompletion string

//go:embed completion.fish
var fishCompletion string

var completions = map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}

// complete writes the script for a shell.
func complete(shell string, w io.Writer) error {
	script, ok := completions[shell]
	if !ok {
		return failf("Error: No completion for %s. Valid values: %s.", shell,
			strings.Join(slices.Sorted(maps.Keys(completions)), ", "))
	}
	script = strings.NewReplacer(
		"@METHODS@", methodList+watchCommand,
		"@OPTIONS@", strings.Join(optionWords(table.CLI()), "\n"),
		"@DAEMON@", strings.Join(optionWords(table.Daemon()), "\n"),
		"@LOAD@", strings.Join(optionWords(table.Load()), "\n"),
		"@WALLET@", strings.Join(optionWords(table.WalletTool()), "\n"),
		"@COMMANDS@", strings.Join(table.WalletCommands(), " "),
	).Replace(script)
	if _, err := io.WriteString(w, script); err != nil {
		return failf("Error: %v", err)
	}
	return errAnswered
}

// optionWords are the options that help shows, as they are typed.
func optionWords(rows []options.Option) []string {
	var words []string
	for _, o := range rows {
		if o.Flags&(options.Hidden|options.Unused) != 0 {
			continue
		}
		word := "-" + o.Name
		if o.Arg != "" {
			word += "="
		}
		words = append(words, word)
	}
	slices.Sort(words)
	return words
}
