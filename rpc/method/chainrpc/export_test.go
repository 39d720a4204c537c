package chainrpc

import (
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/receipt"
	"github.com/seed61375155/trawl/messages"
)

// Reporting returns how the holder of a slot reports to send.
func Reporting(send func(percent int)) func(done float64) {
	return newHolder(nil, func(percent int, _ messages.ScanStage) { send(percent) }).report
}

// ScanObjectsOf returns the descriptors of a receipt as scan objects.
func (d *Deps) ScanObjectsOf(r *receipt.Receipt) (*jsontree.Value, error) {
	return (&scan{deps: d}).scanObjectsOf(r)
}
