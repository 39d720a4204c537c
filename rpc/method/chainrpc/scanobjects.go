package chainrpc

import (
	"context"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// scripts returns the query for the output scripts of scan objects. told learns which
// descriptors these are, where it is not nil. The error is errAborted once the scan is aborted.
func (s *scan) scripts(
	ctx context.Context, h *holder, objects *jsontree.Value, told *toldObjects,
) (*filters.Query, error) {
	query := filters.NewQueryBuilder(objects.Len())
	x := s.deps.expansion(h, s.net, nil)
	x.visit = func(branch *descriptor.Descriptor, index uint32, scripts [][]byte) {
		told.add(x.object, branch, index)
		for _, script := range scripts {
			query.Add(script)
		}
	}
	x.scriptsOnly = true
	if err := x.all(ctx, objects); err != nil {
		return nil, err
	}
	return query.Query(), nil
}

// visitScripts is told the scripts that a branch of a descriptor has at an index.
type visitScripts func(branch *descriptor.Descriptor, index uint32, scripts [][]byte)

// expandObjects reads the scan objects, which are argument 1, and visits all their
// scripts. The error is errAborted once the scan is aborted.
func (d *Deps) expandObjects(
	ctx context.Context, h *holder, a *command.Args, net *descriptor.Network, visit visitScripts,
) error {
	objects, err := a.Array(1)
	if err != nil {
		return err
	}
	return d.expansion(h, net, visit).all(ctx, objects)
}
