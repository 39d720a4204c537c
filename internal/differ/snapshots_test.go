package differ_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/differ"
)

// TestSnapshots has both nodes look at files of unspent outputs that neither takes.
func TestSnapshots(t *testing.T) {
	p := differ.Start(t, differ.Config{})
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	if err := p.Core.Call(t.Context(), nil, "dumptxoutset", good, "latest"); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	base, err := chainhash.NewHashFromStr("7cc695046fec709f8c9394b6f928f81e81fd3ac20977bb68760fa1faa7916ea2")
	if err != nil {
		t.Fatal(err)
	}
	change := func(at int, to ...byte) []byte {
		b := append(append([]byte(nil), content...), make([]byte, 64)...)
		copy(b[at:], to)
		return b[:max(len(content), at+len(to))]
	}
	for name, bytes := range map[string][]byte{
		"good": content, "empty": nil, "magic": change(0, 'x'), "cut": content[:3], "version 0": change(5, 0),
		"version 1": change(5, 1), "version 3": change(5, 3), "version 770": change(6, 3), "cut version": content[:6],
		"main": change(7, 0xf9, 0xbe, 0xb4, 0xd9), "test": change(7, 0x0b, 0x11, 0x09, 0x07),
		"testnet4": change(7, 0x1c, 0x16, 0x3f, 0x28), "signet": change(7, 0x0a, 0x03, 0xcf, 0x40),
		"none": change(7, 0, 0, 0, 0), "cut network": content[:9], "cut block": content[:30], "cut count": content[:48],
		"299": change(11, base[:]...),
	} {
		path := filepath.Join(dir, "file "+name)
		if err := os.WriteFile(path, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		p.Send(differ.Call{Method: "loadtxoutset", Params: []any{path}})
	}
	p.Send(differ.Call{Method: "loadtxoutset", Params: []any{filepath.Join(dir, "no such file")}})
	p.Send(differ.Call{Method: "loadtxoutset", Params: []any{dir}})
	p.Alive()
}
