package chainrpc

import (
	"context"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/rpc/command"
)

// visitScripts is told the scripts that a branch of a descriptor has at an index.
type visitScripts func(branch *descriptor.Descriptor, index uint32, scripts [][]byte)

// expandObjects reads the scan objects, which are argument 1, and visits all their
// scripts. The error is errAborted once the scan is aborted.
func expandObjects(
	ctx context.Context, d *Deps, h *holder, a *command.Args, net *descriptor.Network, visit visitScripts,
) error {
	objects, err := a.Array(1)
	if err != nil {
		return err
	}
	return d.expansion(h, net, visit).all(ctx, objects)
}
