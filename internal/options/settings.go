// Package options reads Bitcoin-style options: command lines such as
// "-regtest -rpcport=1234 -nolisten" and configuration files with network
// sections. It follows Bitcoin Core's ArgsManager to the letter, error texts
// included, for the daemon and the command-line client alike.
//
// Some rules, all of them Core's:
//   - the command line beats the settings file, which changes at run time; the
//     settings file beats the configuration file; of several values the last on the
//     command line wins, but the first in the configuration file;
//   - in the file, the section of the selected network beats the default one;
//   - -no<name> sets an option to false and forgets its earlier values;
//   - an option flagged [NetworkOnly] in the default section of the file counts
//     for the main network only.
//
// The package opens nothing but the configuration files, through a [Files].
// The tables of the options that exist are in the package table below it.
package options

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is a mistake of the user's. Its text is Bitcoin Core's, to be shown as
// it is.
type Error struct {
	Text string

	logged string // the same without what may be secret; empty: nothing is
}

// Error implements error.
func (e *Error) Error() string { return e.Text }

// LogText is the text without the line of a file that it may have in it, which may be a secret: for logs.
func (e *Error) LogText() string { return cmp.Or(e.logged, e.Text) }

func errorf(format string, args ...any) error { return &Error{Text: fmt.Sprintf(format, args...)} }

// Settings holds the options a user gave. Fill it with [Settings.ParseArgs],
// [Settings.ReadConfig], [Settings.SelectChain] and [Settings.ReadSettingsFile], in this
// order; after that it is safe for concurrent reading.
type Settings struct {
	options    map[string]*Option
	order      []string // names as in the table
	defaultDir string

	forced      map[string]value
	commandLine map[string]span
	config      map[string]map[string]span // section, name

	settingsFile map[string]span
	settingsRead []member // as they stand in the file

	words      []string
	retiring   []string // arguments with options that a version does not have any more
	sections   []Section
	remarks    []Remark
	configPath string // empty: -noconf
	unreadable error  // why a file that is there was not read
	chain      Chain  // empty until selected
}

// Section is a place in a configuration file where a section begins.
type Section struct {
	Name, File string
	Line       int // from 1
}

// Remark is something to tell the user once there is a log.
type Remark struct {
	Kind RemarkKind
	Text string
}

// RemarkKind says where a [Remark] belongs.
type RemarkKind uint8

// The kinds of remarks.
const (
	Note    RemarkKind = iota // for the log
	Warning                   // for the log, as a warning
	Notice                    // for the standard error stream, as it is
)

// New returns empty settings over the given options. defaultDir is the data
// directory to use without -datadir; see [DefaultDataDir].
func New(table []Option, defaultDir string) *Settings {
	s := &Settings{
		options:     make(map[string]*Option, len(table)),
		order:       make([]string, 0, len(table)),
		defaultDir:  defaultDir,
		forced:      map[string]value{},
		commandLine: map[string]span{},
		config:      map[string]map[string]span{},

		settingsFile: map[string]span{},
	}
	for i := range table {
		s.options[table[i].Name] = &table[i]
		s.order = append(s.order, table[i].Name)
	}
	return s
}

// String returns the value of an option, or def where it is not set. A negated
// option is "0".
func (s *Settings) String(name, def string) string {
	if v, ok := s.lookup(name); ok {
		return v.string()
	}
	return def
}

// Int returns the number an option begins with, or def where it is not set.
// Text that is no number is 0; numbers beyond an int64 are the nearest one.
func (s *Settings) Int(name string, def int64) int64 {
	if v, ok := s.lookup(name); ok {
		return parseInt(v.string())
	}
	return def
}

// Bool returns the truth of an option, or def where it is not set. No value
// means true, as does any number but 0; other text is false.
func (s *Settings) Bool(name string, def bool) bool {
	if v, ok := s.lookup(name); ok {
		return v.bool()
	}
	return def
}

// IsSet reports whether an option has a value; a negated one has.
func (s *Settings) IsSet(name string) bool {
	_, ok := s.lookup(name)
	return ok
}

// IsNegated reports whether an option is switched off with -no<name>.
func (s *Settings) IsNegated(name string) bool {
	v, ok := s.lookup(name)
	return ok && v.kind == negated
}

// IsDoubleNegated reports whether one of the values that count is a negation that is
// itself denied, as -no<name>=0 is.
func (s *Settings) IsDoubleNegated(name string) bool {
	return slices.ContainsFunc(s.list(name), func(v value) bool { return v.kind == doubled })
}

// Strings returns all values of an option that may be repeated: those of the
// command line first, then those of the file.
func (s *Settings) Strings(name string) []string {
	var texts []string
	for _, v := range s.list(name) {
		texts = append(texts, v.string())
	}
	return texts
}

// Force sets an option above all sources.
func (s *Settings) Force(name, text string) {
	s.mustKnow(name)
	s.forced[name] = value{text: text}
}

// IsForced reports whether an option of s was set by [Settings.Force].
func IsForced(s *Settings, name string) bool {
	_, ok := s.forced[name]
	return ok
}

// Words returns what follows the options on the command line: the first word
// without a dash and everything after it.
func (s *Settings) Words() []string { return s.words }

// Remarks returns what was noticed while reading, in order.
func (s *Settings) Remarks() []Remark { return s.remarks }

func (s *Settings) remark(kind RemarkKind, format string, args ...any) {
	s.remarks = append(s.remarks, Remark{kind, fmt.Sprintf(format, args...)})
}

// UnusedGiven returns the names of the options the user gave that have no
// effect, in the table's order. An option that is switched off is not among them:
// what is not there is off.
func (s *Settings) UnusedGiven() []string {
	return slices.DeleteFunc(slices.Clone(s.order), func(name string) bool {
		return !s.options[name].has(Unused) || !s.IsSet(name) || s.String(name, "") == "0"
	})
}

// mustKnow panics for a name that is not in the table: a typing error of ours.
func (s *Settings) mustKnow(name string) *Option {
	o, ok := s.options[name]
	if !ok {
		panic("options: no option " + name)
	}
	return o
}

// Given returns what the command line says of some options, as words for a shell.
func Given(s *Settings, names ...string) (words []string) {
	for _, name := range names {
		for _, v := range s.commandLine[name] {
			word := "-" + name
			switch {
			case v.kind == negated:
				word = "-no" + name
			case v.kind == given && v.text != "":
				word += "=" + v.text
			}
			words = append(words, quoted(word))
		}
	}
	return words
}

// quoted is a word as a shell reads it again.
func quoted(word string) string {
	plain := func(r rune) bool {
		const others = "-_=./:@,+%"
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(others, r)
	}
	if strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}
