package main

import (
	"context"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/version"
	"github.com/seed61375155/trawl/rpc/command"
)

// update writes the files anew; go generate gives it.
var update = flag.Bool("update", false, "write the generated files")

// The files that say which methods there are, to people, to programs and to the
// client, all come from the table that the daemon serves.
func TestGenerated(t *testing.T) {
	table := servedTable(t).Declared()
	if err := table.Check(); err != nil {
		t.Error(err)
	}
	files := manuals(table)
	files["../../docs/rpc.md"] = docsIntroduction + table.Markdown()
	files["../../docs/openrpc.json"] = openRPC(t, table)
	files["../trawl-cli/methods.txt"] = methodNames(table)
	for path, want := range files {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		} else if string(got) != want {
			t.Errorf("%s is not current: run go generate ./cmd/trawld", path)
		}
	}
}

const docsIntroduction = `# Methods of the JSON-RPC interface

This page is made from the table that the daemon reads arguments with: ` + "`go generate ./cmd/trawld`" + `
writes it, a test keeps it current. The same texts come from the method ` + "`help`" + `;
[openrpc.json](openrpc.json) and the method ` + "`getopenrpcinfo`" + ` have them for programs.
`

// servedTable returns the methods of a node.
func servedTable(t *testing.T) *command.Table {
	t.Helper()
	node, err := trawl.Open(t.Context(), trawl.Config{
		Dir: t.TempDir(), Chain: "regtest", Reference: 30, BlockFilterIndex: true,
		Wallets: &trawl.WalletConfig{LoadNone: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := node.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	table, err := node.Methods(trawl.Host{Log: new(corelog.Filter)})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func openRPC(t *testing.T, table *command.Table) string {
	t.Helper()
	text, err := jsontree.Append(nil, table.OpenRPC("Trawl", version.Number, true))
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsontree.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return document.Indent(2) + "\n"
}

// methodNames has a line for each method: its name and those of its parameters.
func methodNames(table *command.Table) string {
	var b strings.Builder
	for _, c := range table.Commands() {
		if c.Category != command.Hidden {
			b.WriteString(strings.Join(append([]string{c.Name}, c.Names()...), " ") + "\n")
		}
	}
	return b.String()
}
