package chainrpc

import (
	"context"
	"runtime"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

const (
	// roundObjects is how many scan objects are parsed, on all cores, before the
	// first of them is expanded: it bounds the memory.
	roundObjects = 4096

	// shareObjects is how many of them a core takes at a time.
	shareObjects = 64
)

// An expansion visits the scripts of scan objects, one object after the other.
// The objects are parsed ahead, on all cores.
type expansion struct {
	holder      *holder
	net         *descriptor.Network
	known       *descriptor.Expansions
	spread      cores.Start // nil: the go statement
	visit       visitScripts
	scriptsOnly bool // visit asks for no branch: it may be nil

	// widens takes over an object with a gap, and reports whether it does. Nil: no object may have gap or annotations.
	widens func(*parsed) bool

	object  int // place of the object that is visited
	objects int // their number
}

func (d *Deps) expansion(h *holder, net *descriptor.Network, visit visitScripts) *expansion {
	return &expansion{holder: h, net: net, known: d.Expansions, spread: d.Spread, visit: visit}
}

// parsed is a scan object that was read. Its error counts when its turn comes.
type parsed struct {
	arg.ScanObject

	gap      int32     // 0: none
	script   [1][]byte // its only one; nil: see branches
	branches []*descriptor.Descriptor
	err      error
}

// all visits the scripts of all objects, up to the first error.
func (x *expansion) all(ctx context.Context, objects *jsontree.Value) error {
	x.objects = objects.Len()
	list := make([]parsed, min(objects.Len(), roundObjects))
	for from := 0; from < objects.Len(); from += len(list) {
		list = list[:min(len(list), objects.Len()-from)]
		x.parseAll(ctx, objects, from, list)
		for i := range list {
			x.object = from + i
			err := x.expand(ctx, &list[i])
			if ended := x.holder.ended(ctx); ended != nil {
				return ended
			}
			if err != nil {
				return err
			}
			x.report(1)
		}
	}
	return nil
}

// reportScripts is how many indices are visited from one report to the next.
const reportScripts = 1024

// report tells how far all objects are, from how much of the visited one is done.
func (x *expansion) report(done float64) {
	x.holder.report((float64(x.object) + done) / float64(x.objects))
}

// parseAll parses the objects from a place on into list.
func (x *expansion) parseAll(ctx context.Context, objects *jsontree.Value, from int, list []parsed) {
	share := shareObjects
	if len(list) < 4*shareObjects {
		share = len(list) // done before another core would begin
	}
	// The code that takes the objects sees an end in between.
	_ = cores.DoIn(ctx, x.spread, len(list), share, func(begin, end int) error {
		if ended := x.holder.ended(ctx); ended != nil {
			return ended
		}
		if begin > 0 {
			runtime.Gosched() // many objects must not keep a node's other goroutines waiting
		}
		for i := begin; i < end; i++ {
			list[i] = x.parse(objects.At(from + i)) //nolint:contextcheck // one index
		}
		return nil
	})
}

// parse reads an object. Most that come in thousands are scripts or addresses.
func (x *expansion) parse(v *jsontree.Value) (p parsed) {
	var a descriptor.Annotations
	if x.widens == nil {
		p.ScanObject, p.err = arg.NewScanObject(v)
	} else {
		p.ScanObject, a, p.err = arg.Annotated(v)
	}
	if p.err == nil {
		p.gap, p.err = arg.Gap(v, a)
	}
	if p.err != nil {
		return p
	}
	if x.scriptsOnly {
		if script, ok := descriptor.FixedScript(p.Text, x.net); ok {
			p.script[0] = script
			return p
		}
	}
	var err error
	p.branches, err = descriptor.Parse(p.Text, x.net, descriptor.Options{})
	for i := 0; err == nil && i < len(p.branches); i++ {
		err = p.branches[i].CheckAllowed("Scan object")
	}
	if err != nil {
		p.err = command.Error{Code: command.InvalidAddressOrKey, Message: err.Error()}
	}
	return p
}

// expand visits the scripts of every branch of a descriptor. Ranges of descriptors
// that have none are ignored.
func (x *expansion) expand(ctx context.Context, p *parsed) error {
	if p.gap > 0 && p.err == nil {
		if x.widens == nil {
			return errNoGap
		}
		if x.widens(p) {
			return nil
		}
	}
	if p.script[0] != nil {
		x.visit(nil, 0, p.script[:])
		return nil
	}
	if p.err != nil {
		return p.err
	}
	for i := range p.branches {
		if err := x.expandBranch(ctx, p, i); err != nil {
			return command.Errorf(command.InvalidAddressOrKey,
				"Cannot derive script without private keys: '%s'", p.Text)
		}
	}
	return nil
}

// expandBranch visits the scripts of a branch. An abort ends it.
func (x *expansion) expandBranch(ctx context.Context, p *parsed, place int) error {
	branch := p.branches[place]
	if branch.IsRanged() && x.holder.aborted != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		done := make(chan struct{})
		defer func() { cancel(); <-done }()
		go func() {
			defer close(done)
			select {
			case <-x.holder.aborted:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	return x.known.ExpandRange(ctx, branch, p.First, p.Last, cores.Count(),
		func(index uint32, scripts [][]byte) error {
			x.visit(branch, index, scripts)
			if n := index - p.First + 1; n%reportScripts == 0 {
				part := float64(n) / (float64(p.Last-p.First) + 1)
				x.report((float64(place) + part) / float64(len(p.branches)))
			}
			return nil
		})
}
