package chain

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/scriptset"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// defaultRangeEnd is the last index derived when no range is given.
const defaultRangeEnd = 1000

// errAborted is why a preparation ends that was aborted.
var errAborted = errors.New("scan was aborted")

// scripts returns the different output scripts of the scan objects, which are
// argument 1. The error is errAborted once aborted is closed.
func (s *scan) scripts(ctx context.Context, aborted <-chan struct{}, a *command.Args) ([][]byte, error) {
	objects, err := a.Array(1)
	if err != nil {
		return nil, err
	}
	set := scriptset.New(objects.Len())
	x := s.deps.expansion(aborted, s.net, func(_ *descriptor.Descriptor, _ uint32, scripts [][]byte) {
		for _, script := range scripts {
			set.Add(script)
		}
	})
	x.scriptsOnly = true
	err = x.all(ctx, objects)
	return set.List(), err
}

// visitScripts is told the scripts that a branch of a descriptor has at an index.
type visitScripts func(branch *descriptor.Descriptor, index uint32, scripts [][]byte)

// expandObjects reads the scan objects, which are argument 1, and visits all their
// scripts. The error is errAborted once aborted is closed; nil never is.
func (d *Deps) expandObjects(
	ctx context.Context, aborted <-chan struct{}, a *command.Args, net *descriptor.Network, visit visitScripts,
) error {
	objects, err := a.Array(1)
	if err != nil {
		return err
	}
	return d.expansion(aborted, net, visit).all(ctx, objects)
}

// scanObject is one descriptor with the indices to derive of it.
type scanObject struct {
	text        string
	first, last uint32
}

// parseScanObject reads a descriptor alone, or in an object with a range.
func parseScanObject(v *jsontree.Value) (scanObject, error) {
	o := scanObject{last: defaultRangeEnd}
	if v.Kind() == jsontree.String {
		o.text = v.Text()
		return o, nil
	}
	if v.Kind() != jsontree.Object {
		return o, command.Error{
			Code: command.InvalidParameter, Message: "Scan object needs to be either a string or an object",
		}
	}
	desc := v.Get("desc")
	if desc.IsNull() {
		return o, command.Error{
			Code: command.InvalidParameter, Message: "Descriptor needs to be provided in scan object",
		}
	}
	var err error
	if o.text, err = desc.AsString(); err != nil {
		return o, err
	}
	if indices := v.Get("range"); !indices.IsNull() {
		o.first, o.last, err = arg.Range(indices)
	}
	return o, err
}
