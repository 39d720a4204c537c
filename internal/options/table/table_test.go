package table_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
)

// testdata/core-30.2.txt lists the names that Core's daemon accepts.
func TestDaemonAcceptsWhatCoreAccepts(t *testing.T) {
	list, err := os.ReadFile("testdata/core-30.2.txt")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, o := range table.Daemon() {
		have[o.Name] = true
	}
	for name := range strings.FieldsSeq(string(list)) {
		if !have[name] {
			t.Errorf("-%s is missing", name)
		}
	}
}

func TestTablesAreSound(t *testing.T) {
	for name, rows := range map[string][]options.Option{"daemon": table.Daemon(), "cli": table.CLI()} {
		t.Run(name, func(t *testing.T) {
			seen := map[string]bool{}
			for _, o := range rows {
				if seen[o.Name] {
					t.Errorf("-%s is there twice", o.Name)
				}
				seen[o.Name] = true
				if o.Name != strings.ToLower(o.Name) || strings.ContainsAny(o.Name, "=. ") {
					t.Errorf("-%s is no name", o.Name)
				}
				if o.Help == "" && o.Flags&options.Hidden == 0 {
					t.Errorf("-%s has no help", o.Name)
				}
			}
		})
	}
}

// A secret that is logged cannot be taken back.
func TestSecretsAreMarked(t *testing.T) {
	secrets := []string{"rpcauth", "rpcpassword", "rpcuser", "torpassword"}
	for _, o := range table.Daemon() {
		if want, got := slices.Contains(secrets, o.Name), o.Flags&options.Sensitive != 0; got != want {
			t.Errorf("-%s: sensitive is %v, want %v", o.Name, got, want)
		}
	}
}
