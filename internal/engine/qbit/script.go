package qbit

import (
	"sync"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/p2mr/vm"
)

// Flags implements chainstate.Scripts: the rules of scripts that are older than P2MR,
// of which only regtests without restriction have any.
func (r *rules) Flags(at *chainview.Block) script.Flags {
	return script.P2SH | script.Witness | script.Taproot | script.ReservedNOP4 | r.net.ScriptFlags(at.Height)
}

// Repeats implements chainstate.Scripts.
func (r *rules) Repeats(at *chainview.Block) (forbidden, possible bool) {
	forbidden = at.Height >= r.BIP30
	return forbidden, forbidden
}

// Spend implements chainstate.Scripts.
func (r *rules) Spend(tx *wire.MsgTx, spent []*wire.TxOut, at *chainview.Block) chainstate.Spend {
	return &spending{
		tx: tx, spent: spent,
		legacyScript: script.NewSpend(tx, spent),
		hasher:       sync.OnceValues(func() (*p2mr.SigHasher, error) { return p2mr.NewSigHasher(tx, spent) }),
		native:       at.Height >= r.Spends,
		known:        r.Signatures,
		rules: vm.Rules{
			WeightV1:    at.Height < r.WeightV2,
			NoCheckLock: !r.net.Active("bip65", at.Height),
			NoCheckSeq:  !r.net.Active("csv", at.Height),
		},
	}
}

// spending implements chainstate.Spend.
type spending struct {
	tx    *wire.MsgTx
	spent []*wire.TxOut

	legacyScript *script.Spend // for outputs that are not P2MR
	hasher       func() (*p2mr.SigHasher, error)
	native       bool           // P2MR scripts are executed
	known        *vm.Signatures // that need not be verified again
	rules        vm.Rules
}

// VerifyInput implements chainstate.Spend.
func (s *spending) VerifyInput(i int, flags script.Flags) error {
	root, ok := p2mr.ParseOutputScript(s.spent[i].PkScript)
	if !ok || !s.native || len(s.tx.TxIn[i].SignatureScript) > 0 { // which runs first, and is refused at last
		return s.legacyScript.VerifyInput(i, flags)
	}
	hasher, err := s.hasher()
	if err != nil {
		return err
	}
	in := vm.Spend{Tx: s.tx, Input: i, Program: root, Hasher: hasher, Rules: s.rules, Known: s.known}
	return in.Verify()
}
