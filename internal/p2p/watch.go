package p2p

import (
	"fmt"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/transport"
)

const (
	// tick is how often a session looks at the clock.
	tick = 500 * time.Millisecond

	// silence is how long a peer may neither send nor take anything, nor answer a
	// ping (Core: TIMEOUT_INTERVAL).
	silence = 20 * time.Minute
)

// watch is the goroutine that looks at the clock. It is the session's own, which
// may stand still or jump.
func (s *Session) watch() error {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-s.done:
			return nil
		case <-ticker.C:
			if err := s.Tick(); err != nil {
				return err
			}
		}
	}
}

// Tick looks at the clock now, after it was set: it ends a session of whose peer
// too little was received, with the error returned, and sends the ping that is due.
func (s *Session) Tick() error {
	now := s.cfg.Now()
	if s.cfg.Type == PrivateBroadcast && s.tally.connected.Add(privateLifetime).Before(now) {
		privately(s, "Disconnecting: did not complete the transaction send within %d seconds, %s",
			int(privateLifetime.Seconds()), PeerName(s.cfg.ID, s.cfg.LogAddr))
		s.Close(ErrTimeout)
		return ErrTimeout
	}
	if s.tally.connected.Add(s.cfg.PeerTimeout).Before(now) {
		if err := s.overdue(now); err != nil {
			s.logf("%v, disconnecting peer=%d", err, s.cfg.ID)
			s.Close(err)
			return err
		}
	}
	if s.isEstablished() && s.ping.due(now) && s.cfg.Type != PrivateBroadcast {
		s.Ping()
	}
	return nil
}

// overdue returns what the peer has failed to do in time.
func (s *Session) overdue(now time.Time) error {
	sent, received := s.tally.times()
	quiet, deaf := seconds(received, now), seconds(sent, now)
	switch {
	case sent.IsZero() || received.IsZero():
		return timeout("socket no message in first %d seconds%s%s", int(s.cfg.PeerTimeout.Seconds()),
			never(received, ", never received from peer"), never(sent, ", never sent to peer"))
	case deaf > int64(silence.Seconds()):
		return timeout("socket sending timeout: %ds", deaf)
	case quiet > int64(silence.Seconds()):
		return timeout("socket receive timeout: %ds", quiet)
	case !s.isEstablished() && s.transport() == transport.Detecting:
		return timeout("V2 handshake timeout")
	case !s.isEstablished():
		return timeout("version handshake timeout")
	}
	if wait := s.ping.waiting(now); wait > silence {
		return timeout("ping timeout: %fs", wait.Seconds())
	}
	return nil
}

// seconds is the time between, as Core counts it: in whole seconds of the clock.
func seconds(from, to time.Time) int64 { return to.Unix() - from.Unix() }

// never returns text for a time that never was.
func never(at time.Time, text string) string {
	if at.IsZero() {
		return text
	}
	return ""
}

// A timeoutError is an ErrTimeout in Core's words.
type timeoutError string

func timeout(format string, args ...any) error { return timeoutError(fmt.Sprintf(format, args...)) }

// Error implements error.
func (e timeoutError) Error() string { return string(e) }

// Is makes it an ErrTimeout.
func (timeoutError) Is(target error) bool { return target == ErrTimeout }
