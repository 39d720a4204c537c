// Command trawl-wallet makes wallet files, shows them, and copies them to text and back, while no node has them open.
// It takes the options of Bitcoin Core's bitcoin-wallet, or by the dialect of qbit-wallet, and prints what
// these print. The files are those of the node, read and written by the same packages.
//
// The exit status is 0 if the command was carried out, and 1 otherwise. As in Core it is 0 where create finds a wallet
// in the place of the new one.
package main

//go:generate go test -run ^TestManual$ . -update

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
	"github.com/seed61375155/trawl/internal/version"
)

func main() {
	args := os.Args[1:]
	if len(args) > 0 {
		args = options.ProgramArgs(os.Args)
	}
	os.Exit(run(args, &streams{os.Stdout, os.Stderr, os.Getenv("HOME")}))
}

// streams are where the program writes to, and where its user's files are.
type streams struct {
	stdout, stderr io.Writer
	home           string
}

const exitFailure = 1

// A message is an error to show as it is, in Core's words.
type message string

func (m message) Error() string { return string(m) }

func failf(format string, args ...any) error { return message(fmt.Sprintf(format, args...)) }

// errAnswered reports that the user asked for help or the version and got it.
var errAnswered = errors.New("help was asked for")

// run is the program; it returns the exit status.
func run(args []string, std *streams) int {
	s, err := configure(args, std)
	if err == nil {
		err = execute(s, std)
	}
	var bare unreadable
	switch {
	case err == nil, errors.Is(err, errAnswered):
		return 0
	case errors.As(err, &bare):
		fmt.Fprint(std.stderr, err)
	default:
		fmt.Fprintln(std.stderr, err)
	}
	if errors.As(err, new(taken)) {
		return 0
	}
	return exitFailure
}

// configure reads the command line.
func configure(args []string, std *streams) (*options.Settings, error) {
	s := options.New(table.WalletTool(), options.DefaultDataDir(std.home))
	err := s.ParseArgs(args)
	if words := s.Words(); err == nil && len(words) > 0 && commands[words[0]] == nil {
		err = failf("Invalid command '%s'", words[0])
	}
	if err != nil {
		return nil, failf("Error parsing command line arguments: %v", err)
	}
	if len(args) == 0 || s.HelpAsked() || s.Bool("version", false) {
		fmt.Fprint(std.stdout, options.Introduction(
			s, table.WalletToolProgram(), version.String(), "Distributed under the ISC licence.\n",
		))
		if len(args) == 0 {
			return nil, failf("Error: too few parameters")
		}
		return nil, errAnswered
	}
	if err := s.CheckDataDir(options.OS{}); err != nil {
		return nil, failf("Error: %v", err)
	}
	if _, err := s.SelectChain(); err != nil {
		return nil, failf("Error: %v", err)
	}
	return s, nil
}

// commands are what the program does, by their words.
var commands = map[string]func(*tool) error{
	"info": (*tool).info, "create": (*tool).create, "dump": (*tool).dump, "createfromdump": (*tool).createFromDump,
}

// execute does what the command line asks for.
func execute(s *options.Settings, std *streams) error {
	words := s.Words()
	if len(words) == 0 {
		return failf("No method provided. Run `%s -help` for valid methods.", options.NamesOf(s.Dialect()).Wallet)
	}
	command := words[0]
	if len(words) > 1 {
		return failf("Error: Additional arguments provided (%s). Methods do not take arguments. Please refer to `-help`.",
			strings.Join(words[1:], ", "))
	}
	if s.IsSet("dumpfile") && !slices.Contains([]string{"dump", "createfromdump"}, command) {
		return failf("Error: Invalid arguments provided:\n- The -dumpfile option cannot be used with the '%s' command.",
			command)
	}
	net, err := networkOf(s)
	if err != nil {
		return failf("Error: %v", err)
	}
	t, err := newTool(net, s, std, strings.HasPrefix(command, "create"))
	if err != nil {
		return err
	}
	return commands[command](t)
}
