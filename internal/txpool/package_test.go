package txpool_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
)

// restricted makes a transaction one of BIP431's, which alone may pay nothing.
func restricted(tx *wire.MsgTx) *wire.MsgTx {
	tx.Version = 3
	return tx
}

// joined spends outputs of transactions that are not in the pool yet.
func (r *rig) joined(fee int64, parents ...*wire.MsgTx) *wire.MsgTx {
	tx := r.spending(fee, parents[0], 0)
	for _, parent := range parents[1:] {
		more := r.spending(0, parent, 0)
		tx.AddTxIn(more.TxIn[0])
		tx.TxOut[0].Value += more.TxOut[0].Value
	}
	return tx
}

func (r *rig) submit(rate txpool.FeeRate, txs ...*wire.MsgTx) messages.PackageResult {
	return r.pool.Submit(txs, r.coins, r.now, rate)
}

// said is what a package and each of its transactions were refused for.
func said(got messages.PackageResult) string {
	var parts []string
	if got.Failed != nil {
		parts = append(parts, got.Failed.Error())
		if got.Policy {
			parts[0] += " (package)"
		}
	}
	for i, r := range got.Results {
		switch {
		case r.Rejected != nil:
			parts = append(parts, fmt.Sprintf("%d %v", i, r.Rejected))
		case r.InPool:
			parts = append(parts, fmt.Sprintf("%d is there", i))
		case r.Known:
			parts = append(parts, fmt.Sprintf("%d pays %d", i, r.Fee))
		}
	}
	return strings.Join(parts, "; ")
}

// Where it is the network's way, a child pays for a parent of any version that pays less than the least rate, or
// nothing. A parent by itself may be looked at again with a child.
func TestZeroFeeParents(t *testing.T) {
	kind := map[bool]messages.TxRejectKind{false: messages.TxPolicy, true: messages.TxReconsiderable}
	for _, mended := range []bool{false, true} {
		for _, fee := range []int64{0, 9} {
			r := newRig(t)
			r.rules.ZeroFeeParents = mended
			r.pool = txpool.New(r.rules, txpool.DefaultPolicy())
			parent := r.tx(fee, 1, r.coin())
			alone := r.accept(parent)
			if alone == nil || alone.Kind != kind[mended] || alone.Reason != "min relay fee not met" {
				t.Errorf("%v: a parent that pays %d: %+v", mended, fee, alone)
			}
			poor, rich := r.spending(19-fee, parent, 0), r.spending(20-fee, parent, 0)
			if got := r.submit(txpool.FeeRate{}, parent, poor); got.Failed == nil || r.pool.Len() != 0 {
				t.Errorf("%v: a child that does not pay for %d: %s", mended, fee, said(got))
			}
			want := fmt.Sprintf("transaction failed; 0 min relay fee not met, %d < 10; 1 bad-txns-inputs-missingorspent", fee)
			if mended {
				want = fmt.Sprintf("0 pays %d; 1 pays %d", fee, 20-fee)
			}
			if got := said(r.submit(txpool.FeeRate{}, parent, rich)); got != want {
				t.Errorf("%v: a child that pays for %d: %s, want %s", mended, fee, got, want)
			}
			tried := r.pool.Try([]*wire.MsgTx{r.tx(fee, 1, r.coin())}, r.coins, r.now)
			if tried.Failed == nil || tried.Failed.Kind != kind[mended] {
				t.Errorf("%v: tried by itself: %s", mended, said(tried))
			}
		}
	}
}

