package chainstate_test

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
)

// P2SH, witnesses and taproot hold for all blocks but three, the other rules from
// their heights on.
func TestScriptRules(t *testing.T) {
	hashOf := func(text string) chainhash.Hash {
		hash, err := chainhash.NewHashFromStr(text)
		must(t, err)
		return *hash
	}
	const always = script.P2SH | script.Witness | script.Taproot
	for _, test := range []struct {
		chain, hash string
		height      int32
		want        script.Flags
	}{
		{"main", "01", 1, always},
		{"main", "01", 363724, always},
		{"main", "01", 363725, always | script.DERSig},
		{"main", "01", 388381, always | script.DERSig | script.CheckLockTimeVerify},
		{"main", "01", 419328, always | script.DERSig | script.CheckLockTimeVerify | script.CheckSequenceVerify},
		{"main", "01", 481824, script.Mandatory},
		{"main", "00000000000002dc756eebf4f49723ed8d30cc28a5f108eb94b1ba88ac4f9c22", 170060, 0},
		{"main", "0000000000000000000f14c35b2d841e986ab5441de8c585d5ffe55ea1e395ad", 692261, script.Mandatory &^ script.Taproot},
		{"test", "00000000dd30457c001f4095d208cc1296b0eed002427aa599874af7a432b105", 514, 0},
		{"test", "01", 514, always},
		{"regtest", "01", 1, script.Mandatory},
	} {
		e := open(t, t.TempDir(), network(t, test.chain))
		if got := chainstate.ScriptFlags(
			e, &chainview.Block{Hash: hashOf(test.hash), Height: test.height},
		); got != test.want {
			t.Errorf("%s, block %s at height %d: %b, want %b", test.chain, test.hash, test.height, got, test.want)
		}
		must(t, e.Close())
	}
}

// Scripts of ancestors of the assumed-valid block are not executed where the chain of
// headers goes on for two weeks, and only there.
func TestAssumeValid(t *testing.T) {
	chain := genesis(t).chainOn(101)
	bad := chain[100].on([]*wire.MsgTx{neverSpent(chain[0].txs[0])})
	after := append([]*made{bad}, bad.chainOn(2017)...)
	for _, test := range []struct {
		name    string
		headers int // that are known, of the bad block and those after it
		assumed bool
		want    string
	}{
		{"two weeks and more", 2018, true, ""},
		{"two weeks", 2017, true, "block-script-verify-flag-failed (OP_RETURN was encountered)"},
		{"assumed by nobody", 2018, false, "block-script-verify-flag-failed (OP_RETURN was encountered)"},
	} {
		net := network(t, "regtest")
		if test.assumed {
			net.AssumeValid = bad.hash
		}
		e := open(t, t.TempDir(), net)
		var headers [][]byte
		for _, b := range append(append([]*made{}, chain...), after[:test.headers]...) {
			headers = append(headers, b.raw[:80])
		}
		_, _, err := e.AcceptHeaders(headers)
		must(t, err)
		for _, b := range chain {
			must(t, e.Accept(b.raw))
		}
		wantSubmit(t, e, test.name, bad, test.want)
		if test.want == "" {
			wantSubmit(t, e, test.name+", the next", after[1], "")
		}
		must(t, e.Close())
	}
}

// neverSpent spends with a script that fails.
func neverSpent(tx *wire.MsgTx) *wire.MsgTx {
	out := spending(tx, trueScript, 1000)
	out.TxIn[0].SignatureScript = []byte{0x6a}
	return out
}
