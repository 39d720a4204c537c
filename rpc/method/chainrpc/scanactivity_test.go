package chainrpc_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
)

// The activity of a scan is the result of getdescriptoractivity for the blocks that the scan
// finds, for scripts and ranges of any kind. The other members are those of a scan that
// looks into the blocks.
func TestScanActivity(t *testing.T) {
	r := newRig(t, "regtest")
	r.simulate()
	random := rand.New(rand.NewPCG(3, 7))
	script := func() []byte { return []byte{byte(0x51 + random.IntN(12))} }
	var unspent []*chainview.Block
	for range 60 {
		template := chaintest.Template{Script: script()}
		for len(unspent) > 0 && random.IntN(2) == 0 {
			tx := r.spend(unspent[0], 1000)
			unspent = unspent[1:]
			tx.TxOut[0].Value /= 2
			tx.TxOut[0].PkScript = script()
			tx.AddTxOut(wire.NewTxOut(tx.TxOut[0].Value, script()))
			template.Txs = append(template.Txs, tx)
		}
		unspent = append(unspent, r.chain.Mine(template))
	}
	total := 0
	for range 100 {
		objects := make([]string, 1+random.IntN(4))
		for i := range objects {
			objects[i] = fmt.Sprintf(`"raw(%x)"`, script())
		}
		list := "[" + strings.Join(objects, ",") + "]"
		from := random.IntN(60)
		ranged := fmt.Sprintf(`["start",%s,%d,%d,"basic",`, list, from, from+random.IntN(61-from))
		call := func(options string) string { return r.call("scanblocks", ranged+options+"]") }
		plain, got := call(`{"filter_false_positives":true}`), call(`{"activity":true}`)
		var found struct {
			Blocks   json.RawMessage `json:"relevant_blocks"`
			Activity json.RawMessage `json:"activity"`
		}
		if err := json.Unmarshal([]byte(got), &found); err != nil {
			t.Fatal(got, err)
		}
		want := r.call("getdescriptoractivity", fmt.Sprintf(`[%s,%s,false]`, found.Blocks, list))
		if `{"activity":`+string(found.Activity)+"}" != want {
			t.Fatalf("got  %s\nwant %s", found.Activity, want)
		}
		if rest := strings.TrimSuffix(got, `,"activity":`+string(found.Activity)+"}") + "}"; rest != plain {
			t.Fatalf("got  %s\nwant %s", rest, plain)
		}
		if no := call(`{"filter_false_positives":true,"activity":false}`); no != plain {
			t.Fatalf("got  %s\nwant %s", no, plain)
		}
		total += strings.Count(string(found.Activity), `"type"`)
	}
	if total < 1000 {
		t.Errorf("only %d entries were compared", total)
	}
	r.check("scanblocks", [][2]string{
		{`["start",[],0,0,"basic",{"activity":1}]`, "-3 JSON value of type number is not of expected type bool"},
		{
			`["start",["raw(6a6a6a)"],0,0,"basic",{"activity":true}]`,
			`{"from_height":0,"to_height":0,"relevant_blocks":[],"completed":true,"activity":[]}`,
		},
	})
}
