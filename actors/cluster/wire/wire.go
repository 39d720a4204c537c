// Package wire is the protocol between nodes of a cluster. It encodes each message as a protobuf
// message. Later versions may add fields; unknown fields are skipped. The package is pure, and
// bounds the size of decoded messages.
package wire

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Protocol is the version that this package speaks.
const Protocol = 1

// Bounds of decoded messages.
const (
	MaxChunk    = 256 << 10 // bytes of scripts in a [Chunk]
	MaxHits     = 1 << 14   // heights of a unit, at most, so that any number of them may match
	maxText     = 256
	maxVersions = 16
)

// Kind says what a message is.
type Kind uint32

// The kinds. A coordinator sends Hello, Open, Chunk, Unit, Cancel and Close, a worker node the others. A worker node
// that gets its scripts from another worker node sends it Fetch; the answer is Piece.
const (
	Hello   Kind = 1 + iota // Protocols, Network, Text: the build; asked again, it asks for life
	Welcome                 // Protocols: the chosen version; Network, Text: the build, Workers, Height
	Refused                 // of a Hello; Text: why
	Unknown                 // the session is not known here: say Hello
	Open                    // Scan, Set, Scripts, Chunks, Size, To: its height, Block, Header, Check, Exact, Source
	Opened                  // Scan, Need: chunks are needed; Text: refused, Retry: ask again
	Chunk                   // Scan, Index, Data
	Taken                   // Scan, Index
	Unit                    // Scan, Unit, From, To
	Done                    // Scan, Unit, From, To, Hits, Unchecked, Micros; Text: refused
	Cancel                  // Scan, Unit
	Close                   // Scan
	Fetch                   // of a worker node from another: Set, Index
	Piece                   // the answer: Set, Index, Data; without Data there will be none
)

// Message is any message. All messages have a Session, a secret that the asking node chooses: an
// answer with it comes from the node that was asked.
type Message struct {
	Kind    Kind
	Session [16]byte

	Protocols []uint32
	Network   string
	Text      string
	Workers   uint32 // cores that match
	Height    int32  // of the last block whose filter is there, -1 without one

	Scan    uint64
	Set     [32]byte // SHA-256 of all chunks
	Scripts uint32
	Chunks  uint32
	Size    uint64 // bytes of all chunks
	Block   [32]byte
	Header  [32]byte // filter header of Block
	Check   bool     // look into the blocks that match
	Exact   bool     // blocks that surely have none of the scripts need not match
	Need    bool
	Retry   bool
	Index   uint32
	Data    []byte
	Source  string // address of the worker node that passes the scripts on; empty: they come from the coordinator

	Unit            uint64
	From, To        int32   // heights, To not included
	Hits, Unchecked []int32 // heights, ascending, of blocks that match; that could not be looked into
	Micros          uint64  // that a unit took
}

// Numbers of the fields.
const (
	fKind = 1 + iota
	fSession
	fProtocols
	fNetwork
	fText
	fWorkers
	fHeight
	fScan
	fSet
	fScripts
	fChunks
	fSize
	fBlock
	fHeader
	fCheck
	fExact
	fNeed
	fRetry
	fIndex
	fData
	fUnit
	fFrom
	fTo
	fHits
	fUnchecked
	fMicros
	fSource
)

// Append appends a message's bytes.
func (m *Message) Append(b []byte) []byte {
	b = number(b, fKind, uint64(m.Kind))
	b = text(b, fSession, m.Session[:])
	for _, p := range m.Protocols {
		b = number(b, fProtocols, uint64(p))
	}
	b = text(b, fNetwork, []byte(m.Network))
	b = text(b, fText, []byte(m.Text))
	b = number(b, fWorkers, uint64(m.Workers))
	b = number(b, fHeight, protowire.EncodeZigZag(int64(m.Height)))
	b = number(b, fScan, m.Scan)
	b = hash(b, fSet, &m.Set)
	b = number(b, fScripts, uint64(m.Scripts))
	b = number(b, fChunks, uint64(m.Chunks))
	b = number(b, fSize, m.Size)
	b = hash(b, fBlock, &m.Block)
	b = hash(b, fHeader, &m.Header)
	b = number(b, fCheck, protowire.EncodeBool(m.Check))
	b = number(b, fExact, protowire.EncodeBool(m.Exact))
	b = number(b, fNeed, protowire.EncodeBool(m.Need))
	b = number(b, fRetry, protowire.EncodeBool(m.Retry))
	b = number(b, fIndex, uint64(m.Index))
	b = text(b, fData, m.Data)
	b = number(b, fUnit, m.Unit)
	b = number(b, fFrom, uint64(uint32(m.From)))
	b = number(b, fTo, uint64(uint32(m.To)))
	b = heights(b, fHits, m.From, m.Hits)
	b = heights(b, fUnchecked, m.From, m.Unchecked)
	b = number(b, fMicros, m.Micros)
	return text(b, fSource, []byte(m.Source))
}

