package txs

import "github.com/btcsuite/btcd/wire"

// use notes the own scripts that transactions pay to as used. Further scripts become
// the wallet's by this. If the transactions pay to these as well, in whichever order
// they stand, these are used, too, until there is nothing new. A caller that takes
// the transactions in afterwards then finds what a wallet finds that has had all
// these scripts before.
func use(l *Ledger, transactions []*wire.MsgTx) {
	owner := l.cfg.Owner
	known := len(owner.Scripts())
	used := false
	eachOutput(transactions, func(pkScript []byte) {
		if owner.IsMine(pkScript) {
			owner.Used(pkScript)
			used = true
		}
	})
	for all := owner.Scripts(); len(all) > known; all = owner.Scripts() {
		fresh := make(map[string]bool, len(all)-known)
		for _, pkScript := range all[known:] {
			fresh[string(pkScript)] = true
			if l.PaysTo(pkScript) { // a transaction that was taken in before
				owner.Used(pkScript)
			}
		}
		known = len(all)
		eachOutput(transactions, func(pkScript []byte) {
			if fresh[string(pkScript)] {
				owner.Used(pkScript)
			}
		})
	}
	if used {
		l.reach = known
	}
}

func eachOutput(transactions []*wire.MsgTx, visit func(pkScript []byte)) {
	for _, t := range transactions {
		for _, out := range t.TxOut {
			visit(out.PkScript)
		}
	}
}

// OutputsTo returns the outputs of the wallet's transactions that pay to scripts.
func OutputsTo(l *Ledger, pkScripts [][]byte) map[wire.OutPoint]bool {
	found := make(map[wire.OutPoint]bool)
	for _, pkScript := range pkScripts {
		if p := l.payees.byScript[string(pkScript)]; p != nil {
			for _, out := range p.outs {
				found[out.point()] = true
			}
		}
	}
	return found
}

// Reach returns how many scripts the wallet had when it was last paid to, those that
// became its own by that included.
func Reach(l *Ledger) int { return l.reach }
