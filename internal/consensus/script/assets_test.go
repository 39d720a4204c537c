package script

import (
	"testing"

	"github.com/btcsuite/btcd/wire"
)

type assetSpend struct {
	ScriptSig string
	Witness   []string
}

type asset struct {
	Tx               string
	Prevouts         []string
	Index            int
	Flags, Comment   string
	Success, Failure *assetSpend
	Final            bool
}

func (a *asset) spend(t *testing.T, with *assetSpend) *Spend {
	t.Helper()
	tx := parseTx(t, a.Tx)
	tx.TxIn[a.Index].SignatureScript = unhex(t, with.ScriptSig)
	tx.TxIn[a.Index].Witness = nil
	for _, item := range with.Witness {
		tx.TxIn[a.Index].Witness = append(tx.TxIn[a.Index].Witness, unhex(t, item))
	}
	var spent []*wire.TxOut
	for _, text := range a.Prevouts {
		b := unhex(t, text)
		script := b[9:]
		if b[8] == 0xfd {
			script = b[11:]
		}
		spent = append(spent, wire.NewTxOut(int64(le32(b))|int64(le32(b[4:]))<<32, script))
	}
	return NewSpend(tx, spent)
}

// Spends that Core's feature_taproot made and judged: a right one is right by all
// subsets of its rules, final ones by all rules of consensus; a wrong one is wrong
// by all supersets.
func TestAssets(t *testing.T) {
	var all []asset
	read(t, "script_assets", &all)
	every := uint64(64)
	if soak() {
		every = 1
	}
	verdicts := 0
	for n := range all {
		a := &all[n]
		flags := parseFlags(t, a.Flags)
		if a.Success != nil {
			s := a.spend(t, a.Success)
			most := flags
			if a.Final {
				most = Mandatory
			}
			subsets(most, every, func(flags Flags) {
				if flags&Taproot != 0 && flags&Witness == 0 {
					return
				}
				verdicts++
				if err := s.VerifyInput(a.Index, flags); err != nil {
					t.Errorf("%d %s with %b: %v", n, a.Comment, flags, err)
				}
			})
		}
		if a.Failure != nil {
			s := a.spend(t, a.Failure)
			subsets(Mandatory&^flags, every, func(more Flags) {
				verdicts++
				if s.VerifyInput(a.Index, flags|more) == nil {
					t.Errorf("%d %s with %b: no error", n, a.Comment, flags|more)
				}
			})
		}
	}
	t.Log(verdicts, "verdicts")
	if len(all) < 2804 {
		t.Errorf("only %d cases", len(all))
	}
}