// The outcomes of packages, in Core's words.
func TestPackages(t *testing.T) {
	failing := func(r *rig, tx *wire.MsgTx) *wire.MsgTx {
		r.fails[tx.TxHash()] = scriptFailure("no")
		return tx
	}
	for _, test := range []struct {
		what string
		txs  func(r *rig) []*wire.MsgTx
		want string
	}{
		{"one that is good", func(r *rig) []*wire.MsgTx {
			return []*wire.MsgTx{r.tx(1000, 1, r.coin())}
		}, "0 pays 1000"},
		{
			"one that pays too little", func(r *rig) []*wire.MsgTx { return []*wire.MsgTx{r.tx(9, 1, r.coin())} },
			"transaction failed; 0 min relay fee not met, 9 < 10",
		},
		{"one whose inputs are missing", func(r *rig) []*wire.MsgTx {
			return []*wire.MsgTx{r.spending(1000, r.tx(0, 1, r.coin()), 0)}
		}, "transaction failed; 0 bad-txns-inputs-missingorspent"},
		{"each good by itself", func(r *rig) []*wire.MsgTx {
			parent := r.tx(1000, 1, r.coin())
			return []*wire.MsgTx{parent, r.spending(2000, parent, 0)}
		}, "0 pays 1000; 1 pays 2000"},
		{"unrelated", func(r *rig) []*wire.MsgTx {
			return []*wire.MsgTx{r.tx(1000, 1, r.coin()), r.tx(1000, 1, r.coin())}
		}, "package-not-child-with-parents (package)"},
		{"a parent of one parent alone", func(r *rig) []*wire.MsgTx {
			first, second := r.tx(1000, 1, r.coin()), r.tx(1000, 1, r.coin())
			return []*wire.MsgTx{first, second, r.spending(1000, second, 0)}
		}, "package-not-child-with-parents (package)"},
		{"two parents", func(r *rig) []*wire.MsgTx {
			first, second := r.tx(1000, 1, r.coin()), r.tx(2000, 1, r.coin())
			return []*wire.MsgTx{first, second, r.joined(3000, first, second)}
		}, "0 pays 1000; 1 pays 2000; 2 pays 3000"},
		{"twice the same", func(r *rig) []*wire.MsgTx {
			tx := r.tx(1000, 1, r.coin())
			return []*wire.MsgTx{tx, tx}
		}, "package-contains-duplicates (package)"},
		{"the child first", func(r *rig) []*wire.MsgTx {
			parent := r.tx(1000, 1, r.coin())
			return []*wire.MsgTx{r.spending(2000, parent, 0), parent}
		}, "package-not-sorted (package)"},
		{"two that spend the same", func(r *rig) []*wire.MsgTx {
			coin := r.coin()
			parent, child := r.tx(1000, 1, coin), r.tx(1000, 1, coin)
			child.AddTxIn(r.spending(0, parent, 0).TxIn[0])
			return []*wire.MsgTx{parent, child}
		}, "conflict-in-package (package)"},
		{"one without inputs", func(r *rig) []*wire.MsgTx {
			tx := r.tx(1000, 1, r.coin())
			tx.TxIn = nil
			return []*wire.MsgTx{tx}
		}, "conflict-in-package (package)"},
		{"a child that spends one coin twice", func(r *rig) []*wire.MsgTx {
			tx := r.tx(1000, 1, r.coin())
			tx.AddTxIn(tx.TxIn[0])
			return []*wire.MsgTx{tx}
		}, "transaction failed; 0 bad-txns-inputs-duplicate"},
		{"a child that pays for both", func(r *rig) []*wire.MsgTx {
			parent := restricted(r.tx(0, 1, r.coin()))
			return []*wire.MsgTx{parent, restricted(r.spending(20, parent, 0))}
		}, "0 pays 0; 1 pays 20"},
		{"a child that does not pay for both", func(r *rig) []*wire.MsgTx {
			parent := restricted(r.tx(0, 1, r.coin()))
			return []*wire.MsgTx{parent, restricted(r.spending(19, parent, 0))}
		}, "transaction failed; 0 min relay fee not met, 0 < 10; 1 min relay fee not met, 19 < 20"},
		{"a parent that cannot be mended", func(r *rig) []*wire.MsgTx {
			parent := r.tx(9, 1, r.coin())
			return []*wire.MsgTx{parent, r.spending(2000, parent, 0)}
		}, "transaction failed; 0 min relay fee not met, 9 < 10; 1 bad-txns-inputs-missingorspent"},
		{"a parent whose scripts fail", func(r *rig) []*wire.MsgTx {
			parent := failing(r, r.tx(1000, 1, r.coin()))
			return []*wire.MsgTx{parent, r.spending(2000, parent, 0)}
		}, "transaction failed; 0 mempool-script-verify-flag-failed (no), input 0; 1 bad-txns-inputs-missingorspent"},
		{"a child whose scripts fail", func(r *rig) []*wire.MsgTx {
			parent := r.tx(1000, 1, r.coin())
			return []*wire.MsgTx{parent, failing(r, r.spending(2000, parent, 0))}
		}, "transaction failed; 0 pays 1000; 1 mempool-script-verify-flag-failed (no), input 0"},
		{"a child whose scripts fail, and that pays", func(r *rig) []*wire.MsgTx {
			parent := restricted(r.tx(0, 1, r.coin()))
			return []*wire.MsgTx{parent, failing(r, restricted(r.spending(2000, parent, 0)))}
		}, "transaction failed; 0 min relay fee not met, 0 < 10; " +
			"1 mempool-script-verify-flag-failed (no), input 0"},
		{"a parent that is there", func(r *rig) []*wire.MsgTx {
			parent := r.must(r.tx(1000, 1, r.coin()))
			return []*wire.MsgTx{parent, r.spending(2000, parent, 0)}
		}, "0 is there; 1 pays 2000"},
		{"a parent that is there with another witness", func(r *rig) []*wire.MsgTx {
			parent := r.must(r.tx(1000, 1, r.coin()))
			other := parent.Copy()
			other.TxIn[0].Witness = wire.TxWitness{{0x52}}
			return []*wire.MsgTx{other, r.spending(2000, parent, 0)}
		}, "0 is there; 1 pays 2000"},
		{"a child that is refused, of a parent that is there", func(r *rig) []*wire.MsgTx {
			parent := r.must(r.tx(1000, 1, r.coin()))
			return []*wire.MsgTx{parent, restricted(r.spending(9, parent, 0))}
		}, "transaction failed; 0 is there; 1 min relay fee not met, 9 < 10"},
		{"one parent that pays nothing, and one that is good", func(r *rig) []*wire.MsgTx {
			first := restricted(r.tx(1000, 1, r.coin()))
			second := restricted(r.tx(0, 1, r.coin()))
			return []*wire.MsgTx{first, second, restricted(r.joined(2000, first, second))}
		}, "TRUC-violation, tx 2 would have too many ancestors (package); 0 pays 1000; " +
			"1 min relay fee not met, 0 < 10; 2 bad-txns-inputs-missingorspent"},
		{"a child with a coin that is missing", func(r *rig) []*wire.MsgTx {
			parent := r.tx(1000, 1, r.coin())
			child := r.spending(1000, parent, 0)
			child.AddTxIn(r.spending(0, r.tx(0, 1, r.coin()), 0).TxIn[0])
			return []*wire.MsgTx{parent, child}
		}, "transaction failed; 0 pays 1000; 1 bad-txns-inputs-missingorspent"},
		{"a child that does not spend the dust", func(r *rig) []*wire.MsgTx {
			parent := restricted(r.tx(0, 1, r.coin()))
			parent.TxOut = append(parent.TxOut, wire.NewTxOut(0, anyone))
			return []*wire.MsgTx{parent, restricted(r.spending(2000, parent, 0))}
		}, "unspent-dust; 0 min relay fee not met, 0 < 14; " +
			"1 missing-ephemeral-spends, tx 1 did not spend parent's ephemeral dust"},
		{"a child that spends the dust", func(r *rig) []*wire.MsgTx {
			parent := restricted(r.tx(0, 1, r.coin()))
			parent.TxOut = append(parent.TxOut, wire.NewTxOut(0, anyone))
			child := restricted(r.spending(2000, parent, 0))
			child.AddTxIn(r.spending(0, parent, 1).TxIn[0])
			return []*wire.MsgTx{parent, child}
		}, "0 pays 0; 1 pays 2000"},
		{"an output that the parent does not have", func(r *rig) []*wire.MsgTx {
			parent := restricted(r.tx(0, 1, r.coin()))
			child := restricted(r.spending(2000, parent, 0))
			child.TxIn[0].PreviousOutPoint.Index = 1
			return []*wire.MsgTx{parent, child}
		}, "transaction failed; 0 min relay fee not met, 0 < 10; 1 bad-txns-inputs-missingorspent"},
	} {
		t.Run(test.what, func(t *testing.T) {
			r := newRig(t)
			txs := test.txs(r)
			got := said(r.submit(txpool.FeeRate{}, txs...))
			for i, tx := range txs {
				id, wid := tx.TxHash(), tx.WitnessHash()
				got = strings.ReplaceAll(got, fmt.Sprintf("%v (wtxid=%v)", id, wid), strconv.Itoa(i))
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if err := r.pool.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A package is refused whose transactions pay more than the caller wants, by themselves
// or together.
func TestPackageRate(t *testing.T) {
	for _, pays := range []int64{0, 1000} {
		for _, more := range []int64{0, 1} {
			r := newRig(t)
			parent := restricted(r.tx(pays, 1, r.coin()))
			child := restricted(r.spending(9600+more, parent, 0)) // of 96 virtual bytes
			got := r.submit(txpool.PerKvB(100_000), parent, child)
			want := fmt.Sprintf("0 pays %d; 1 pays 9600", pays)
			switch {
			case more > 0 && pays > 0:
				want = "transaction failed; 0 pays 1000; 1 max feerate exceeded"
			case more > 0:
				want = "transaction failed; 0 min relay fee not met, 0 < 10; 1 max feerate exceeded"
			}
			if said(got) != want {
				t.Errorf("%d more: got %s, want %s", more, said(got), want)
			}
		}
	}
}

// The results of a package that is taken in together have its common fee rate and the
// replaced transactions.
func TestPackageResults(t *testing.T) {
	r := newRig(t)
	coin := r.coin()
	old := r.must(r.tx(1000, 1, coin))
	parent := r.tx(500, 1, coin)
	child := r.spending(1500, parent, 0)
	got := r.submit(txpool.FeeRate{}, parent, child)
	wids, replaced := []chainhash.Hash{parent.WitnessHash(), child.WitnessHash()}, []chainhash.Hash{old.TxHash()}
	for i, want := range []messages.TxResult{
		{Known: true, VSize: 96, Fee: 500, Rate: 2000 * 1000 / 192, RateOf: wids, Replaced: replaced},
		{Known: true, VSize: 96, Fee: 1500, Rate: 2000 * 1000 / 192, RateOf: wids},
	} {
		if fmt.Sprintf("%+v", got.Results[i]) != fmt.Sprintf("%+v", want) {
			t.Errorf("%d: got  %+v\nwant %+v", i, got.Results[i], want)
		}
	}
	r.holds("package", parent, child)
	again := r.submit(txpool.FeeRate{}, parent, child)
	if a := again.Results[0]; a.VSize != 96 || a.Fee != 500 || a.OtherWitness != nil {
		t.Errorf("again: %+v", again)
	}
	other := child.Copy()
	other.TxIn[0].Witness = wire.TxWitness{{0x52}}
	if a := r.submit(txpool.FeeRate{}, parent, other).Results[1]; !a.InPool || a.OtherWitness == nil ||
		*a.OtherWitness != child.WitnessHash() {
		t.Errorf("with another witness: %+v", a)
	}
}

// Together a package must pay a better rate than its parent does.
func TestPackageAtTheRateOfItsParent(t *testing.T) {
	for more, want := range map[int64]string{
		0: "package RBF failed: package feerate is less than or equal to parent feerate, " +
			"package feerate 0.00010416 BTC/kvB <= parent feerate is 0.00010416 BTC/kvB",
		1: "",
	} {
		r := newRig(t)
		coin := r.coin()
		old := r.tx(1000, 1, coin)
		old.TxIn[0].Witness = wire.TxWitness{{0x52}}
		r.must(old)
		parent := r.tx(1000, 1, coin)
		parent.TxOut[0].PkScript = append([]byte{0x00, 0x20, 1}, make([]byte, 31)...)
		got := r.submit(txpool.FeeRate{}, parent, r.spending(1000+more, parent, 0))
		text := ""
		if got.Failed != nil {
			text = got.Failed.Error()
		}
		if text != want {
			t.Errorf("%d more: got %q, want %q", more, text, want)
		}
	}
}

// Trying a package looks at all of its transactions by themselves, and changes nothing.
func TestTryPackage(t *testing.T) {
	r := newRig(t)
	coin := r.coin()
	parent := r.tx(1000, 1, coin)
	child := r.spending(2000, parent, 0)
	failing := r.spending(2000, child, 0)
	r.fails[failing.TxHash()] = scriptFailure("no")
	try := func(txs ...*wire.MsgTx) messages.PackageResult {
		got := r.pool.Try(txs, r.coins, r.now)
		r.holds("tried")
		return got
	}
	got := try(parent, child)
	if said(got) != "0 pays 1000; 1 pays 2000" || len(got.Results[1].RateOf) != 1 ||
		got.Results[1].RateOf[0] != child.WitnessHash() || got.Results[1].Rate != 2000*1000/96 {
		t.Errorf("got %+v", got)
	}
	got = try(parent, child, failing)
	if want := "transaction failed; 0 pays 1000; 1 pays 2000; " +
		"2 mempool-script-verify-flag-failed (no), input 0"; said(got) != want {
		t.Errorf("got %s, want %s", said(got), want)
	}
	if got := said(try(r.tx(9, 1, coin))); got != "min relay fee not met, 9 < 10; 0 min relay fee not met, 9 < 10" {
		t.Errorf("alone: %s", got)
	}
	if got := said(try(r.tx(9, 1, coin), child)); got != "transaction failed; 0 min relay fee not met, 9 < 10" {
		t.Errorf("with a bad parent: %s", got)
	}
	r.must(r.tx(1000, 1, coin))
	got = r.pool.Try([]*wire.MsgTx{r.tx(5000, 1, coin), r.tx(1000, 1, r.coin())}, r.coins, r.now)
	if said(got) != "transaction failed; 0 bip125-replacement-disallowed" {
		t.Errorf("a replacement: %s", said(got))
	}
	if got := r.pool.Try([]*wire.MsgTx{r.tx(5000, 1, coin)}, r.coins, r.now); got.Failed != nil ||
		len(got.Results[0].Replaced) != 1 {
		t.Errorf("a replacement alone: %+v", got)
	}
}
