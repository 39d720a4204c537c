package p2p

import (
	"errors"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/transport"
)

// featuresFrom is the version of the protocol from which on peers get
// features that others might not expect (BIP155, BIP339).
const featuresFrom = 70016

// cmpctFrom is the version of the protocol with compact blocks.
const cmpctFrom = 70014

// Why a session ends over an advertised feature, in Core's words.
var (
	errFeature        = errors.New("invalid feature payload")
	errFeatureVersion = errors.New("feature received with incompatible version")
)

// finishWithin is how long a feeler may take to say goodbye.
const finishWithin = time.Second

// A handshake is how far the peer has come.
type handshake struct {
	greeted     bool      // its version has come
	established bool      // its verack, too
	early       []Message // what it said in between that will count
	reconcile   reconciliation
}

// sendVersion begins our side of the handshake.
func (s *Session) sendVersion() {
	you := s.cfg.Addr
	if !you.IsRoutable() || !you.IsV1Compatible() {
		you = netaddr.Addr{}
	}
	v := &codec.Version{
		Protocol:       s.cfg.Protocol,
		Services:       s.cfg.Services,
		Time:           timeOf(s),
		YourServices:   s.cfg.Offered,
		You:            you,
		Nonce:          s.nonce,
		UserAgent:      s.cfg.UserAgent,
		StartHeight:    s.cfg.Height,
		NoTransactions: s.cfg.NoTransactions,
	}
	them := ""
	if s.cfg.LogAddr != "" {
		them = fmt.Sprintf("them=%v, ", you)
	}
	s.logf("send version message: version %d, blocks=%d, %stxrelay=%d, peer=%d",
		v.Protocol, v.StartHeight, them, digit(!v.NoTransactions), s.cfg.ID)
	s.say(v)
}

// greet takes the peer's version.
func (s *Session) greet(payload []byte, now time.Time) error {
	if s.shake.greeted {
		s.logf("redundant version message from peer=%d", s.cfg.ID)
		return nil
	}
	var v codec.Version
	if err := codec.Decode(&v, payload, 0); err != nil {
		return err
	}
	if err := s.acceptable(&v); err != nil {
		return err
	}
	s.shake.greeted = true
	if s.cfg.Type == Inbound {
		s.sendVersion()
	}
	r := Remote{
		Version:    v,
		Common:     min(v.Protocol, s.cfg.Protocol),
		UserAgent:  transport.Sanitize(v.UserAgent),
		TimeOffset: time.Unix(v.Time, 0).Sub(now.Truncate(time.Second)),
	}
	s.mu.Lock()
	s.remote = r
	s.mu.Unlock()
	err := s.answerVersion(&r)
	s.logf("receive version message: %s: version %d, blocks=%d, us=%v, txrelay=%d, %s",
		r.UserAgent, v.Protocol, v.StartHeight, v.You, digit(!v.NoTransactions), PeerName(s.cfg.ID, s.cfg.LogAddr))
	if s.cfg.Type == Feeler {
		s.Finish(ErrFeeler, finishWithin)
	}
	return err
}

// acceptable returns why the session must end.
func (s *Session) acceptable(v *codec.Version) error {
	if s.cfg.Desirable != nil && s.cfg.Type.isAutomatic() {
		if want := s.cfg.Desirable(v.Services); want&^v.Services != 0 {
			err := &ServicesError{v.Services, fmt.Sprintf("%v (%08x offered, %08x expected)", ErrServices,
				uint64(v.Services), uint64(want))}
			s.logf("%v, disconnecting %s", err, PeerName(s.cfg.ID, s.cfg.LogAddr))
			return err
		}
	}
	if s.cfg.Refuse != nil {
		if err := s.cfg.Refuse(v.Services); err != nil {
			return err
		}
	}
	if v.Protocol < s.cfg.MinProtocol {
		return fmt.Errorf("%w %d", ErrObsolete, v.Protocol)
	}
	if s.cfg.Type == Inbound && s.cfg.Nonces.has(v.Nonce) {
		return ErrSelf
	}
	return nil
}

// isAutomatic reports whether the node chose the peer itself, and so requires
// services.
func (t ConnectionType) isAutomatic() bool {
	return t == OutboundFullRelay || t == BlockRelayOnly || t == AddrFetch || t == PrivateBroadcast
}

// answerVersion sends what follows the peer's version, or says why the session must end.
func (s *Session) answerVersion(r *Remote) error {
	if s.cfg.Type == PrivateBroadcast {
		return answerPrivately(s, &r.Version)
	}
	if r.Common >= featuresFrom {
		s.say(wire.NewMsgWTxIdRelay())
		s.say(wire.NewMsgSendAddrV2())
	}
	s.shake.reconcile.offer(r)
	s.say(wire.NewMsgVerAck())
	if s.cfg.Type != Inbound && s.cfg.Type != BlockRelayOnly && (s.cfg.Type != Feeler || !s.cfg.QuietFeelers) {
		s.say(wire.NewMsgGetAddr())
	}
	return nil
}

// verack ends the handshake.
func (s *Session) verack() {
	if s.shake.established {
		s.logf("ignoring redundant verack message from peer=%d", s.cfg.ID)
		return
	}
	s.cfg.Nonces.remove(s.nonce)
	s.mu.Lock()
	s.established = true
	r := s.remote
	s.mu.Unlock()
	s.shake.established = true
	s.shake.reconcile.settle(&r)
	if s.cfg.Type == PrivateBroadcast {
		s.owner.Established(r)
		return
	}
	if r.Common >= cmpctFrom {
		s.say(&codec.SendCmpct{Version: codec.CmpctVersion})
	}
	s.Ping()
	s.owner.Established(r)
	for _, m := range s.shake.early {
		s.deliver(m)
	}
	s.shake.early = nil
}

// feature takes a message that is only allowed between version and verack.
func (s *Session) feature(command string) error {
	if s.shake.established {
		return fmt.Errorf("%s %w", command, ErrLate)
	}
	s.mu.Lock()
	common, duplicate := s.remote.Common, s.remote.WtxidRelay
	if command == wire.CmdSendAddrV2 {
		s.remote.AddrV2 = true
	} else {
		s.remote.WtxidRelay = common >= featuresFrom
	}
	s.mu.Unlock()
	switch {
	case command == wire.CmdSendAddrV2:
	case common < featuresFrom:
		s.logf("ignoring wtxidrelay due to old common version=%d from peer=%d", common, s.cfg.ID)
	case duplicate:
		s.logf("ignoring duplicate wtxidrelay from peer=%d", s.cfg.ID)
	}
	return nil
}

// advertised takes a feature that the peer says to have (BIP434), and returns its name. No feature is known yet.
func (h *handshake) advertised(payload []byte, common int32) (id string, err error) {
	switch {
	case h.established:
		return "", fmt.Errorf("%s %w", codec.CmdFeature, ErrLate)
	case common < codec.FeatureVersion:
		return "", fmt.Errorf("%w %d", errFeatureVersion, common)
	}
	if id, err = codec.FeatureID(payload); err != nil {
		return "", errFeature
	}
	return id, nil
}

// isEstablished reports whether the handshake is done.
func (s *Session) isEstablished() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.established
}

// digit prints a bool as Core does.
func digit(b bool) int {
	if b {
		return 1
	}
	return 0
}
