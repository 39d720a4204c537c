// Package codec reads and writes the payloads of the peer-to-peer protocol's
// messages, as Bitcoin Core 30.2 does (src/protocol.h, src/net_processing.cpp).
//
// Most messages are those of btcd's wire package. Messages that btcd lacks or
// reads otherwise than Core are here: version, addr and addrv2, headers, and
// the messages of compact blocks (BIP152).
//
// Payloads come from strangers. Nothing panics, and no count in a payload makes
// Decode allocate more than a small multiple of the payload's own length. Bytes
// after the end of a message are ignored, as in Core.
package codec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/btcsuite/btcd/wire"
)

// ProtocolVersion is the version of the protocol with which messages got their
// present form.
const ProtocolVersion = 70016

// MaxPayload is the longest payload, in bytes, that a message may have (Core:
// MAX_PROTOCOL_MESSAGE_LENGTH).
const MaxPayload = 4_000_000

// Names of messages that btcd does not know.
const (
	CmdSendCmpct   = "sendcmpct"
	CmdCmpctBlock  = "cmpctblock"
	CmdGetBlockTxn = "getblocktxn"
	CmdBlockTxn    = "blocktxn"
	CmdSendTxRcncl = "sendtxrcncl"
	CmdFeature     = "feature"
)

// FeatureVersion is the version of the protocol that has the message feature (BIP434).
const FeatureVersion = 70017

var (
	// ErrMalformed reports a payload that is no such message. Core forgets the
	// message and keeps the peer.
	ErrMalformed = errors.New("malformed message")

	// ErrMisbehaving reports a message that no honest peer sends.
	ErrMisbehaving = errors.New("misbehaving")

	// ErrLocator reports a block locator of more than 101 hashes, upon which
	// Core leaves the peer.
	ErrLocator = errors.New("locator too long")

	// ErrUnknown reports a message that Core does not handle and ignores.
	ErrUnknown = errors.New("unknown command")
)

// known are the messages of Core, sorted.
var known = []string{
	"addr", "addrv2", "block", "blocktxn", "cfcheckpt", "cfheaders", "cfilter", "cmpctblock", "feefilter", "filteradd",
	"filterclear", "filterload", "getaddr", "getblocks", "getblocktxn", "getcfcheckpt", "getcfheaders", "getcfilters",
	"getdata", "getheaders", "headers", "inv", "mempool", "merkleblock", "notfound", "ping", "pong", "sendaddrv2",
	"sendcmpct", "sendheaders", "sendtxrcncl", "tx", "verack", "version", "wtxidrelay",
}

// IsKnown reports whether Core counts a message by its name, where it speaks a version of the
// protocol.
func IsKnown(command string, version int32) bool {
	_, ok := slices.BinarySearch(known, command)
	return ok || command == CmdFeature && version >= FeatureVersion
}

// Commands lists the messages that Core counts by their name, sorted.
func Commands() []string { return slices.Clone(known) }

