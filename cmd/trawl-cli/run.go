package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
	"github.com/seed61375155/trawl/internal/version"
)

// world is what the program has besides its arguments and the network.
type world struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	home           string
	pause          func(time.Duration)

	colour   bool // the standard output is a terminal
	terminal bool // the standard error stream is one

	// interrupts delivers a value for every interrupt until stop is called;
	// before and after that an interrupt ends the program.
	interrupts func() (hits <-chan os.Signal, stop func())
}

const exitFailure = 1

// message is an error to show as it is, in Core's words.
type message string

func (m message) Error() string { return string(m) }

func failf(format string, args ...any) error { return message(fmt.Sprintf(format, args...)) }

// run is the program; it returns the exit status.
func run(args []string, w *world) int {
	settings, err := configure(args, w)
	switch {
	case errors.Is(err, errAnswered):
		return 0
	case err != nil:
		fmt.Fprintln(w.stderr, err)
		return exitFailure
	}
	result, err := call(settings, w)
	if err != nil {
		if page, ok := errors.AsType[unsound](err); ok {
			fmt.Fprintln(w.stdout, string(page))
			return exitFailure
		}
		var refused *refusal
		if errors.As(err, &refused) {
			fmt.Fprintln(w.stderr, refused.advised(options.NamesOf(settings.Dialect()).CLI))
			return refused.status()
		}
		fmt.Fprintln(w.stderr, "error:", err)
		return exitFailure
	}
	if text := shown(result); text != "" {
		fmt.Fprintln(w.stdout, text)
	}
	return 0
}

// errAnswered reports that the user asked for help or the version and got it.
var errAnswered = errors.New("help was asked for")

// configure reads the command line and the configuration files.
func configure(args []string, w *world) (*options.Settings, error) {
	s := options.New(table.CLI(), options.DefaultDataDir(w.home))
	if err := s.ParseArgs(args); err != nil {
		return nil, failf("Error parsing command line arguments: %v%s", err, meantOption(args))
	}
	if len(args) == 0 || s.HelpAsked() || s.Bool("version", false) {
		fmt.Fprint(w.stdout, introduction(s))
		if len(args) == 0 {
			return nil, failf("Error: too few parameters")
		}
		return nil, errAnswered
	}
	if shell := s.String("completion", ""); shell != "" {
		return nil, complete(shell, w.stdout)
	}
	files := options.OS{}
	if err := s.CheckDataDir(files); err != nil {
		return nil, failf("Error: %v", err)
	}
	if err := s.ReadConfig(files); err != nil {
		return nil, failf("Error reading configuration file: %v", err)
	}
	takeKnownChain(s)
	if _, err := s.SelectChain(); err != nil {
		return nil, failf("Error: %v", err)
	}
	for _, remark := range s.Remarks() {
		if remark.Kind == options.Notice {
			fmt.Fprintln(w.stderr, remark.Text)
		}
	}
	return s, nil
}

// introduction is the text of -help and -version.
func introduction(s *options.Settings) string {
	return options.Introduction(s, table.CLIProgram(), version.String(), "Distributed under the ISC licence.\n")
}

// call does what the command line asks for.
func call(s *options.Settings, w *world) (*jsontree.Value, error) {
	words, err := readWords(s, w)
	if err != nil {
		return nil, err
	}
	if err := checkCommands(s); err != nil {
		return nil, err
	}
	c, err := newClient(s, w)
	if err != nil {
		return nil, err
	}
	for _, command := range commands {
		if s.Bool(command.option, false) {
			return command.run(c, words)
		}
	}
	if len(words) == 0 {
		return nil, errors.New("too few parameters (need at least command)")
	}
	return c.method(words[0], words[1:])
}

// commands are the options that stand for several calls, in Core's order.
var commands = []struct {
	option string
	run    func(c *client, words []string) (*jsontree.Value, error)
}{
	{"getinfo", (*client).getinfo},
	{"netinfo", (*client).netinfo},
	{"generate", (*client).generate},
	{"addrinfo", (*client).addrinfo},
	{"previewrestore", (*client).previewRestore},
	{"getsearch", (*client).showSearch},
}

// checkCommands allows one of the options that stand for several calls.
func checkCommands(s *options.Settings) error {
	var given []string
	for _, name := range []string{"addrinfo", "generate", "getinfo", "getsearch", "netinfo", "previewrestore"} {
		if s.IsSet(name) {
			given = append(given, "-"+name)
		}
	}
	if len(given) > 1 {
		return failf("Only one of %s may be specified.", strings.Join(given, ", "))
	}
	return nil
}

// method calls a method by its name.
func (c *client) method(name string, words []string) (*jsontree.Value, error) {
	if name == watchCommand {
		return nil, c.watch(words)
	}
	words = withObjects(name, words, c.settings.Bool("named", false))
	convert := positional
	if c.settings.Bool("named", false) {
		convert = named
	}
	params, err := convert(name, words)
	if err != nil {
		return nil, err
	}
	if listsEntries(c.settings) {
		return nil, c.entries(name, params)
	}
	if c.terminal && isScan(name, params) {
		return c.scan(name, params)
	}
	result, err := c.result(name, params)
	if refused, ok := errors.AsType[*refusal](err); ok && refused.code == methodNotFound {
		if meant := meantMethod(name); meant != "" {
			refused.text += "\nDid you mean " + meant + "?"
		}
	}
	return result, err
}

// shown is a result as it is printed: a string as it is, nothing for null.
func shown(result *jsontree.Value) string {
	switch result.Kind() {
	case jsontree.Null:
		return ""
	case jsontree.String:
		return result.Text()
	default:
		return result.Indent(2)
	}
}
