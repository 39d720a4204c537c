package corepool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/messages"
)

// A reply about spenders has to have each output. A node with an index of spenders may have them in another order, and
// spends in the chain.
func TestSpenders(t *testing.T) {
	by, block := strings.Repeat("0c", 32), strings.Repeat("0d", 32)
	outs := []wire.OutPoint{{Hash: chainhash.Hash{1}, Index: 4}, {Hash: chainhash.Hash{2}}}
	out := func(i int, more string) string {
		return fmt.Sprintf(`{"txid":"%v","vout":%d%s}`, outs[i].Hash, outs[i].Index, more)
	}
	spent := `,"spendingtxid":"` + by + `"`
	for _, c := range []struct {
		name, text string
		err        error
		want       error
	}{
		{"one of two", `[` + out(0, "") + `,` + out(1, spent) + `]`, nil, nil},
		{"in another order", `[` + out(1, spent) + `,` + out(0, "") + `]`, nil, nil},
		{"one in the chain", `[` + out(1, spent) + `,` + out(0, spent+`,"blockhash":"`+block+`"`) + `]`, nil, nil},
		{"too few", `[` + out(0, "") + `]`, nil, corenode.ErrReply},
		{"too many", `[` + out(0, "") + `,` + out(1, "") + `,` + out(1, "") + `]`, nil, corenode.ErrReply},
		{"one twice", `[` + out(0, "") + `,` + out(0, "") + `]`, nil, corenode.ErrReply},
		{"others", `[{},{}]`, nil, corenode.ErrReply},
		{"away", "", fmt.Errorf("%w: refused", corenode.ErrAway), messages.ErrNodeAway},
	} {
		n := &script{text: map[string][]string{"gettxspendingprevout": {c.text}}, errs: map[string]error{}}
		if c.err != nil {
			n.errs["gettxspendingprevout"] = c.err
		}
		got, err := spenders(t.Context(), n, outs)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if err == nil && (len(got) != 2 || got[0] != nil || got[1] == nil || got[1].String() != by) {
			t.Errorf("%s: %v", c.name, got)
		}
		asked, _ := json.Marshal(n.params)
		want := fmt.Sprintf(`[[{"txid":"%v","vout":4},{"txid":"%v","vout":0}]]`, outs[0].Hash, outs[1].Hash)
		if string(asked) != want {
			t.Errorf("%s: asked %s, want %s", c.name, asked, want)
		}
	}
	n := &script{}
	if got, err := spenders(t.Context(), n, nil); got != nil || err != nil || len(n.called) != 0 {
		t.Errorf("of nothing: %v, %v, called %v", got, err, n.called)
	}
}

// lagging is a node whose index of spenders is behind.
type lagging struct {
	script
	refusals []error // of one call after the other
}

func (n *lagging) Call(ctx context.Context, to any, method string, params ...any) error {
	if len(n.refusals) > 0 {
		err := n.refusals[0]
		n.called, n.refusals = append(n.called, method), n.refusals[1:]
		return err
	}
	return n.script.Call(ctx, to, method, params...)
}

// Where the index of the other node is behind, its pool alone is asked for; any other refusal stays.
func TestSpendersBesideLaggingIndex(t *testing.T) {
	behind := &corenode.Error{
		Code: -1, Message: "Mempool lacks a relevant spend, and txospenderindex is unavailable.",
	}
	other := &corenode.Error{Code: -1, Message: "IO error finding spending tx for outpoint 00:0."}
	outs := []wire.OutPoint{{Hash: chainhash.Hash{1}, Index: 4}}
	text := fmt.Sprintf(`[{"txid":"%v","vout":4}]`, outs[0].Hash)
	for _, c := range []struct {
		refusals []error
		calls    int
		want     error
	}{{[]error{behind}, 2, nil}, {[]error{behind, other}, 2, other}, {[]error{other}, 1, other}} {
		n := &lagging{script: script{text: map[string][]string{"gettxspendingprevout": {text}}}, refusals: c.refusals}
		got, err := spenders(t.Context(), n, outs)
		if !errors.Is(err, c.want) || len(n.called) != c.calls || err == nil && len(got) != 1 {
			t.Errorf("%v: %v, %v after %d calls", c.refusals, got, err, len(n.called))
		}
		asked, _ := json.Marshal(n.params)
		if c.want == nil && !strings.HasSuffix(string(asked), `,{"mempool_only":true}]`) {
			t.Errorf("%v: asked %s", c.refusals, asked)
		}
	}
}
