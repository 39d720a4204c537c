package txs

import (
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/book"
)

// payee is an output script that a transaction of the wallet pays to.
type payee struct {
	number   int // its place in the list of payees
	pkScript []byte
	dest     book.Destination
	mine     bool // it is the wallet's
	outs     []*output
}

// payees are the scripts that transactions of the wallet pay to.
type payees struct {
	net      *descriptor.Network
	owner    Owner
	book     Book
	byScript map[string]*payee
	list     []*payee // the first is nil: nobody has the number 0
}

func newPayees(cfg Config) payees {
	return payees{
		net: cfg.Network, owner: cfg.Owner, book: cfg.Book,
		byScript: make(map[string]*payee), list: []*payee{nil},
	}
}

// of returns what is known of an output script, which is noted from now on.
func (x *payees) of(pkScript []byte) *payee {
	p := x.byScript[string(pkScript)]
	if p == nil {
		p = &payee{
			number: len(x.list), pkScript: pkScript,
			dest: book.DestinationOf(x.net, pkScript), mine: x.owner.IsMine(pkScript),
		}
		x.byScript[string(pkScript)] = p
		x.list = append(x.list, p)
	}
	return p
}

// notePaid tells the address book of an own script that was paid to.
func (x *payees) notePaid(p *payee) {
	if p.mine && len(p.outs) > 0 {
		x.book.MarkPaid(p.dest, p.number)
	}
}

// Owned notes that a script has become the wallet's. Earlier payments to the
// script count from now on.
func (l *Ledger) Owned(pkScript []byte) {
	p := l.payees.byScript[string(pkScript)]
	if p == nil {
		return
	}
	p.mine = true
	for _, out := range p.outs {
		l.refresh(out)
	}
	l.payees.notePaid(p)
}

// PaysTo reports whether a transaction of the wallet pays to a script.
func (l *Ledger) PaysTo(pkScript []byte) bool {
	p := l.payees.byScript[string(pkScript)]
	return p != nil && len(p.outs) > 0
}
