package main

import (
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
	"github.com/seed61375155/trawl/rpc/command"
)

// manuals are the manual pages of the daemon, its client and its configuration file.
func manuals(methods *command.Table) map[string]string {
	daemon := options.New(table.Daemon(), "~/.trawl")
	client := options.New(table.CLI(), "~/.trawl")
	return map[string]string{
		"../../docs/man/trawld.1": options.Manual(daemon, table.DaemonProgram(), daemonSections...),
		"../../docs/man/trawl-cli.1": options.Manual(client, table.CLIProgram(), methodSection(methods),
			options.ManSection{Title: "EXIT STATUS", Text: "0 when the call was answered, the code of the error otherwise, " +
				"without its sign; 1 when there was no answer."},
			options.ManSection{Title: "SEE ALSO", Text: "trawld(1), trawl-load(1), trawl.conf(5)"}),
		"../../docs/man/trawl.conf.5": options.ConfigManual(daemon, "trawl.conf", "configuration of trawld and trawl-cli", configSections...),
	}
}

var daemonSections = []options.ManSection{
	{
		Title: "EXIT STATUS",
		Text:  "0 after a stop that was asked for, 1 after an error, which is on the standard error stream.",
	},
	{Title: "FILES", Text: "All files are below the data directory, those of other networks than the main one in a folder " +
		"of the network's name.", Terms: []options.Term{
		{Word: "~/.trawl", Text: "the data directory, unless -datadir names another"},
		{Word: "trawl.conf", Text: "the configuration, trawl.conf(5); without it bitcoin.conf"},
		{Word: ".cookie", Text: "user and password of this run, for trawl-cli, readable by the owner alone"},
		{Word: "debug.log", Text: "the log"},
	}},
	{Title: "SIGNALS", Terms: []options.Term{
		{Word: "SIGINT, SIGTERM", Text: "stop"},
		{Word: "SIGHUP", Text: "open the log file anew, and read the configuration again: logins, whitelists, log " +
			"categories, certificate"},
	}},
	{Title: "ENVIRONMENT", Terms: []options.Term{
		{Word: "NOTIFY_SOCKET, WATCHDOG_USEC", Text: "set by a service manager such as systemd, sd_notify(3): it is told " +
			"when calls are answered, when the node stops, and, as long as the chain answers, that it lives"},
	}},
	{Title: "SEE ALSO", Text: "trawl-cli(1), trawl-load(1), trawl.conf(5)"},
}

var configSections = []options.ManSection{
	{
		Title: "DESCRIPTION",
		Text: `trawl.conf has an option a line, as a name, an equals sign and a value. What follows a # is a comment. The
options are those of the command line without their dash; the command line counts before the file. It is looked for
in the data directory, unless -conf names another.

Below a line with a network's name in brackets are the options of that network alone:

  server=1
  [regtest]
  rpcport=18443

The networks are main, test, testnet4, signet and regtest. Options that are about one network only, such as ports,
count above the first section for the main network alone.

includeconf=<file> reads another file as well, which names no others.`,
	},
}

// methodSection lists the methods by category.
func methodSection(methods *command.Table) options.ManSection {
	s := options.ManSection{Title: "METHODS", Text: `"trawl-cli help <method>" describes a method whole.`}
	for _, c := range methods.Commands() {
		if c.Category != command.Hidden {
			s.Terms = append(s.Terms, options.Term{Word: c.Usage(), Text: firstSentence(c.Summary)})
		}
	}
	return s
}

func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}

// Nothing in a manual page is taken for a request or an escape by mistake.
func TestManualsAreSound(t *testing.T) {
	for path, text := range manuals(servedTable(t)) {
		for n, line := range strings.Split(text, "\n") {
			request := strings.HasPrefix(line, ".") && len(line) > 2 && strings.Contains(
				` SH TH SS TP PP br nf fi B \" `, " "+strings.Fields(line[1:])[0]+" ")
			if strings.HasPrefix(line, ".") && !request || strings.HasPrefix(line, "'") {
				t.Errorf("%s:%d: %s", path, n+1, line)
			}
		}
	}
}
