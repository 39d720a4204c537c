package match_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/match"
)

// On the recorded chain, which spends outputs of every kind, nothing is spent that
// neither shows itself nor counts as hidden.
func TestNothingIsMissed(t *testing.T) {
	e, err := enginetest.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	shown, spent := map[match.SpendClass]int{}, map[match.SpendClass]int{}
	for _, raw := range enginetest.Blocks(t, enginetest.Chain)[1:] {
		if err := e.Accept(raw); err != nil {
			t.Fatal(err)
		}
		var block wire.MsgBlock
		if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
			t.Fatal(err)
		}
		evidence := match.EvidenceOf(&block)
		hash := block.BlockHash()
		scripts, err := e.Reader().SpentScripts(&hash)
		if err != nil {
			t.Fatal(err)
		}
		for _, script := range scripts {
			class := match.SpendClassOf(script)
			spent[class]++
			if slices.ContainsFunc(evidence.Scripts, func(s []byte) bool { return bytes.Equal(s, script) }) {
				shown[class]++
			} else if !evidence.Hides(class) {
				t.Errorf("block %v spends %x, and does not show it", hash, script)
			}
		}
	}
	if shown[match.ByHash] != spent[match.ByHash] || spent[match.ByHash] == 0 {
		t.Errorf("%d of %d scripts by hash were shown", shown[match.ByHash], spent[match.ByHash])
	}
	if shown[match.Taproot] == 0 || spent[match.Taproot] == shown[match.Taproot] || spent[match.Bare] == 0 {
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
			_ = match.EvidenceOf(&block)
		}
	})
}