// makers make the empty message of each name that is handled.
var makers = map[string]func() wire.Message{
	wire.CmdVersion:      func() wire.Message { return new(Version) },
	wire.CmdVerAck:       func() wire.Message { return new(wire.MsgVerAck) },
	wire.CmdWTxIdRelay:   func() wire.Message { return new(wire.MsgWTxIdRelay) },
	wire.CmdSendAddrV2:   func() wire.Message { return new(wire.MsgSendAddrV2) },
	wire.CmdSendHeaders:  func() wire.Message { return new(wire.MsgSendHeaders) },
	wire.CmdFeeFilter:    func() wire.Message { return new(wire.MsgFeeFilter) },
	wire.CmdPing:         func() wire.Message { return new(wire.MsgPing) },
	wire.CmdPong:         func() wire.Message { return new(wire.MsgPong) },
	wire.CmdAddr:         func() wire.Message { return new(Addresses) },
	wire.CmdAddrV2:       func() wire.Message { return &Addresses{V2: true} },
	wire.CmdGetAddr:      func() wire.Message { return new(wire.MsgGetAddr) },
	wire.CmdInv:          func() wire.Message { return new(wire.MsgInv) },
	wire.CmdGetData:      func() wire.Message { return new(wire.MsgGetData) },
	wire.CmdNotFound:     func() wire.Message { return new(wire.MsgNotFound) },
	wire.CmdGetBlocks:    func() wire.Message { return new(wire.MsgGetBlocks) },
	wire.CmdGetHeaders:   func() wire.Message { return new(wire.MsgGetHeaders) },
	wire.CmdHeaders:      func() wire.Message { return new(Headers) },
	wire.CmdBlock:        func() wire.Message { return new(wire.MsgBlock) },
	wire.CmdTx:           func() wire.Message { return new(wire.MsgTx) },
	wire.CmdMemPool:      func() wire.Message { return new(wire.MsgMemPool) },
	wire.CmdFilterLoad:   func() wire.Message { return new(wire.MsgFilterLoad) },
	wire.CmdFilterAdd:    func() wire.Message { return new(wire.MsgFilterAdd) },
	wire.CmdFilterClear:  func() wire.Message { return new(wire.MsgFilterClear) },
	wire.CmdGetCFilters:  func() wire.Message { return new(wire.MsgGetCFilters) },
	wire.CmdCFilter:      func() wire.Message { return new(wire.MsgCFilter) },
	wire.CmdGetCFHeaders: func() wire.Message { return new(wire.MsgGetCFHeaders) },
	wire.CmdCFHeaders:    func() wire.Message { return new(wire.MsgCFHeaders) },
	wire.CmdGetCFCheckpt: func() wire.Message { return new(wire.MsgGetCFCheckpt) },
	wire.CmdCFCheckpt:    func() wire.Message { return new(wire.MsgCFCheckpt) },
	CmdSendCmpct:         func() wire.Message { return new(SendCmpct) },
	CmdCmpctBlock:        func() wire.Message { return new(CmpctBlock) },
	CmdGetBlockTxn:       func() wire.Message { return new(GetBlockTxn) },
	CmdBlockTxn:          func() wire.Message { return new(BlockTxn) },
	CmdSendTxRcncl:       func() wire.Message { return new(SendTxRcncl) },
}

// New returns the empty message of a name, or nil if the message is not
// handled.
func New(command string) wire.Message {
	if empty, ok := makers[command]; ok {
		return empty()
	}
	return nil
}

// Decode reads payload into m, an empty message such as New returns. version is
// the version of the protocol that both peers speak. The message does not share
// memory with payload, but for a [Block].
//
// Errors: ErrMalformed, ErrMisbehaving and ErrLocator, with Core's words.
func Decode(m wire.Message, payload []byte, version uint32) error {
	if ours, ok := m.(decoder); ok {
		return decodePayload(ours, payload)
	}
	c := cursor{b: payload}
	switch m := m.(type) {
	case *wire.MsgTx:
		if tx := c.tx(); tx != nil {
			*m = *tx
		}
		return c.err
	case *wire.MsgBlock:
		m.Header, _ = c.header(nil)
		m.Transactions = c.txs()
		return c.err
	}
	if err := check(m, payload); err != nil {
		return err
	}
	if isIgnored(m, payload) {
		return nil
	}
	err := m.BtcDecode(bytes.NewReader(payload), version, wire.WitnessEncoding)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrEnd
	}
	if err != nil && !errors.Is(err, ErrMisbehaving) && !errors.Is(err, ErrMalformed) {
		return malformed(err)
	}
	return err
}

// ErrEnd reports a payload that is too short.
var ErrEnd = fmt.Errorf("%w: end of data", ErrMalformed)

// malformed wraps what another package says of a payload.
func malformed(err error) error { return fmt.Errorf("%w: %w", ErrMalformed, err) }

// Encode returns the payload of a message.
//
// Errors: those of the message, for contents that cannot be written.
func Encode(m wire.Message, version uint32) ([]byte, error) {
	if raw, ok := m.(*Raw); ok {
		return raw.Payload, nil
	}
	var b bytes.Buffer
	if err := m.BtcEncode(&b, version, wire.WitnessEncoding); err != nil {
		return nil, fmt.Errorf("encoding %s: %w", m.Command(), err)
	}
	return b.Bytes(), nil
}
