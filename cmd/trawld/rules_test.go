package main

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61375155/trawl"
)

// The words about wrong rules are Core's.
func TestRulesAreRefused(t *testing.T) {
	const (
		height = " for -testactivationheight=name@height."
		form   = "Version bits parameters malformed, expecting deployment:start:end[:min_activation_height]"
	)
	for _, test := range []struct{ option, want string }{
		{"-testactivationheight", "Invalid format ()" + height},
		{"-testactivationheight=segwit", "Invalid format (segwit)" + height},
		{"-testactivationheight=segwit@", "Invalid height value (segwit@)" + height},
		{"-testactivationheight=segwit@-1", "Invalid height value (segwit@-1)" + height},
		{"-testactivationheight=segwit@+1", "Invalid height value (segwit@+1)" + height},
		{"-testactivationheight=segwit@ 1", "Invalid height value (segwit@ 1)" + height},
		{"-testactivationheight=segwit@2147483647", "Invalid height value (segwit@2147483647)" + height},
		{"-testactivationheight=segwit@2147483648", "Invalid height value (segwit@2147483648)" + height},
		{"-testactivationheight=bip66@1", "Invalid name (bip66@1)" + height},
		{"-testactivationheight=cadence@1", "Invalid name (cadence@1)" + height},
		{"-testactivationheight=@1", "Invalid name (@1)" + height},
		{"-vbparams", form},
		{"-vbparams=taproot:1", form},
		{"-vbparams=a:1:2:3:4", form},
		{"-vbparams=a:1:2", "Invalid deployment (a)"},
		{"-vbparams=segwit:1:2", "Invalid deployment (segwit)"},
		{"-vbparams=taproot: 1:2", "Invalid nStartTime ( 1)"},
		{"-vbparams=taproot:99999999999999999999:2", "Invalid nStartTime (99999999999999999999)"},
		{"-vbparams=taproot:1:", "Invalid nTimeout ()"},
		{"-vbparams=taproot:1:2:", "Invalid min_activation_height ()"},
		{"-vbparams=taproot:1:2:z", "Invalid min_activation_height (z)"},
	} {
		status, stderr, _ := startWith(t, startNode, test.option)
		if status != 1 || stderr != "Error: "+test.want+"\n" {
			t.Errorf("%s: status %d, %q", test.option, status, stderr)
		}
	}
}

// Only one way to find targets may be chosen. Other dialects and chains ignore the
// options.
func TestWaysOfTargets(t *testing.T) {
	const both = "-asert and -legacyretarget cannot both be enabled."
	for _, test := range []struct {
		options string
		want    string
	}{
		{"-dialect=qbit -asert -legacyretarget", both},
		{"-dialect=qbit -legacyretarget -asert -testactivationheight=x@1", both},
		{"-dialect=qbit -legacyretarget -asert=0", ""},
		{"-dialect=qbit -nolegacyretarget -asert", ""},
		{"-asert -legacyretarget", ""},
	} {
		read := func(_ context.Context, s *session) error {
			_, err := regtestConfig(s.settings)
			return err
		}
		want := test.want
		if want != "" {
			want = "Error: " + want + "\n"
		}
		if _, stderr, _ := startWith(t, read, strings.Fields(test.options)...); stderr != want {
			t.Errorf("%s: %q, want %q", test.options, stderr, want)
		}
	}
}

// The node gets the rules that the options give; the last option about a rule
// counts. Other chains get none.
func TestRulesAreRead(t *testing.T) {
	var got trawl.RegtestConfig
	read := func(_ context.Context, s *session) (err error) {
		got, err = regtestConfig(s.settings)
		return err
	}
	options := []string{
		"-core=30",
		"-testactivationheight=segwit@3", "-testactivationheight=segwit@433", "-testactivationheight=dersig@0",
		"-vbparams=testdummy:-1:-5:9", "-vbparams=taproot:-2:9223372036854775807",
	}
	if status, stderr, _ := startWith(t, read, options...); status != 0 {
		t.Fatal(stderr)
	}
	want := trawl.RegtestConfig{
		Activation: map[string]int32{"segwit": 433, "dersig": 0},
		VersionBits: map[string]trawl.VersionBitsRules{
			"testdummy": {Start: -1, Timeout: -5, MinActivationHeight: 9}, "taproot": {Start: -2, Timeout: 1<<63 - 1},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	dir := t.TempDir()
	var out, errs bytes.Buffer
	status := run([]string{"-datadir=" + dir, "-signet", "-vbparams=x"}, streams{&out, &errs, dir}, read)
	if status != 0 || got.VersionBits != nil {
		t.Errorf("on another chain: %+v, %s", got, &errs)
	}
}
