package main

import (
	"flag"
	"os"
	"testing"

	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
)

// update writes the manual page anew; go generate gives it.
var update = flag.Bool("update", false, "write the manual page")

func TestManual(t *testing.T) {
	const path = "../../docs/man/trawl-wallet.1"
	want := options.Manual(options.New(table.WalletTool(), "~/.trawl"), table.WalletToolProgram(), options.ManSection{
		Title: "EXIT STATUS",
		Text:  "0 when it was done, and where create finds a wallet in the place of the new one; 1 otherwise.",
	}, options.ManSection{Title: "SEE ALSO", Text: "trawld(1), trawl-cli(1)"})
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not current: run go generate ./cmd/...", path)
	}
}
