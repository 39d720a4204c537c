package arch

import (
	"go/parser"
	"go/token"
	"testing"
)

// The rules below see what they are to forbid.
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
		".": ".", "actors/chain": "actors/chain", "rpc/method/chain/x": "rpc/method/chain",
		"internal/engine/bitcoin": "internal/engine", "actors": "", "elsewhere": "",
	} {
		if got := room(folder); got != want {
			t.Errorf("%s is in room %q, want %q", folder, got, want)
		}
	}
	for imported, want := range map[string]string{
		"github.com/asynkron/protoactor-go/actor":  "github.com/asynkron/protoactor-go/actor",
		"github.com/asynkron/protoactor-go/remote": "github.com/asynkron/protoactor-go",
		"github.com/syndtr/goleveldb/leveldb/opt":  "github.com/syndtr/goleveldb",
		"log/slog": "",
	} {
		if got := longest(imported); got != want {
			t.Errorf("%s falls under %q, want %q", imported, got, want)
		}
	}
}
