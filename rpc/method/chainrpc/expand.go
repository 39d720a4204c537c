package chainrpc

import (
	"context"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/jsontree"
)

// Expand reads scan objects as scanblocks does, and visits their scripts: of the object at a
// place, those that a branch of its descriptor has at an index. The branch is nil for raw scripts
// and addresses. A gap was looked at when the first script of its object is visited, and changes nothing. The errors
// are the same as with scanblocks.
func (d *Deps) Expand(ctx context.Context, objects *jsontree.Value,
	visit func(object int, branch *descriptor.Descriptor, index uint32, scripts [][]byte),
) error {
	x := d.expansion(new(holder), d.Network.Descriptors(), nil)
	x.scriptsOnly = true
	x.widens = func(*parsed) bool { return false } // the caller reads gaps
	x.visit = func(branch *descriptor.Descriptor, index uint32, scripts [][]byte) {
		visit(x.object, branch, index, scripts)
	}
	return x.all(ctx, objects)
}

// Height returns the height of the active chain, -1 where there is none yet.
func (d *Deps) Height() int32 {
	active, err := d.active()
	if err != nil {
		return -1
	}
	return active.Height()
}
