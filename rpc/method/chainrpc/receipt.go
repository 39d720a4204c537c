package chainrpc

import (
	"context"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/receipt"
	"github.com/seed61375155/trawl/internal/search/widen"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// readReceipt reads the options of scanblocks about the receipt.
func (o *scanOrder) readReceipt(options *jsontree.Value) (err error) {
	tell := true
	for key, to := range map[string]*bool{"receipt": &o.receipt, "receipt_descriptors": &tell} {
		if v := options.Get(key); v != nil {
			if *to, err = v.AsBool(); err != nil {
				return err
			}
		}
	}
	o.hide = !tell
	return nil
}

// toldObjects learns which descriptors are looked for. Nil: it does not.
type toldObjects struct {
	objects *jsontree.Value
	list    []toldObject
	object  int // that was visited last
	branch  *descriptor.Descriptor
}

// A toldObject is a descriptor that is looked for.
type toldObject struct {
	receipt.Descriptor

	number int // in the plan of a widening; -1: its range does not widen
}

// told returns what learns the descriptors for a receipt.
func (o *scanOrder) told(objects *jsontree.Value) *toldObjects {
	if !o.receipt || o.hide {
		return nil
	}
	return &toldObjects{objects: objects, object: -1}
}

// add takes an index of an object at which there are scripts. Each range comes from its first index to its last.
func (t *toldObjects) add(object int, branch *descriptor.Descriptor, index uint32) {
	if t == nil || len(t.list) > receipt.MaxDescriptors {
		return
	}
	if object == t.object && branch == t.branch {
		t.list[len(t.list)-1].Last = index
		return
	}
	t.object, t.branch = object, branch
	d := receipt.Descriptor{Text: publicText(t.objects.At(object), branch)}
	if branch != nil && branch.IsRanged() {
		d.Ranged, d.First, d.Last = true, index, index
	}
	t.list = append(t.list, toldObject{d, -1})
}

// widens takes a branch of an object whose range widens.
func (t *toldObjects) widens(object int, branch *descriptor.Descriptor, number int) {
	if t == nil || len(t.list) > receipt.MaxDescriptors {
		return
	}
	d := receipt.Descriptor{Text: publicText(t.objects.At(object), branch), Ranged: true}
	t.list = append(t.list, toldObject{d, number})
}

// descriptors returns the descriptors, with the ranges that widened up to their ends.
func (t *toldObjects) descriptors(plan *widen.Plan) []receipt.Descriptor {
	list := make([]receipt.Descriptor, len(t.list))
	for i := range t.list {
		list[i] = t.list[i].Descriptor
		if number := t.list[i].number; number >= 0 {
			r := plan.Range(number)
			list[i].First, list[i].Last = uint32(r.First), uint32(r.Last)
		}
	}
	return list
}

// publicText returns a text of a scan object from which everyone can derive, if there is one.
func publicText(v *jsontree.Value, branch *descriptor.Descriptor) string {
	if branch != nil && branch.HasPrivateKeys() {
		return publicForm(branch)
	}
	return arg.ShownText(v, branch)
}

// publicForm returns a text of a descriptor without private keys from which everyone can derive, if there is one.
func publicForm(branch *descriptor.Descriptor) string {
	if text, err := descriptor.NormalizedPolicies(branch); err == nil {
		return text
	}
	return branch.String()
}

// receipt makes the receipt of a scan that has completed.
func (s *scan) receipt(
	ctx context.Context, w *widening, query *filters.Query, order *scanOrder, result *scanResult,
) (*receipt.Receipt, error) {
	r := &receipt.Receipt{From: result.From}
	if w.told != nil {
		r.SetDescriptors(w.told.descriptors(&w.rounds.Plan))
	}
	digests, err := w.digests(ctx, query)
	if err != nil {
		return nil, err
	}
	r.SetScriptDigests(digests)
	r.SetFound(result.Blocks)
	if order.activity {
		r.Activity = result.sum
	}
	return r, s.deps.Complete(ctx, r, &order.stop.Hash)
}

// Complete sets in a receipt what the chain says: its beginning, and height, hash and filter header of the last block.
// Descriptors from which not everyone can derive are left out, and the filter header where the node has no index.
func (d *Deps) Complete(ctx context.Context, r *receipt.Receipt, last *chainhash.Hash) error {
	cannot := func(one receipt.Descriptor) bool { //nolint:contextcheck // a single index
		return !arg.Derivable(one.Text, one.First, d.Network.Descriptors())
	}
	if slices.ContainsFunc(r.Descriptors, cannot) {
		r.Descriptors = nil
	}
	reader, err := d.open()
	if err != nil {
		return err
	}
	b, err := lookup(reader, last)
	if err != nil {
		return err
	}
	r.Genesis, r.To, r.Block = b.Ancestor(0).Hash, b.Height, b.Hash
	if d.Index == nil || chainview.FirstFilter(reader) > 0 { // the index begins with a later block
		return nil
	}
	_, header, err := d.Index.filter(ctx, b)
	r.FilterHeader = &header
	return err
}
