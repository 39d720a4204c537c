package p2p

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/transport"
)

// pingInterval is how long after a ping the next one is due (Core:
// PING_INTERVAL).
const pingInterval = 2 * time.Minute

// A ping is the state of pings to the peer.
type ping struct {
	mu       sync.Mutex
	nonce    uint64    // awaited; 0: none
	start    time.Time // of the last ping
	last     time.Duration
	least    time.Duration
	answered bool // once at least
}

// Ping sends a ping, also while one is not answered, of which the answer then
// counts for nothing. Before the handshake is done it does nothing, because a
// ping follows the handshake anyway.
func (s *Session) Ping() {
	if !s.isEstablished() {
		return
	}
	common := s.version()
	nonce := newNonce()
	p := &s.ping
	p.mu.Lock()
	p.start = s.cfg.Now()
	p.nonce = 0
	if common > wire.BIP0031Version {
		p.nonce = nonce // others never answer
	}
	p.mu.Unlock()
	s.say(wire.NewMsgPing(nonce))
}

// answerPing answers a ping that expects it, or has the owner do it.
func (s *Session) answerPing(m transport.Message, now time.Time) error {
	switch {
	case s.version() <= wire.BIP0031Version:
		return nil
	case len(m.Payload) < 8:
		return codec.ErrMalformed
	case s.cfg.HandPings:
		return s.pass(m, now)
	}
	s.Pong(binary.LittleEndian.Uint64(m.Payload))
	return nil
}

// Pong answers a ping with this nonce.
func (s *Session) Pong(nonce uint64) { s.say(wire.NewMsgPong(nonce)) }

// pong takes the answer to a ping, and reports whether it is the right one.
func (s *Session) pong(payload []byte, now time.Time) bool {
	var got uint64
	problem := "Short payload"
	expected := s.ping.awaited()
	if len(payload) >= 8 {
		got = binary.LittleEndian.Uint64(payload)
		problem = s.ping.end(got, now)
	} else {
		s.ping.cancel()
	}
	if problem != "" {
		s.logf("pong peer=%d: %s, %x expected, %x received, %d bytes", s.cfg.ID, problem, expected, got, len(payload))
	}
	return problem == ""
}

func (p *ping) awaited() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.nonce
}

func (p *ping) cancel() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nonce = 0
}

// end takes the nonce of an answer, and returns the fault in Core's words, or
// "".
func (p *ping) end(nonce uint64, now time.Time) (problem string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.nonce == 0:
		return "Unsolicited pong without ping"
	case nonce == 0: // a bug elsewhere
		p.nonce = 0
		return "Nonce zero"
	case nonce != p.nonce: // normal when pings overlap
		return "Nonce mismatch"
	}
	p.nonce = 0
	took := now.Sub(p.start)
	if took < 0 {
		return "Timing mishap"
	}
	p.last = took
	if !p.answered || took < p.least {
		p.answered, p.least = true, took
	}
	return ""
}

// waiting returns for how long an answer has been awaited; 0: none is.
func (p *ping) waiting(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.nonce == 0 {
		return 0
	}
	return now.Sub(p.start)
}

// due reports whether it is time for a ping.
func (p *ping) due(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.nonce == 0 && now.Sub(p.start) > pingInterval
}

// stats fills in the numbers of pings.
func (p *ping) stats(now time.Time, st *Stats) {
	st.PingWait = p.waiting(now)
	p.mu.Lock()
	defer p.mu.Unlock()
	st.Ping, st.MinPing, st.Pinged = p.last, p.least, p.answered
}
