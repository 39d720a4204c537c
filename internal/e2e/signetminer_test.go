package e2e_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
)

// Bitcoin Core's signet miner makes blocks through a node: from getblocktemplate it makes a
// packet to be signed by walletprocesspsbt, and of the answer a block for submitblock. The
// record is of the commands genpsbt and solvepsbt of contrib/signet/miner of Core 30.2, beside
// a bitcoind with the key of a challenge. The time of the template was set to a fixed time.
func TestSignetMiner(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/signetminer.json")
	if err != nil {
		t.Fatal(err)
	}
	var record struct {
		Challenge, Key, Packet, Signed, Block, Hash string

		Template map[string]json.RawMessage // the fields that the miner takes over
	}
	if err := json.Unmarshal(content, &record); err != nil {
		t.Fatal(err)
	}
	d := e2e.Start(t, e2e.Config{Chain: "signet", Args: []string{
		core30, "-signetchallenge=" + record.Challenge,
	}})
	d.Get(nil, "createwallet", "miner")
	d.Get(nil, "importdescriptors", []any{map[string]any{"desc": record.Key, "timestamp": 0}})

	var template map[string]json.RawMessage
	d.Get(&template, "getblocktemplate", map[string]any{"rules": []string{"segwit", "signet"}})
	if len(record.Template) < 8 {
		t.Errorf("the record has %d fields of the template", len(record.Template))
	}
	for field, want := range record.Template {
		if got := string(template[field]); got != compacted(t, want) {
			t.Errorf("%s of the template is %s, Core's %s", field, got, want)
		}
	}
	var signed struct {
		PSBT     string
		Complete bool
	}
	d.Get(&signed, "walletprocesspsbt", record.Packet, true, "ALL")
	if signed.PSBT != record.Signed || !signed.Complete {
		t.Errorf("signed: %+v, Core's %s", signed, record.Signed)
	}
	var refused, best string
	d.Get(&refused, "submitblock", record.Block)
	d.Get(&best, "getbestblockhash")
	if refused != "" || best != record.Hash {
		t.Errorf("the block is refused for %q, the tip is %s, want %s", refused, best, record.Hash)
	}
	d.Stop()
}

// compacted is JSON without blanks.
func compacted(t *testing.T, text []byte) string {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	compact, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(compact)
}
