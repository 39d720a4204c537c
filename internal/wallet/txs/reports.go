package txs

import (
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// Labels is the address book as reports read it.
type Labels interface {
	Label(d book.Destination) *string
	Used(d book.Destination) bool
	Find(d book.Destination) *book.Entry
	Labelled() []*book.Entry
	Paid() []*book.Entry
}

// Descriptors tells of the wallet's own scripts.
type Descriptors interface {
	// Solve tells how to spend a script; nil if that is not known.
	Solve(pkScript []byte) *descriptor.Solution

	// Parents returns the texts of the descriptors that have the script.
	Parents(pkScript []byte) []string

	// OutputType returns the type of address by which coins are listed.
	OutputType(pkScript []byte) walletfile.OutputType
}

// Reports answers what clients ask of a [Ledger]. It changes nothing.
type Reports struct {
	ledger      *Ledger
	net         *descriptor.Network
	flags       *records.Flags
	labels      Labels
	descriptors Descriptors
}

// NewReports returns the reports of a ledger.
func NewReports(l *Ledger, labels Labels, descriptors Descriptors) *Reports {
	return &Reports{ledger: l, net: l.cfg.Network, flags: l.cfg.Flags, labels: labels, descriptors: descriptors}
}

// change reports whether a script is taken for change: it is the wallet's, and
// nobody has given it a label.
func (rs *Reports) change(p *payee) bool { return p.mine && rs.labels.Label(p.dest) == nil }
