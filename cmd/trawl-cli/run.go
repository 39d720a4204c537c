package main

import (
	"errors"
	"fmt"
	"io"
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
		var refused *refusal
		if errors.As(err, &refused) {
			fmt.Fprintln(w.stderr, refused.text)
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
		return nil, failf("Error parsing command line arguments: %v", err)
	}
	if len(args) == 0 || s.HelpAsked() || s.Bool("version", false) {
		fmt.Fprint(w.stdout, introduction(s))
		if len(args) == 0 {
			return nil, failf("Error: too few parameters")
		}
		return nil, errAnswered
	}
	files := options.OS{}
	if err := s.CheckDataDir(files); err != nil {
		return nil, failf("Error: %v", err)
	}
	if err := s.ReadConfig(files); err != nil {
		return nil, failf("Error reading configuration file: %v", err)
	}
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
	text := "Trawl RPC client version " + version.String() + "\n"
	if s.Bool("version", false) {
		return text + "Distributed under the ISC licence.\n"
	}
	return text + `
trawl-cli calls a method of a running trawld and prints the result.

The method "help" lists all methods; "help <method>" describes one.
With -named, parameters are given as <name>=<value>, in any order.

Usage: trawl-cli [options] <method> [params]
or:    trawl-cli [options] -named <method> [name=value]...
or:    trawl-cli [options] help
or:    trawl-cli [options] help <method>


` + s.Help()
}

// call makes the one call that the command line asks for.
func call(s *options.Settings, w *world) (*jsontree.Value, error) {
	words, err := readWords(s, w)
	if err != nil {
		return nil, err
	}
	if err := refuseCommands(s); err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, errors.New("too few parameters (need at least command)")
	}
	to, err := newEndpoint(s, w.stderr)
	if err != nil {
		return nil, err
	}
	method := words[0]
	convert := positional
	if s.Bool("named", false) {
		convert = named
	}
	params, err := convert(method, words[1:])
	if err != nil {
		return nil, err
	}
	reply, err := retry(s, w.pause, func() (*jsontree.Value, error) {
		return to.post(request(method, params), credentialsOf(s))
	})
	if err != nil {
		return nil, err
	}
	if failure := reply.Get("error"); !failure.IsNull() {
		return nil, newRefusal(failure)
	}
	return reply.Get("result"), nil
}

// refuseCommands refuses the options that stand for several calls.
func refuseCommands(s *options.Settings) error {
	var given []string
	for _, name := range []string{"addrinfo", "generate", "getinfo", "netinfo"} {
		if s.IsSet(name) {
			given = append(given, "-"+name)
		}
	}
	switch {
	case len(given) > 1:
		return failf("Only one of %s may be specified.", strings.Join(given, ", "))
	case len(given) == 1:
		return fmt.Errorf("%s is not available in this version", given[0])
	}
	return nil
}

// request is the body of a call, its members in Core's order.
func request(method string, params *jsontree.Value) []byte {
	b := jsontree.AppendString([]byte(`{"method":`), method)
	b = params.AppendJSON(append(b, `,"params":`...))
	return append(b, `,"id":1,"jsonrpc":"2.0"}`+"\n"...)
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
