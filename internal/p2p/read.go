package p2p

import (
	"bufio"
	"errors"
	"io"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/transport"
)

// readAhead is how many bytes are read from the socket at once. Longer payloads
// go past the buffer.
const readAhead = 16 << 10

// read is the goroutine that reads.
func (s *Session) read() error {
	r := bufio.NewReaderSize(countedConn{s.conn, s}, readAhead)
	link, err := transport.Negotiate(r, s.outbox, s.cfg.Magic, s.cfg.mode())
	if err != nil {
		return s.broken(err)
	}
	s.mu.Lock()
	s.kind, s.id = link.Kind, link.SessionID
	s.mu.Unlock()
	for s.mayRead() {
		m, err := link.Read()
		if err != nil {
			return s.broken(err)
		}
		s.tally.received(m.Command, m.Size)
		if m.Rejected != nil {
			s.logf("%v, peer=%d", m.Rejected, s.cfg.ID)
			continue
		}
		if err := s.handle(m); err != nil {
			return err
		}
	}
	return nil // the session has ended
}

// broken says why nothing more can be read.
func (s *Session) broken(err error) error {
	switch {
	case errors.Is(err, transport.ErrHeader), errors.Is(err, transport.ErrV2):
		s.logf("%v, peer=%d", err, s.cfg.ID)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		s.logf("socket closed, disconnecting %s", PeerName(s.cfg.ID, s.cfg.LogAddr))
	}
	return err
}

// mayRead waits until the owner takes messages and the peer has taken ours. It
// reports false when the session has ended. During the handshake no credit is
// needed, for nothing goes to the owner.
func (s *Session) mayRead() bool {
	for {
		if (!s.shake.established || s.credit.is()) && !s.outbox.isFull() {
			select {
			case <-s.done:
				return false
			default:
				return true
			}
		}
		select {
		case <-s.done:
			return false
		case <-s.credit.changed:
		case <-s.outbox.writable:
		}
	}
}

// handle takes one message. An error ends the session.
func (s *Session) handle(m transport.Message) error {
	s.logf("received: %s (%d bytes) peer=%d", transport.Sanitize(m.Command), len(m.Payload), s.cfg.ID)
	s.capture(m.Command, m.Payload, true)
	now := s.cfg.Now()
	err := s.dispatch(m, now)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, codec.ErrMalformed):
		text := err.Error()
		if errors.Is(err, codec.ErrEnd) {
			text = "DataStream::read(): end of data: iostream error" // as Core's library says
		}
		s.logf(
			"ProcessMessages(%s, %d bytes): Exception '%s' caught", transport.Sanitize(m.Command), len(m.Payload), text,
		)
		return nil
	case errors.Is(err, codec.ErrUnknown):
		what := "command"
		if s.cfg.NewerLog {
			what = "message type"
		}
		s.logf("Unknown %s \"%s\" from peer=%d", what, transport.Sanitize(m.Command), s.cfg.ID)
		return nil
	case errors.Is(err, codec.ErrMisbehaving):
		s.owner.Misbehaved(err)
		return nil
	case errors.Is(err, ErrSelf), errors.Is(err, ErrServices): // whose lines stand elsewhere
		return err
	default:
		s.logf("%v, disconnecting peer=%d", err, s.cfg.ID)
		return err
	}
}

// dispatch does what the session can do itself, and hands over the rest.
func (s *Session) dispatch(m transport.Message, now time.Time) error {
	switch {
	case m.Command == wire.CmdVersion:
		return s.greet(m.Payload, now)
	case !s.shake.greeted:
		s.logf("non-version message before version handshake. Message \"%s\" from peer=%d",
			transport.Sanitize(m.Command), s.cfg.ID)
		return nil
	}
	switch m.Command {
	case wire.CmdVerAck:
		s.verack()
		return nil
	case wire.CmdWTxIdRelay, wire.CmdSendAddrV2:
		return s.feature(m.Command)
	case codec.CmdFeature:
		if s.cfg.Protocol >= codec.FeatureVersion {
			id, err := s.shake.advertised(m.Payload, int32(s.version()))
			if err == nil {
				s.logf("unknown feature advertised: %s", transport.Sanitize(id))
			}
			return err
		}
	case codec.CmdSendTxRcncl:
		return s.shake.reconcile.take(m.Payload)
	case wire.CmdSendHeaders, codec.CmdSendCmpct: // these count before the verack as well
		if s.cfg.Type != PrivateBroadcast {
			return s.pass(m, now)
		}
	}
	if !s.shake.established {
		s.logf("Unsupported message \"%s\" prior to verack from peer=%d", transport.Sanitize(m.Command), s.cfg.ID)
		return nil
	}
	if s.cfg.Type == PrivateBroadcast {
		return dispatchPrivately(s, m, now)
	}
	switch m.Command {
	case wire.CmdPing:
		return s.answerPing(m, now)
	case wire.CmdPong:
		s.pong(m.Payload, now)
		return nil
	}
	return s.pass(m, now)
}

// pass decodes a message for the owner.
func (s *Session) pass(m transport.Message, now time.Time) error {
	empty := s.cfg.Make(m.Command)
	if empty == nil {
		return codec.ErrUnknown
	}
	if err := codec.Decode(empty, m.Payload, s.version()); err != nil {
		return err
	}
	message := Message{Message: empty, Payload: m.Payload, Received: now}
	if s.shake.established {
		s.deliver(message)
	} else {
		s.shake.keep(message)
	}
	return nil
}

// deliver hands a message to the owner.
func (s *Session) deliver(m Message) {
	s.credit.take(len(m.Payload))
	s.owner.Received(m)
}

// keep keeps the last message of each kind until the handshake is done.
func (h *handshake) keep(m Message) {
	for i, earlier := range h.early {
		if earlier.Command() == m.Command() {
			h.early[i] = m
			return
		}
	}
	h.early = append(h.early, m)
}
