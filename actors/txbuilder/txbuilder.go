// Package txbuilder is the actor that builds transactions for clients. It
// serves [messages.BuildTx].
//
// The actor owns what the node allows and the work in hand; the building
// itself is a pure function. A request of usual size is built and answered at
// once, which takes microseconds. A large one is built by a worker, so that it
// holds up nobody.
package txbuilder

import (
	"math"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// smallTx is how many inputs and outputs are built without a worker. It bounds
// how long a request waits for the one before it to some 0.2 ms
// (BenchmarkBuild).
const smallTx = 100

// Config is what the actor is made of.
type Config struct {
	Net            *descriptor.Network // whose addresses are paid to
	AllowNoOutputs bool                // as Core does with -deprecatedrpc=emptyoutputs

	fault func(*messages.BuildTx) // of tests, before something is built; nil: none
}

var table = ask.TableOf(ask.On((*Builder).build))

// Requests lists what a plain protoactor request may ask.
var Requests = table.Served

type buildTx = ask.Call[messages.BuildTx, *wire.MsgTx]

// Builder is the actor; make one with [New].
type Builder struct {
	cfg   Config
	large *ask.Lane // builds large transactions; the actor's slots bound how many
}

// New returns the producer of a builder.
func New(cfg Config) actor.Producer {
	return func() actor.Actor { return &Builder{cfg: cfg, large: ask.NewLane(math.MaxInt)} }
}

// Receive implements actor.Actor.
func (b *Builder) Receive(c actor.Context) {
	switch c.Message().(type) {
	case *actor.Stopping, *actor.Restarting:
		b.large.Close()
	default:
		table.Serve(b, c)
	}
}

func (b *Builder) build(c actor.Context, call *buildTx) {
	if len(call.Req.Inputs)+len(call.Req.Outputs) <= smallTx {
		call.Answer(build(call.Ctx, &b.cfg, &call.Req))
		return
	}
	ask.ServeIn(c, b.large, call, func(j *ask.Job, q messages.BuildTx) (*wire.MsgTx, error) {
		return build(j.Context(), &b.cfg, &q)
	})
}
