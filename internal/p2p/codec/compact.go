package codec

import (
	"fmt"
	"io"
	"math"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// CmpctVersion is the version of compact blocks with witnesses; Core speaks no
// other (BIP152).
const CmpctVersion = 2

// ShortIDLen is the length of a transaction's short id, in bytes.
const ShortIDLen = 6

// A ShortID is what a compact block says of a transaction (BIP152): 48 bits.
type ShortID [ShortIDLen]byte

// SendCmpct says that its sender provides compact blocks.
type SendCmpct struct {
	HighBandwidth bool // send me compact blocks without asking
	Version       uint64

	Odd bool // what is read as HighBandwidth was neither 0 nor 1
}

// Command implements wire.Message.
func (*SendCmpct) Command() string { return CmdSendCmpct }

// MaxPayloadLength implements wire.Message.
func (*SendCmpct) MaxPayloadLength(uint32) uint32 { return MaxPayload }

// BtcDecode implements wire.Message.
func (m *SendCmpct) BtcDecode(r io.Reader, _ uint32, _ wire.MessageEncoding) error {
	return decodeReader(m, r)
}

func (m *SendCmpct) decode(c *cursor) {
	flag := c.uint8()
	m.HighBandwidth, m.Odd = flag != 0, flag > 1
	m.Version = c.uint64()
}

// BtcEncode implements wire.Message.
func (m *SendCmpct) BtcEncode(to io.Writer, _ uint32, _ wire.MessageEncoding) error {
	var w writer
	w.bool(m.HighBandwidth)
	w.uint64(m.Version)
	_, err := w.WriteTo(to)
	return err
}

// A PrefilledTx is a transaction that a compact block brings in full.
type PrefilledTx struct {
	Index int // in the block, which may not have so many
	Tx    *wire.MsgTx
}

// CmpctBlock is a block of whose transactions most are only named.
type CmpctBlock struct {
	Header    wire.BlockHeader
	Payload   []byte // what follows the header, on networks where something does
	Nonce     uint64 // part of the key of the short ids
	ShortIDs  []ShortID
	Prefilled []PrefilledTx // ascending

	headerLen HeaderLen
}

// Command implements wire.Message.
func (*CmpctBlock) Command() string { return CmdCmpctBlock }

// MaxPayloadLength implements wire.Message.
func (*CmpctBlock) MaxPayloadLength(uint32) uint32 { return MaxPayload }

// BtcDecode implements wire.Message.
func (m *CmpctBlock) BtcDecode(r io.Reader, _ uint32, _ wire.MessageEncoding) error {
	return decodeReader(m, r)
}

func (m *CmpctBlock) decode(c *cursor) {
	m.Header, m.Payload = c.header(m.headerLen)
	m.Nonce = c.uint64()
	m.ShortIDs = make([]ShortID, c.count(ShortIDLen))
	for i := range m.ShortIDs {
		c.read(m.ShortIDs[i][:])
	}
	m.Prefilled = make([]PrefilledTx, c.count(1+minTx))
	next := 0
	for i := range m.Prefilled {
		distance := c.compact()
		if distance > math.MaxUint16 {
			c.fail(errDistance)
		}
		m.Prefilled[i].Index = next + int(distance)
		m.Prefilled[i].Tx = c.tx()
		next = m.Prefilled[i].Index + 1
	}
	if len(m.ShortIDs)+len(m.Prefilled) > math.MaxUint16 {
		c.fail(errIndex)
	}
}

// BtcEncode implements wire.Message.
func (m *CmpctBlock) BtcEncode(to io.Writer, version uint32, enc wire.MessageEncoding) error {
	var w writer
	if err := m.Header.Serialize(&w); err != nil {
		return err
	}
	w.Write(m.Payload)
	w.uint64(m.Nonce)
	w.compact(uint64(len(m.ShortIDs)))
	for _, id := range m.ShortIDs {
		w.Write(id[:])
	}
	w.compact(uint64(len(m.Prefilled)))
	next := 0
	for _, p := range m.Prefilled {
		if err := w.index(p.Index, &next); err != nil {
			return err
		}
		if err := p.Tx.BtcEncode(&w, version, enc); err != nil {
			return err
		}
	}
	_, err := w.WriteTo(to)
	return err
}

// GetBlockTxn asks for the transactions of a compact block that are missing.
type GetBlockTxn struct {
	Block   chainhash.Hash
	Indexes []uint16 // ascending
}

// Command implements wire.Message.
func (*GetBlockTxn) Command() string { return CmdGetBlockTxn }

// MaxPayloadLength implements wire.Message.
func (*GetBlockTxn) MaxPayloadLength(uint32) uint32 { return MaxPayload }

// BtcDecode implements wire.Message.
func (m *GetBlockTxn) BtcDecode(r io.Reader, _ uint32, _ wire.MessageEncoding) error {
	return decodeReader(m, r)
}

func (m *GetBlockTxn) decode(c *cursor) {
	m.Block = c.hash()
	m.Indexes = make([]uint16, c.count(1))
	next := 0
	for i := range m.Indexes {
		m.Indexes[i] = c.index(&next)
	}
}

// BtcEncode implements wire.Message.
func (m *GetBlockTxn) BtcEncode(to io.Writer, _ uint32, _ wire.MessageEncoding) error {
	var w writer
	w.Write(m.Block[:])
	w.compact(uint64(len(m.Indexes)))
	next := 0
	for _, index := range m.Indexes {
		if err := w.index(int(index), &next); err != nil {
			return err
		}
	}
	_, err := w.WriteTo(to)
	return err
}

// BlockTxn is the answer to GetBlockTxn.
type BlockTxn struct {
	Block chainhash.Hash
	Txs   []*wire.MsgTx // as asked
}

// Command implements wire.Message.
func (*BlockTxn) Command() string { return CmdBlockTxn }

// MaxPayloadLength implements wire.Message.
func (*BlockTxn) MaxPayloadLength(uint32) uint32 { return MaxPayload }

// BtcDecode implements wire.Message.
func (m *BlockTxn) BtcDecode(r io.Reader, _ uint32, _ wire.MessageEncoding) error {
	return decodeReader(m, r)
}

func (m *BlockTxn) decode(c *cursor) {
	m.Block = c.hash()
	m.Txs = make([]*wire.MsgTx, c.count(minTx))
	for i := range m.Txs {
		m.Txs[i] = c.tx()
	}
}

// BtcEncode implements wire.Message.
func (m *BlockTxn) BtcEncode(to io.Writer, version uint32, enc wire.MessageEncoding) error {
	var w writer
	w.Write(m.Block[:])
	w.compact(uint64(len(m.Txs)))
	for _, tx := range m.Txs {
		if err := tx.BtcEncode(&w, version, enc); err != nil {
			return err
		}
	}
	_, err := w.WriteTo(to)
	return err
}

// errDistance reports a distance between transactions that is no number of 16 bits.
var errDistance = fmt.Errorf("%w: CompactSize exceeds limit of type", ErrMalformed)

// errIndex reports more transactions than a block can have.
var errIndex = fmt.Errorf("%w: indexes overflowed 16 bits", ErrMalformed)

// index reads the position of a transaction, which is written as the distance
// from the lowest possible position.
func (c *cursor) index(next *int) uint16 {
	n := uint64(*next) + c.size()
	if n > math.MaxUint16 {
		c.fail(errIndex)
		return 0
	}
	*next = int(n) + 1
	return uint16(n)
}

// index writes what cursor.index reads.
func (w *writer) index(index int, next *int) error {
	distance := index - *next
	if distance < 0 {
		return fmt.Errorf("index %d is not ascending", index)
	}
	w.compact(uint64(distance))
	*next = index + 1
	return nil
}
