package link

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const (
	// MaxFrame is the size of a frame, at most.
	MaxFrame = 320 << 10

	frameHead  = 4  // bytes in front of a frame of MaxFrame bytes
	batchSize  = 16 // frames in a message of gRPC
	maxMessage = (batchSize + 1) * MaxFrame
	maxWaiting = 64  // frames of a peer that nobody has taken
	maxAddress = 256 // bytes of an address
)

// The types that may come from outside, by their names in protobuf.
var (
	frameType      = typeOf(&wrapperspb.BytesValue{})
	watchType      = typeOf(&actor.Watch{})
	unwatchType    = typeOf(&actor.Unwatch{})
	terminatedType = typeOf(&actor.Terminated{})
)

func typeOf(m proto.Message) string { return string(proto.MessageName(m)) }

// guard stands in front of remote's reader.
type guard struct {
	self    func() string // own address
	dropped func()        // told of each envelope that is kept out
	log     *slog.Logger
	ended   context.Context //nolint:containedctx // of the link: readers wait no longer

	streams sync.WaitGroup // that are read
	mu      sync.Mutex
	queues  map[string]*queue // of the peers that are connected, by their address
}

// queue is how many frames of a peer nobody has taken.
type queue struct {
	tokens  chan struct{}
	streams int
}

var errPanic = errors.New("the reader panicked")

// stream is the interceptor of streams.
func (g *guard) stream(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
	g.streams.Add(1)
	defer g.streams.Done()
	ctx, cancel := context.WithCancel(s.Context())
	defer context.AfterFunc(g.ended, cancel)()
	defer cancel()
	r := &reader{ServerStream: s, guard: g, ctx: ctx}
	defer r.leave()
	defer func() {
		if p := recover(); p != nil {
			g.log.Error("a message of another node was not expected", "panic", p)
			err = errPanic
		}
	}()
	return next(srv, r)
}

// unary refuses the calls that remote has and does not implement: it panics there.
func (*guard) unary(context.Context, any, *grpc.UnaryServerInfo, grpc.UnaryHandler) (any, error) {
	return nil, status.Error(codes.Unimplemented, "not served")
}

// taken makes room for a frame more.
func (g *guard) taken(peer string) {
	g.mu.Lock()
	q := g.queues[peer]
	g.mu.Unlock()
	if q != nil {
		select {
		case <-q.tokens:
		default: // of a connection that has ended since
		}
	}
}

// reader is a stream of a peer as remote's reader sees it.
type reader struct {
	grpc.ServerStream
	guard *guard
	ctx   context.Context //nolint:containedctx // of the stream
	peer  string          // address; empty until the peer has said it
	queue *queue
}

// RecvMsg implements grpc.ServerStream.
func (r *reader) RecvMsg(m any) error {
	if err := r.receive(m); err != nil {
		return err
	}
	msg, ok := m.(*remote.RemoteMessage)
	if !ok {
		return status.Error(codes.InvalidArgument, "not a message of remote")
	}
	switch t := msg.GetMessageType().(type) {
	case *remote.RemoteMessage_ConnectRequest:
		if !r.connect(t.ConnectRequest) {
			r.guard.dropped()
			return status.Error(codes.InvalidArgument, "not a connection of a node")
		}
		return nil
	case *remote.RemoteMessage_MessageBatch:
		return r.sift(t.MessageBatch)
	default:
		r.guard.dropped()
		return status.Error(codes.InvalidArgument, "not a message that is expected")
	}
}

// receive waits for a message, or for the end of the link: remote's server would wait for the
// peer to close its side.
func (r *reader) receive(m any) error {
	received := make(chan error, 1)
	go func() {
		err := errPanic
		defer func() {
			if p := recover(); p != nil {
				r.guard.log.Error("a message of another node was not expected", "panic", p)
			}
			received <- err
		}()
		err = r.ServerStream.RecvMsg(m)
	}()
	select {
	case err := <-received:
		return err
	case <-r.ctx.Done():
		return status.Error(codes.Unavailable, "the node leaves") // which ends the stream
	}
}

// connect notes whose stream it is, which does not change any more.
func (r *reader) connect(c *remote.ConnectRequest) bool {
	address := c.GetServerConnection().GetAddress()
	if r.peer != "" || address == "" || len(address) > maxAddress || address == r.guard.self() {
		return false
	}
	r.peer = address
	g := r.guard
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.queues[address] == nil {
		g.queues[address] = &queue{tokens: make(chan struct{}, maxWaiting)}
	}
	r.queue = g.queues[address]
	r.queue.streams++
	return true
}

func (r *reader) leave() {
	if r.queue == nil {
		return
	}
	r.guard.mu.Lock()
	defer r.guard.mu.Unlock()
	if r.queue.streams--; r.queue.streams == 0 && r.guard.queues[r.peer] == r.queue {
		delete(r.guard.queues, r.peer)
	}
}

// sift takes from a batch what is not expected, and waits until there is room for the rest.
func (r *reader) sift(b *remote.MessageBatch) error {
	if b == nil {
		return status.Error(codes.InvalidArgument, "an empty batch")
	}
	kept := b.Envelopes[:0]
	for _, e := range b.Envelopes {
		if !r.fits(b, e) {
			r.guard.dropped()
			continue
		}
		e.MessageHeader, e.TargetRequestId, e.SenderRequestId = nil, 0, 0
		kept = append(kept, e)
		if b.TypeNames[e.TypeId] != frameType {
			continue
		}
		select {
		case r.queue.tokens <- struct{}{}:
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	}
	clear(b.Envelopes[len(kept):])
	b.Envelopes = kept
	return nil
}

// fits reports whether an envelope is one that remote's reader can open, for the link's actor,
// from the peer itself.
func (r *reader) fits(b *remote.MessageBatch, e *remote.MessageEnvelope) bool {
	if r.peer == "" || e == nil || e.SerializerId != 0 || e.TypeId < 0 || int(e.TypeId) >= len(b.TypeNames) ||
		e.Target < 0 || int(e.Target) >= len(b.Targets) || e.Sender < 0 || int(e.Sender) > len(b.Senders) {
		return false
	}
	to := b.Targets[e.Target]
	if to == nil || to.Id != actorName {
		return false
	}
	to.Address = r.guard.self() // by whatever name the peer reaches it
	name := b.TypeNames[e.TypeId]
	if name == frameType {
		return len(e.MessageData) <= MaxFrame+frameHead && e.Sender > 0 && r.isPeer(b.Senders[e.Sender-1])
	}
	if e.Sender > 0 && b.Senders[e.Sender-1] == nil {
		return false
	}
	return r.fitsWatch(name, e.MessageData)
}

// fitsWatch reports whether a message about the ends of actors is about the peer's own.
func (r *reader) fitsWatch(name string, data []byte) bool {
	switch name {
	case watchType:
		var m actor.Watch
		return proto.Unmarshal(data, &m) == nil && r.isPeer(m.Watcher)
	case unwatchType:
		var m actor.Unwatch
		return proto.Unmarshal(data, &m) == nil && r.isPeer(m.Watcher)
	case terminatedType:
		var m actor.Terminated
		return proto.Unmarshal(data, &m) == nil && r.isPeer(m.Who)
	default:
		return false
	}
}

func (r *reader) isPeer(p *actor.PID) bool {
	return p != nil && p.Address == r.peer && p.Id == actorName && p.RequestId == 0
}
