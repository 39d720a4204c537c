package p2p

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/transport"
)

// A Session is one connection. Make it with [New] and start it with
// [Session.Run]; all other methods may be called at any time and by any
// goroutine, and do not wait.
type Session struct {
	conn  net.Conn
	cfg   Config
	owner Owner
	nonce uint64 // of our version message

	credit *credit
	outbox *outbox
	tally  *tally
	ping   ping

	closing sync.Once
	done    chan struct{} // closed when the session ends
	reason  error         // set before done is closed

	shake handshake // the reader's

	mu          sync.Mutex
	remote      Remote
	established bool
	kind        transport.Kind
	id          [32]byte // of a v2 session
}

// New returns the session of a connection and takes the connection over.
// Nothing is read or written before Run.
func New(conn net.Conn, cfg Config, owner Owner) *Session {
	cfg = cfg.disguised().withDefaults()
	s := &Session{
		conn:   conn,
		cfg:    cfg,
		owner:  owner,
		nonce:  newNonce(),
		credit: newCredit(cfg.ReceiveLimit),
		outbox: newOutbox(cfg.SendLimit),
		tally:  newTally(cfg.Now(), cfg.Totals, cfg.Protocol),
		done:   make(chan struct{}),
	}
	s.shake.reconcile.Session = s
	return s
}

// Run is the life of the session. It returns when the connection is closed and
// all goroutines of the session have ended, and says why: never with nil. The
// end of ctx ends the session.
func (s *Session) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { s.Close(context.Cause(ctx)) })
	defer stop()
	if s.cfg.Type != Inbound {
		defer s.cfg.Nonces.add(s.nonce)()
		s.sendVersion()
	}
	var others sync.WaitGroup
	others.Go(func() { s.guard(s.write) })
	others.Go(func() { s.guard(s.watch) })
	s.guard(s.read)
	others.Wait()
	if s.leftUponV2() {
		return fmt.Errorf("%w: %w", ErrRetryV1, s.reason)
	}
	return s.reason
}

// guard ends the session when a part of it ends, whatever way.
func (s *Session) guard(part func() error) {
	defer func() {
		if p := recover(); p != nil {
			s.Close(fmt.Errorf("%w: %v", ErrPanic, p))
		}
	}()
	s.Close(part())
}

// leftUponV2 reports whether the peer may have left because of our v2 handshake. Such a
// peer sent nothing, and it either had enough of our key for a v1 header, or closed the
// connection itself. A close may be seen before our key is written.
func (s *Session) leftUponV2() bool {
	sent, received := s.tally.bytes()
	return s.cfg.mode() == transport.InitiateV2 && received == 0 && (sent >= v1Header || isHangup(s.reason))
}

// isHangup reports whether a connection ended because the other end closed it.
func isHangup(err error) bool {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

// Close ends the session at once: what is queued is not sent. The first reason
// counts; nil stands for ErrClosed.
func (s *Session) Close(reason error) {
	s.closing.Do(func() {
		if reason == nil {
			reason = ErrClosed
		}
		s.reason = reason
		close(s.done)
		// Where bytes of the peer are unread, Close alone resets a TCP connection,
		// and the peer would see an error instead of an end.
		if tcp, ok := s.conn.(interface{ CloseWrite() error }); ok {
			_ = tcp.CloseWrite()
		}
		_ = s.conn.Close()
	})
}

// Finish ends the session when the queue is written, and after the given time at the
// latest. Nothing more can be sent.
func (s *Session) Finish(reason error, within time.Duration) {
	s.outbox.finish(reason)
	time.AfterFunc(within, func() { s.Close(reason) })
}

// Send queues a message. The message is encoded before Send returns and may be
// changed after, but for the payload of a codec.Raw.
//
// Errors: ErrEarly, ErrClosed, ErrSendOverflow, which ends the session, and those
// of a message that cannot be encoded.
func (s *Session) Send(m wire.Message) error {
	if !s.isEstablished() {
		return ErrEarly
	}
	return s.queue(m)
}

// SendRaw sends a payload as the message of a name, of at most 12 bytes, whether that makes
// sense or not. Errors are those of [Session.Send].
func (s *Session) SendRaw(command string, payload []byte) error {
	if !s.isEstablished() {
		return ErrEarly
	}
	return s.put(command, payload)
}

// say queues a message of the session's own, without which it cannot go on.
func (s *Session) say(m wire.Message) {
	if err := s.queue(m); err != nil && !errors.Is(err, ErrClosed) {
		s.Close(err)
	}
}

// queue queues a message.
func (s *Session) queue(m wire.Message) error {
	payload, err := codec.Encode(m, s.version())
	if err != nil {
		return err
	}
	if len(payload) > codec.MaxPayload {
		return fmt.Errorf("%s of %d bytes: more than %d", m.Command(), len(payload), codec.MaxPayload)
	}
	return s.put(m.Command(), payload)
}

// put queues a message as it travels.
func (s *Session) put(command string, payload []byte) error {
	select {
	case <-s.done:
		return ErrClosed
	default:
	}
	if err := s.outbox.put(command, payload); err != nil {
		if errors.Is(err, ErrSendOverflow) {
			s.Close(err)
		}
		return err
	}
	s.tally.totals.Uploads.add(s.cfg.Now(), len(payload)+v1Header)
	s.logf("sending %s (%d bytes) peer=%d", command, len(payload), s.cfg.ID)
	return nil
}

// version is the version of the protocol to encode messages in.
func (s *Session) version() uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return uint32(cmp.Or(s.remote.Common, s.cfg.Protocol))
}

// Want grants credit for n more messages, and says that the owner has handled
// the n oldest messages that it holds. Their bytes then no longer count against
// Config.ReceiveLimit. An owner begins with Want(the most messages it will take
// ahead), and calls Want(1) for each message it has handled.
func (s *Session) Want(n int) { s.credit.add(max(n, 0)) }

// CanWrite reports whether less is queued than Config.SendLimit. Where it is
// more, the owner should wait for Writable before it sends what is large.
func (s *Session) CanWrite() bool { return !s.outbox.isFull() }

// Done returns a channel that is closed when the session ends.
func (s *Session) Done() <-chan struct{} { return s.done }

// transport is what is known of the transport.
func (s *Session) transport() transport.Kind {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kind
}

// capture hands a message to Config.Capture, if set.
func (s *Session) capture(command string, payload []byte, incoming bool) {
	if s.cfg.Capture != nil {
		s.cfg.Capture(command, payload, incoming)
	}
}

// logf writes a line of Core's.
func (s *Session) logf(format string, args ...any) { writeLine(s.cfg.Log, format, args...) }

func writeLine(log func(line string), format string, args ...any) {
	if log != nil {
		log(fmt.Sprintf(format, args...))
	}
}
