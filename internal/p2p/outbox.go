package p2p

import (
	"cmp"
	"sync"

	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/transport"
)

// overhead is what a queued message costs beside its payload, in bytes.
const overhead = 64

// slack is how far beyond its limit a queue may grow, in bytes: an owner that
// looks before it sends a block cannot exceed it.
const slack = 2*codec.MaxPayload + 1_000_000

// An outbox is what is to be written. Messages wait until the transport is known.
type outbox struct {
	limit    int
	changed  chan struct{} // there is something to write
	writable chan struct{} // it is no longer full

	mu        sync.Mutex
	handshake []byte // goes before all messages
	encoder   transport.Encoder
	queue     []outgoing
	bytes     int
	finishing error // the reason for which the session ends when the queue is empty
}

// An outgoing message.
type outgoing struct {
	command string
	payload []byte
}

func (o *outgoing) size() int { return len(o.payload) + overhead }

func newOutbox(limit int) *outbox {
	return &outbox{limit: limit, changed: make(chan struct{}, 1), writable: make(chan struct{}, 1)}
}

// SendHandshake implements transport.Outbox.
func (o *outbox) SendHandshake(b []byte) {
	o.mu.Lock()
	o.handshake = append(o.handshake, b...)
	o.mu.Unlock()
	notify(o.changed)
}

// Ready implements transport.Outbox.
func (o *outbox) Ready(e transport.Encoder) {
	o.mu.Lock()
	o.encoder = e
	o.mu.Unlock()
	notify(o.changed)
}

// put queues a message.
func (o *outbox) put(command string, payload []byte) error {
	m := outgoing{command, payload}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.finishing != nil {
		return ErrClosed
	}
	if o.bytes+m.size() > o.limit+slack {
		return ErrSendOverflow
	}
	o.queue = append(o.queue, m)
	o.bytes += m.size()
	notify(o.changed)
	return nil
}

// finish lets nothing more in.
func (o *outbox) finish(reason error) {
	o.mu.Lock()
	o.finishing = cmp.Or(reason, ErrClosed)
	o.mu.Unlock()
	notify(o.changed)
}

// isFull reports whether more is queued than the limit.
func (o *outbox) isFull() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes > o.limit
}

// A piece is what is to be written next: part of a handshake or a message.
type piece struct {
	handshake []byte
	message   outgoing
	encoder   transport.Encoder // nil: no message
}

// append appends the piece as it travels. This takes time for a long message, and
// so is not done where others wait.
func (p *piece) append(dst []byte) []byte {
	dst = append(dst, p.handshake...)
	if p.encoder == nil {
		return dst
	}
	return p.encoder.Append(dst, p.message.command, p.message.payload)
}

// next returns what is to be written next. It returns nothing when there is
// nothing to write yet, and the reason to end when there is nothing more.
func (o *outbox) next() (piece, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.handshake) > 0 {
		p := piece{handshake: o.handshake}
		o.handshake = nil
		return p, nil
	}
	if len(o.queue) == 0 {
		return piece{}, o.finishing
	}
	if o.encoder == nil {
		return piece{}, nil
	}
	p := piece{message: o.queue[0], encoder: o.encoder}
	o.queue[0] = outgoing{} // the payload must not live as long as the queue
	o.queue = o.queue[1:]
	return p, nil
}

// written makes room for a piece, and reports whether the queue was full before
// and now is not.
func (o *outbox) written(p *piece) bool {
	if p.encoder == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.bytes > o.limit
	o.bytes -= p.message.size()
	if before && o.bytes <= o.limit {
		notify(o.writable)
		return true
	}
	return false
}

// largeBuffer is the size, in bytes, beyond which a buffer is not kept for the
// next message.
const largeBuffer = 64 << 10

// write is the goroutine that writes.
func (s *Session) write() error {
	var buffer []byte
	for {
		p, err := s.outbox.next()
		if err != nil {
			return err
		}
		buffer = p.append(buffer[:0])
		if len(buffer) == 0 {
			select {
			case <-s.outbox.changed:
				continue
			case <-s.done:
				return nil
			}
		}
		if sent, _ := s.tally.bytes(); sent == 0 && p.handshake != nil {
			s.logf("start sending v2 handshake to peer=%d", s.cfg.ID)
		}
		if p.encoder != nil {
			s.capture(p.message.command, p.message.payload, false)
		}
		n, err := s.conn.Write(buffer)
		s.tally.sent(s.cfg.Now(), p.message.command, n)
		if err != nil {
			return err
		}
		if s.outbox.written(&p) {
			s.owner.Writable()
		}
		if cap(buffer) > largeBuffer {
			buffer = nil
		}
	}
}
