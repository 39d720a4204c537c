package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/seed61375155/trawl/internal/options"
)

// readWords returns the method and its arguments: those of the command line and
// those that are read from the standard input, where passwords come first.
func readWords(s *options.Settings, w *world) ([]string, error) {
	in := newInput(w)
	if s.Bool("stdinrpcpass", false) {
		password, err := in.secret("RPC password> ")
		if err != nil {
			return nil, errors.New("-stdinrpcpass specified but failed to read from standard input")
		}
		s.Force("rpcpassword", password)
	}
	words := slices.Clone(s.Words())
	if s.Bool("stdinwalletpassphrase", false) {
		if len(words) == 0 || !strings.HasPrefix(words[0], "walletpassphrase") {
			return nil, errors.New("-stdinwalletpassphrase is only applicable for walletpassphrase(change)")
		}
		passphrase, err := in.secret("Wallet passphrase> ")
		if err != nil {
			return nil, errors.New("-stdinwalletpassphrase specified but failed to read from standard input")
		}
		words = slices.Insert(words, 1, passphrase)
	}
	if s.Bool("stdinwords", false) {
		var err error
		if words, err = in.source(words, s.Bool("named", false)); err != nil {
			return nil, err
		}
	}
	if s.Bool("stdin", false) {
		for line, err := in.line(); err == nil; line, err = in.line() {
			words = append(words, line)
		}
		in.newline()
	}
	return words, nil
}

// input reads lines from the standard input.
type input struct {
	*world
	lines    *bufio.Reader
	terminal int // file descriptor, -1 when there is no terminal
}

func newInput(w *world) *input {
	in := &input{w, bufio.NewReader(w.stdin), -1}
	if file, ok := w.stdin.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		in.terminal = int(file.Fd())
	}
	return in
}

// line returns the next line without its end. The last line may lack it.
func (in *input) line() (string, error) {
	line, err := in.lines.ReadString('\n')
	if errors.Is(err, io.EOF) && line != "" {
		err = nil
	}
	return strings.TrimSuffix(line, "\n"), err
}

// secret reads a line; a terminal is asked for it and does not show it.
func (in *input) secret(prompt string) (string, error) {
	if in.terminal < 0 {
		return in.line()
	}
	fmt.Fprint(in.stderr, prompt)
	text, err := term.ReadPassword(in.terminal)
	in.newline()
	return string(text), err
}

// source adds to the words of discoveraccounts what accounts are looked for from, and its passphrase.
func (in *input) source(words []string, named bool) ([]string, error) {
	start := "start"
	if named {
		start = "action=start"
	}
	if len(words) < 2 || words[0] != "discoveraccounts" || words[1] != start {
		return nil, fmt.Errorf("-stdinwords is only applicable for discoveraccounts %s", start)
	}
	source, err := in.secret("Words, key or descriptor> ")
	if err != nil {
		return nil, errors.New("-stdinwords specified but failed to read from standard input")
	}
	passphrase, err := in.secret("Passphrase of the words, if they have one> ")
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.New("-stdinwords specified but failed to read from standard input")
	}
	if named {
		source, passphrase = "source="+source, "passphrase="+passphrase
	}
	return slices.Insert(words, 2, source, passphrase), nil
}

// newline ends the line at which the user's typing left the terminal.
func (in *input) newline() {
	if in.terminal >= 0 {
		fmt.Fprintln(in.stdout)
	}
}
