package chain

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/jsontree"
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
	var set scriptSet
	err := expandObjects(ctx, aborted, a, s.net, s.deps.Expansions, func(_ *descriptor.Descriptor, _ uint32, scripts [][]byte) {
		set.add(scripts)
	})
	return set.list, err
}

// visitScripts is told the scripts that a branch of a descriptor has at an index.
type visitScripts func(branch *descriptor.Descriptor, index uint32, scripts [][]byte)

// expandObjects reads the scan objects, which are argument 1, and visits all their
// scripts. The error is errAborted once aborted is closed; nil never is.
func expandObjects(
	ctx context.Context, aborted <-chan struct{}, a *command.Args, net *descriptor.Network,
	known *descriptor.Expansions, visit visitScripts,
) error {
	objects, err := a.Array(1)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-aborted:
			cancel(errAborted)
		case <-ctx.Done():
		}
	}()
	for _, v := range objects.Elements() {
		object, err := parseScanObject(v)
		if err == nil {
			err = object.expand(ctx, net, known, visit)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scriptSet holds every script once.
type scriptSet struct {
	list [][]byte
	seen map[string]struct{}
}

func (s *scriptSet) add(scripts [][]byte) {
	if s.seen == nil {
		s.seen = make(map[string]struct{})
	}
	for _, script := range scripts {
		if _, ok := s.seen[string(script)]; !ok {
			s.seen[string(script)] = struct{}{}
			s.list = append(s.list, script)
		}
	}
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

// expand visits the scripts of every branch of the descriptor. Ranges of
// descriptors that have none are ignored.
func (o scanObject) expand(
	ctx context.Context, net *descriptor.Network, known *descriptor.Expansions, visit visitScripts,
) error {
	branches, err := descriptor.Parse(o.text, net, descriptor.Options{})
	for i := 0; err == nil && i < len(branches); i++ {
		err = branches[i].CheckAllowed("Scan object") //nolint:contextcheck // one index
	}
	if err != nil {
		return command.Error{Code: command.InvalidAddressOrKey, Message: err.Error()}
	}
	for _, branch := range branches {
		err := known.ExpandRange(ctx, branch, o.first, o.last, cores.Count(),
			func(index uint32, scripts [][]byte) error {
				visit(branch, index, scripts)
				return nil
			})
		if err != nil {
			return command.Errorf(command.InvalidAddressOrKey,
				"Cannot derive script without private keys: '%s'", o.text)
		}
	}
	return nil
}
