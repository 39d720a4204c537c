package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/rpc/command"
)

// -core says which version of Bitcoin Core the node speaks as; others are refused, and any by a dialect that is not
// Bitcoin's.
func TestReference(t *testing.T) {
	const unknown = "Invalid value for -core: '%'. It is 30 or 32."
	for _, test := range []struct {
		args string
		want int
		err  string
	}{
		{"", 0, ""},
		{"-core=30", 30, ""},
		{"-core=32", 32, ""},
		{"-core=32 -core=30", 30, ""},
		{"-core=31", 0, strings.Replace(unknown, "%", "31", 1)},
		{"-core=32.0", 0, strings.Replace(unknown, "%", "32.0", 1)},
		{"-core=", 0, strings.Replace(unknown, "%", "", 1)},
		{"-core=30 -dialect=qbit", 0, "-core is for the networks of Bitcoin: a node of the dialect qbit speaks as qbit does."},
		{"-core=32 -vbparams=taproot:1:2", 32, "Invalid deployment (taproot)"},
		{"-core=30 -vbparams=taproot:1:2", 30, ""},
	} {
		got := 0
		read := func(_ context.Context, s *session) (err error) {
			if got, err = reference(s.settings); err == nil {
				_, err = regtestConfig(s.settings)
			}
			return err
		}
		want := test.err
		if want != "" {
			want = "Error: " + want + "\n"
		}
		if _, stderr, _ := startWith(t, read, strings.Fields(test.args)...); got != test.want || stderr != want {
			t.Errorf("%s: %d, %q, want %d, %q", test.args, got, stderr, test.want, want)
		}
	}
	for args, want := range map[string]string{
		"-core":   "Can not set -core with no value. Please specify value with -core=value.",
		"-nocore": "Negating of -core is meaningless and therefore forbidden",
	} {
		var errs strings.Builder
		if status := run([]string{args, "-datadir=" + t.TempDir()}, streams{&errs, &errs, ""}, nil); status != 1 ||
			!strings.Contains(errs.String(), want) {
			t.Errorf("%s: %d, %s", args, status, &errs)
		}
	}
}

// Options that Core 32 does not have are refused on the command line and passed over in files.
func TestRetiredOptions(t *testing.T) {
	for _, test := range []struct {
		file, args string
		refused    bool
		warned     string
	}{
		{"", "-core=30 -maxorphantx=5", false, "Option '-maxorphantx' is set but no longer has any effect"},
		{"", "-core=32 -maxorphantx=5", true, ""},
		{"", "-core=32 -nomaxorphantx", true, ""},
		{"", "-core=32 -wallet=w -paytxfee=0.0002", true, ""},
		{"core=32\nmaxorphantx=5", "", false, "Ignoring unknown configuration value maxorphantx"},
		{"core=32\n[regtest]\npaytxfee=5", "", false, "Ignoring unknown configuration value regtest.paytxfee"},
		{"core=32\n[main]\npaytxfee=5", "", false, "Ignoring unknown configuration value main.paytxfee"},
		{"core=32", "-maxorphantx=5", true, ""},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "trawl.conf"), []byte(test.file), 0o600); err != nil {
			t.Fatal(err)
		}
		var errs, out strings.Builder
		args := strings.Fields(test.args)
		status := run(append(args, "-datadir="+dir, "-regtest", "-printtoconsole"), streams{&out, &errs, dir},
			func(_ context.Context, s *session) error { _, err := nodeConfig(s, fileBudget{}); return err })
		if test.refused {
			want := "Error: Error parsing command line arguments: Invalid parameter " + args[len(args)-1] + "\n"
			if status != 1 || errs.String() != want {
				t.Errorf("%q, %s: %d, %q, want %q", test.file, test.args, status, &errs, want)
			}
			continue
		}
		if status != 0 || !strings.Contains(out.String(), test.warned) {
			t.Errorf("%q, %s: %d, %q, without %q", test.file, test.args, status, &errs, test.warned)
		}
	}
}

// A reply of Core 30 has no member that a reply of Core 32 lacks, but for members marked as gone. Core 32 has none
// besides but for those marked as new. The same holds for the methods.
func TestRepliesOfReferences(t *testing.T) {
	old, later := paths(servedTable(t).Declared().Speak(30)), paths(servedTable(t).Declared().Speak(32))
	all := paths(servedTable(t).Declared())
	for path, r := range all {
		_, in30 := old[path]
		_, in32 := later[path]
		if in30 != (r.Since <= 30) || in32 != (r.Until == 0 || r.Until > 32) {
			t.Errorf("%s: of versions %d to %d: in 30 %v, in 32 %v", path, r.Since, r.Until, in30, in32)
		}
		if !in30 && !in32 {
			t.Errorf("%s: of no version", path)
		}
	}
	var added, gone []string
	for path := range all {
		if _, there := old[path]; !there {
			added = append(added, path)
		}
		if _, there := later[path]; !there {
			gone = append(gone, path)
		}
	}
	for _, path := range []string{
		"getblock:1.coinbase_tx", "getblock:1.coinbase_tx.witness", "getdeploymentinfo:0.script_flags",
		"getblockchaininfo:0.backgroundvalidation", "getpeerinfo:0[].inv_to_send", "getbalances:0.mine.nonmempool",
		"gettransaction:0.decoded.vout[].ischange",
	} {
		if !slices.Contains(added, path) {
			t.Errorf("%s is not new", path)
		}
	}
	for _, path := range []string{
		"settxfee", "getwalletinfo:0.paytxfee", "getpeerinfo:0[].startingheight", "getmempoolinfo:0.fullrbf",
		"getrawmempool:1[].bip125-replaceable", "getmempoolentry:0.bip125-replaceable",
		"listsinceblock:0.transactions[].bip125-replaceable", "gettransaction:0.bip125-replaceable",
	} {
		if !slices.Contains(gone, path) {
			t.Errorf("%s is not gone", path)
		}
	}
}

// paths returns the methods of a table, and the members of their results, with the versions that have them and all
// that they stand in.
func paths(table *command.Table) map[string]command.Result {
	found := make(map[string]command.Result)
	for _, c := range table.Commands() {
		all := command.Result{Until: c.Until}
		found[c.Name] = all
		for i := range c.Results {
			add(found, c.Name+":"+strconv.Itoa(i), &c.Results[i], all)
		}
	}
	return found
}

func add(found map[string]command.Result, at string, r *command.Result, outer command.Result) {
	for i := range r.Inner {
		inner, path := r.Inner[i], at
		switch {
		case inner.Type == command.Elision:
			continue
		case r.Type == command.Object:
			path += "." + inner.Key
		default:
			path += "[]"
		}
		within := command.Result{Since: max(outer.Since, inner.Since), Until: max(outer.Until, inner.Until)}
		found[path] = within
		add(found, path, &inner, within)
	}
}
