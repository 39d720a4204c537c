package script

import (
	"runtime"
	"sync"
	"sync/atomic"
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

// judge checks the verdicts on a case and returns how many there are. A right spend
// is right by all subsets of its rules; a final spend is right by all subsets of
// the rules of consensus. A wrong spend is wrong by all supersets of its rules.
func (a *asset) judge(t *testing.T, every uint64) (verdicts int) {
	t.Helper()
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
				t.Errorf("%s with %b: %v", a.Comment, flags, err)
			}
		})
	}
	if a.Failure != nil {
		s := a.spend(t, a.Failure)
		subsets(Mandatory&^flags, every, func(more Flags) {
			verdicts++
			if s.VerifyInput(a.Index, flags|more) == nil {
				t.Errorf("%s with %b: no error", a.Comment, flags|more)
			}
		})
	}
	return verdicts
}

// Spends that Core's feature_taproot made and judged.
func TestAssets(t *testing.T) {
	var all []asset
	read(t, "script_assets", &all)
	every := uint64(256)
	if soak() {
		every = 1
	}
	var next, verdicts atomic.Int64
	var judges sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		judges.Go(func() {
			for n := next.Add(1) - 1; n < int64(len(all)); n = next.Add(1) - 1 {
				verdicts.Add(int64(all[n].judge(t, every)))
			}
		})
	}
	judges.Wait()
	t.Log(verdicts.Load(), "verdicts")
	if len(all) < 2804 {
		t.Errorf("only %d cases", len(all))
	}
}
