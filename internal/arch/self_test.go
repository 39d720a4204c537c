package arch

import (
	"go/parser"
	"go/token"
	"testing"
)

// The rules below find the code that they forbid.
func TestRulesBite(t *testing.T) {
	const source = `package p
import (
	"time"
	asking "github.com/seed61375155/trawl/internal/ask"
)
func f() { time.Sleep(1); asking.Ask(nil, nil, 1); asking.Then(nil); other.Ask() }`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(calls(file, module+"/internal/ask", "Ask", "Control")); n != 1 {
		t.Errorf("%d calls of ask.Ask, want 1", n)
	}
	if n := len(calls(file, "time", "Sleep")); n != 1 {
		t.Errorf("%d calls of time.Sleep, want 1", n)
	}
	for folder, want := range map[string]string{
		".": ".", "actors/chain": "actors/chain", "rpc/method/chainrpc/x": "rpc/method/chainrpc",
		"internal/engine/bitcoin": "internal/engine", "actors": "", "elsewhere": "",
	} {
		if got := room(folder); got != want {
			t.Errorf("%s is in room %q, want %q", folder, got, want)
		}
	}
	for imported, want := range map[string]string{
		"github.com/asynkron/protoactor-go/actor":  "github.com/asynkron/protoactor-go/actor",
		"github.com/asynkron/protoactor-go/router": "github.com/asynkron/protoactor-go",
		"github.com/syndtr/goleveldb/leveldb/opt":  "github.com/syndtr/goleveldb",
		"log/slog": "",
	} {
		if got := longest(imported); got != want {
			t.Errorf("%s falls under %q, want %q", imported, got, want)
		}
	}
}

// Every way to parse a block is seen, and nothing else is taken for one.
func TestBlockParsersAreSeen(t *testing.T) {
	const source = `package p
import (
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"
)
type s struct { b *wire.MsgBlock; tx *wire.MsgTx }
func f(s s, p *wire.MsgBlock, tx *wire.MsgTx) {
	var a wire.MsgBlock
	b := new(wire.MsgBlock)
	c := &wire.MsgBlock{}
	btcutil.NewBlockFromBytes(nil)                   // 1
	a.Deserialize(nil)                               // 2
	b.DeserializeTxLoc(nil)                          // 3
	c.BtcDecode(nil, 0, 0)                           // 4
	p.DeserializeNoWitness(nil)                      // 5
	s.b.Deserialize(nil)                             // 6
	new(wire.MsgBlock).Deserialize(nil)              // 7
	(&wire.MsgBlock{}).Deserialize(nil)              // 8
	tx.Deserialize(nil); s.tx.Deserialize(nil); a.Serialize(nil); p.Header.Deserialize(nil)
}`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(blockParsers(file)); n != 8 {
		t.Errorf("%d places, want 8", n)
	}
}