func number(b []byte, field protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func text(b []byte, field protowire.Number, v []byte) []byte {
	if len(v) == 0 {
		return b
	}
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

func hash(b []byte, field protowire.Number, v *[32]byte) []byte {
	if *v == [32]byte{} {
		return b
	}
	return text(b, field, v[:])
}

// heights appends ascending heights as the distances between them.
func heights(b []byte, field protowire.Number, from int32, list []int32) []byte {
	var packed []byte
	for _, h := range list {
		packed = protowire.AppendVarint(packed, uint64(h-from))
		from = h
	}
	return text(b, field, packed)
}

var errMalformed = errors.New("malformed message of the cluster")

// Parse reads a message, which does not keep b. Ranges are not empty, and hits lie in their range,
// in ascending order.
func Parse(b []byte) (*Message, error) {
	m := new(Message)
	var hits, unchecked []byte
	for len(b) > 0 {
		field, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, errMalformed
		}
		b = b[n:]
		n = protowire.ConsumeFieldValue(field, typ, b)
		if n < 0 {
			return nil, errMalformed
		}
		value := b[:n]
		b = b[n:]
		ok := true
		switch typ {
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(value)
			ok = m.setNumber(field, v)
		case protowire.BytesType:
			v, _ := protowire.ConsumeBytes(value)
			switch field {
			case fHits:
				hits = v
			case fUnchecked:
				unchecked = v
			default:
				ok = m.setBytes(field, v)
			}
		default: // of a later version
		}
		if !ok {
			return nil, fmt.Errorf("%w: field %d", errMalformed, field)
		}
	}
	return m, m.ranges(hits, unchecked)
}

// ranges checks the range of a unit or an answer, and reads the hits, which have to lie in it in
// ascending order.
func (m *Message) ranges(hits, unchecked []byte) error {
	if m.Kind == Unit || m.Kind == Done {
		if m.From < 0 || m.To <= m.From || m.To-m.From > MaxHits {
			return fmt.Errorf("%w: heights", errMalformed)
		}
	}
	var ok1, ok2 bool
	m.Hits, ok1 = m.parseHeights(hits)
	m.Unchecked, ok2 = m.parseHeights(unchecked)
	if !ok1 || !ok2 {
		return fmt.Errorf("%w: hits", errMalformed)
	}
	return nil
}

func (m *Message) parseHeights(packed []byte) (list []int32, ok bool) {
	at := int64(m.From)
	for len(packed) > 0 {
		d, n := protowire.ConsumeVarint(packed)
		if n < 0 || d > MaxHits || d == 0 && len(list) > 0 {
			return nil, false
		}
		packed = packed[n:]
		if at += int64(d); at >= int64(m.To) {
			return nil, false
		}
		list = append(list, int32(at))
	}
	return list, true
}

// setNumber sets a field, unless it is unknown. It reports false for a value that cannot be.
func (m *Message) setNumber(field protowire.Number, v uint64) bool {
	small := v <= 1<<31-1
	switch field {
	case fKind:
		m.Kind = Kind(v)
	case fProtocols:
		if v == 0 || len(m.Protocols) >= maxVersions {
			return false
		}
		m.Protocols = append(m.Protocols, uint32(v))
	case fWorkers:
		m.Workers = uint32(v)
	case fHeight:
		h := protowire.DecodeZigZag(v)
		m.Height = int32(h)
		return h >= -1 && h <= 1<<31-1
	case fScan:
		m.Scan = v
		return true
	case fScripts:
		m.Scripts = uint32(v)
	case fChunks:
		m.Chunks = uint32(v)
	case fSize:
		m.Size = v
		return v < 1<<40
	case fIndex:
		m.Index = uint32(v)
	case fUnit:
		m.Unit = v
		return true
	case fFrom:
		m.From = int32(v)
	case fTo:
		m.To = int32(v)
	case fMicros:
		m.Micros = v
		return v < 1<<50
	default:
		m.setFlag(field, v != 0)
		return true
	}
	return small
}

func (m *Message) setFlag(field protowire.Number, v bool) {
	switch field {
	case fCheck:
		m.Check = v
	case fExact:
		m.Exact = v
	case fNeed:
		m.Need = v
	case fRetry:
		m.Retry = v
	default: // of a later version
	}
}

func (m *Message) setBytes(field protowire.Number, v []byte) bool {
	switch field {
	case fSession:
		return copy(m.Session[:], v) == len(m.Session) && len(v) == len(m.Session)
	case fSet:
		return copy(m.Set[:], v) == len(m.Set) && len(v) == len(m.Set)
	case fBlock:
		return copy(m.Block[:], v) == len(m.Block) && len(v) == len(m.Block)
	case fHeader:
		return copy(m.Header[:], v) == len(m.Header) && len(v) == len(m.Header)
	case fNetwork:
		m.Network = string(v)
		return len(v) <= maxText
	case fText:
		m.Text = strings.ToValidUTF8(string(v[:min(len(v), maxText)]), "")
	case fSource:
		m.Source = string(v)
		return len(v) <= maxText
	case fData:
		m.Data = append([]byte(nil), v...)
		return len(v) <= MaxChunk
	default: // of a later version
	}
	return true
}
