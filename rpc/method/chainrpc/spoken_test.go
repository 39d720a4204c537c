package chainrpc_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/chainrpc"
)

// newRigAs is newRig with the words of a version of Bitcoin Core.
func newRigAs(t *testing.T, reference int) *rig {
	t.Helper()
	net, err := dialect.Named("", "regtest", dialect.Choices{Reference: reference})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, "regtest")
	r.net, r.deps.Network = net, net
	r.build()
	return r
}

// keys returns the names of the members of an object, in their order.
func keys(v *jsontree.Value) (list []string) {
	for key := range v.Members() {
		list = append(list, key)
	}
	return list
}

// Core 31 shows what a block's coinbase has besides its outputs, in every form of the block.
func TestCoinbaseIsShown(t *testing.T) {
	for reference, want := range map[int]bool{dialect.Core30: false, dialect.Core32: true} {
		r := newRigAs(t, reference)
		b := r.chain.Mine(chaintest.Template{})
		for _, verbosity := range []string{"1", "2", "3"} {
			shown := parse(t, r.call("getblock", `[`+quoted(b)+`, `+verbosity+`]`))
			all := keys(shown)
			i := slices.Index(all, "coinbase_tx")
			if (i >= 0) != want || want && (all[i-1] != "weight" || all[i+1] != "tx") {
				t.Errorf("%d: members %v", reference, all)
			}
			if want {
				block, err := r.chain.Block(&b.Hash)
				if err != nil {
					t.Fatal(err)
				}
				script := jsontree.Hex(block.Transactions[0].TxIn[0].SignatureScript)
				text, err := jsontree.Append(nil, script)
				if err != nil {
					t.Fatal(err)
				}
				got := shown.Get("coinbase_tx").String()
				if !strings.HasPrefix(got, `{"version":`) || !strings.Contains(got, `"coinbase":`+string(text)) ||
					strings.Contains(got, "witness") {
					t.Errorf("%d: %s", reference, got)
				}
			}
		}
	}
}

// A witness of the coinbase is shown, also where it is empty.
func TestCoinbaseWitness(t *testing.T) {
	for want, witness := range map[string]wire.TxWitness{`"witness":"0102"}`: {{1, 2}}, `"witness":""}`: {{}}} {
		r := newRigAs(t, dialect.Core32)
		b := r.chain.Mine(chaintest.Template{Witness: witness})
		got := parse(t, r.call("getblock", `[`+quoted(b)+`]`)).Get("coinbase_tx").String()
		if !strings.HasSuffix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Core 32 tells the rules of a block's scripts, and has no vote on taproot.
func TestScriptFlagsAreShown(t *testing.T) {
	const flags = `["CHECKLOCKTIMEVERIFY","CHECKSEQUENCEVERIFY","DERSIG","NULLDUMMY","P2SH","TAPROOT","WITNESS"]`
	for reference, want := range map[int][2]string{
		dialect.Core30: {"hash height deployments", "bip34 bip66 bip65 csv segwit testdummy taproot"},
		dialect.Core32: {"hash height script_flags deployments", "bip34 bip66 bip65 csv segwit testdummy"},
	} {
		r := newRigAs(t, reference)
		r.chain.MineN(1)
		got := parse(t, r.call("getdeploymentinfo", `[]`))
		if list := strings.Join(keys(got), " "); list != want[0] {
			t.Errorf("%d: %s", reference, list)
		}
		if list := strings.Join(keys(got.Get("deployments")), " "); list != want[1] {
			t.Errorf("%d: deployments %s", reference, list)
		}
		if shown := got.Get("script_flags"); shown != nil && shown.String() != flags {
			t.Errorf("%d: %s", reference, shown)
		}
	}
	r := newRigAs(t, dialect.Core32) // the first block: most rules begin after it
	if got := parse(t, r.call("getdeploymentinfo", `[]`)).Get("script_flags").String(); got != `["NULLDUMMY","P2SH","TAPROOT","WITNESS"]` {
		t.Errorf("of the first block: %s", got)
	}
}

// While the blocks before a snapshot are validated, Core 32 tells how far that is.
func TestBackgroundValidation(t *testing.T) {
	for reference, want := range map[int]bool{dialect.Core30: false, dialect.Core32: true} {
		r := newRigAs(t, reference)
		first := r.chain.MineN(2)
		base := r.chain.MineN(3)
		if got := r.infoMember("backgroundvalidation"); got != "null" {
			t.Errorf("%d: without a snapshot: %s", reference, got)
		}
		r.chain.SetAssumed(&chainview.Assumed{Base: base, Txs: 6, Validated: first})
		shown := parse(t, r.call("getblockchaininfo", `[]`))
		if !want {
			if shown.Get("backgroundvalidation") != nil {
				t.Errorf("%d: %s", reference, shown)
			}
			continue
		}
		got := shown.Get("backgroundvalidation")
		if list := strings.Join(keys(got), " "); list != "snapshotheight blocks bestblockhash mediantime chainwork verificationprogress" {
			t.Errorf("members %s", list)
		}
		if got.Get("snapshotheight").Text() != "5" || got.Get("blocks").Text() != "2" ||
			got.Get("bestblockhash").Text() != first.Hash.String() || got.Get("verificationprogress").Text() != "0.5" {
			t.Errorf("%s", got)
		}
		all := keys(shown)
		if i := slices.Index(all, "backgroundvalidation"); all[i-1] != "initialblockdownload" || all[i+1] != "chainwork" {
			t.Errorf("members %v", all)
		}
		r.chain.SetAssumed(&chainview.Assumed{Base: base, Txs: 6, Validated: base.Parent})
		if got := parse(t, r.infoMember("backgroundvalidation")).Get("verificationprogress").Text(); got != "0.8333333333333334" {
			t.Errorf("further on: %s", got)
		}
		r.chain.SetAssumed(&chainview.Assumed{Base: base, Txs: 6, Validated: first.Parent}) // taken back
		if got := parse(t, r.infoMember("backgroundvalidation")).Get("verificationprogress").Text(); got != "0.3333333333333333" {
			t.Errorf("taken back: %s", got)
		}
	}
}

// An unspent output takes a byte less in the statistics of later versions.
func TestUnspentOverhead(t *testing.T) {
	for reference, want := range map[int]string{dialect.Core30: "117", dialect.Core32: "116"} {
		r := newRigAs(t, reference)
		if got := parse(t, r.call("getblockstats", `[0, ["utxo_size_inc"]]`)).Get("utxo_size_inc").Text(); got != want {
			t.Errorf("%d: %s", reference, got)
		}
	}
}

// The reader of blocks shows the same as the method.
func TestReaderSpeaks(t *testing.T) {
	for _, reference := range dialect.References() {
		r := newRigAs(t, reference)
		b := r.chain.Mine(chaintest.Template{})
		r.table.Read(command.Readers{ChainReader: chainrpc.Reader(r.deps)})
		for verbosity, details := range map[string]bool{"1": false, "3": true} {
			got, err := r.table.Reader().BlockText(&b.Hash, details)
			if want := r.call("getblock", `[`+quoted(b)+`, `+verbosity+`]`); err != nil || string(got) != want {
				t.Errorf("%d: %s, %v, want %s", reference, got, err, want)
			}
		}
	}
}
