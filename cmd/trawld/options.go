package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
	"github.com/seed61375155/trawl/internal/version"
)

// name is what messages call this program.

// initError is a reason not to start, with the text to show.
type initError string

func (e initError) Error() string { return string(e) }

func refuse(format string, args ...any) error { return initError(fmt.Sprintf(format, args...)) }

// configError is why a configuration file cannot be read.
type configError struct{ cause error }

// unreadConfig begins the text of a configError.
const unreadConfig = "Error reading configuration file: "

func (e configError) Error() string { return unreadConfig + e.cause.Error() }

// logText is the text without the line of a file that it may have in it.
func (e configError) logText() string {
	if mistake, ok := errors.AsType[*options.Error](e.cause); ok {
		return unreadConfig + mistake.LogText()
	}
	return e.Error()
}

// badArgs begins the text about a command line that cannot be parsed.
const badArgs = "Error parsing command line arguments: "

// errAnswered reports that the user asked for help or the version and got it.
var errAnswered = errors.New("help was asked for")

// parse reads the command line.
func parse(args []string, std streams) (*options.Settings, error) {
	s := options.New(table.Daemon(), options.DefaultDataDir(std.home))
	if err := s.ParseArgs(args); err != nil {
		return nil, refuse("%s%v", badArgs, err)
	}
	return s, answer(s, std)
}

// answer shows help or version where they are asked for.
func answer(s *options.Settings, std streams) error {
	if !s.HelpAsked() && !s.Bool("version", false) {
		return nil
	}
	if _, err := io.WriteString(std.stdout, introduction(s)); err != nil {
		return err
	}
	return errAnswered
}

// introduction is the text of -help and -version.
func introduction(s *options.Settings) string {
	return options.Introduction(s, table.DaemonProgram(), version.String(), details())
}

// details are what -version tells besides the version.
func details() string {
	text := ""
	if revision := version.Revision(); revision != "" {
		text = "Revision: " + revision + "\n"
	}
	return text + "Kernel: " + filters.Method{}.Kernel() + "\n" +
		"Dialects: " + strings.Join(options.DialectNames(), ", ") + "\n" +
		"Distributed under the ISC licence.\n"
}

// configure reads the configuration files and settles the network.
func configure(s *options.Settings, files options.Files) error {
	if err := s.CheckDataDir(files); err != nil {
		return err
	}
	startDir := s.DataDir()
	if err := s.ReadConfig(files); err != nil {
		return configError{err}
	}
	if err := takeCoreChain(s); err != nil {
		return err
	}
	if _, err := s.SelectChain(); err != nil {
		return err
	}
	if err := s.CheckIgnoredConfig(files, startDir); err != nil {
		return err
	}
	if err := s.ReadSettingsFile(files, settingsDamage(s)); err != nil {
		return err
	}
	if err := options.Retire(s, spoken(s)); err != nil {
		return refuse("%s%v", badArgs, err)
	}
	if words := s.Words(); len(words) > 0 {
		return refuse("Command line contains unexpected token '%s', see %s -h for a list of options.", words[0],
			options.NamesOf(s.Dialect()).Server)
	}
	return checkSections(s)
}

// settingsDamage is what Core supposes to have damaged a settings file.
func settingsDamage(s *options.Settings) string {
	if laterCore(s) {
		return "This may be caused by a crash, power loss, full disk, or storage error"
	}
	return "This is probably caused by disk corruption or a crash"
}

// checkSections refuses options that stand in the default section of the file
// and would silently not count.
func checkSections(s *options.Settings) error {
	var lines []string
	for _, option := range s.Misplaced() {
		lines = append(lines, fmt.Sprintf("Config setting for -%s only applied on %s network when in [%s] section.",
			option, s.Chain(), s.Chain()))
	}
	if len(lines) > 0 {
		return initError(strings.Join(lines, "\n") + "\n")
	}
	return nil
}

// testOptions are the values that -test may have in Core. The value about reindexing
// has no effect.
var testOptions = []string{"addrman", "reindex_after_failure_noninteractive_yes", "bip94"}

// configWarnings names the sections of the file that are no network's, and options that
// had an effect once.
func configWarnings(s *options.Settings) []string {
	var lines []string
	if s.IsSet("maxorphantx") {
		lines = append(lines, "Option '-maxorphantx' is set but no longer has any effect (see release notes). Please "+
			"remove it from your configuration.")
	}
	if words := spendingWarnings(s); len(words) > 0 {
		lines = append(lines, strings.Join(words, "\n"))
	}
	if s.IsSet("checkpoints") {
		lines = append(lines, "Option '-checkpoints' is set but checkpoints were removed. This option has no effect.")
	}
	if laterCore(s) {
		lines = append(lines, replacedLimits(s)...)
	}
	for _, option := range s.Strings("test") {
		if !slices.Contains(testOptions, option) && (option != noStripping || s.Dialect() != dialectQbit) {
			lines = append(lines, fmt.Sprintf("Unrecognised option %q provided in -test=<option>.", option))
		}
	}
	var sections []string // in one warning
	for _, section := range s.UnknownSections() {
		sections = append(
			sections, fmt.Sprintf("%s:%d Section [%s] is not recognized.", section.File, section.Line, section.Name),
		)
	}
	if len(sections) > 0 {
		lines = append(lines, strings.Join(sections, "\n")+"\n")
	}
	return lines
}
