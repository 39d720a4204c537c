package spends_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/spends"
)

// On the recorded chain, which spends outputs of every kind, nothing is spent that
// neither shows itself nor counts as hidden.
func TestNothingIsMissed(t *testing.T) {
	e, err := enginetest.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	shown, spent := map[spends.Class]int{}, map[spends.Class]int{}
	for _, raw := range enginetest.Blocks(t, enginetest.Chain)[1:] {
		if err := e.Accept(raw); err != nil {
			t.Fatal(err)
		}
		var block wire.MsgBlock
		if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
			t.Fatal(err)
		}
		evidence := spends.Of(&block)
		hash := block.BlockHash()
		scripts, err := e.Reader().SpentScripts(&hash)
		if err != nil {
			t.Fatal(err)
		}
		for _, script := range scripts {
			class := spends.ClassOf(script)
			spent[class]++
			if slices.ContainsFunc(evidence.Scripts, func(s []byte) bool { return bytes.Equal(s, script) }) {
				shown[class]++
			} else if !evidence.Hides(class) {
				t.Errorf("block %v spends %x, and does not show it", hash, script)
			}
		}
	}
	if shown[spends.ByHash] != spent[spends.ByHash] || spent[spends.ByHash] == 0 {
		t.Errorf("%d of %d scripts by hash were shown", shown[spends.ByHash], spent[spends.ByHash])
	}
	if shown[spends.Taproot] == 0 || spent[spends.Taproot] == shown[spends.Taproot] || spent[spends.Bare] == 0 {
		t.Errorf("the chain does not spend all kinds: %v of %v", shown, spent)
	}
}

func FuzzOf(f *testing.F) {
	for _, raw := range enginetest.Blocks(f, enginetest.Chain)[300:304] {
		f.Add(raw)
	}
	f.Fuzz(func(_ *testing.T, raw []byte) {
		var block wire.MsgBlock
		if block.Deserialize(bytes.NewReader(raw)) == nil {
			_ = spends.Of(&block)
		}
	})
}
