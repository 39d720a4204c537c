package dialect

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/btcsuite/btcd/wire"
)

// P2MR are the consensus rules of chains that pay to P2MR outputs and can be
// mined together with another chain. A height is that of the first block that a
// rule holds for.
type P2MR struct {
	ChainID uint16 // in the version of merge-mined blocks

	Difficulty    Difficulty
	MinDifficulty bool    // a block long after its parent may be easy
	Anchors       Anchors // targets to begin with
	SubsidyStep   int32   // blocks between reductions

	Spends       int32 // P2MR scripts are executed
	WeightV2     int32 // a signature takes 3683 of the validation budget, before 3730
	FutureTimeV2 int32 // blocks may be 600 s ahead of the clock, before 7200 s
	OuterWitness int32 // outputs of witness versions 3 to 16 may be made
	Cadence      int32 // lanes, and the layout of the version
	BIP30        int32 // no transaction may repeat one with unspent outputs
	DisplayOrder int32 // merge-mined blocks are named in display order, before in byte order
}

// How far a block may be ahead of the clock, in seconds, and what a signature takes
// of a spend's validation budget; before and after the rules' second versions.
const (
	MaxFutureV1 = 7200
	MaxFutureV2 = 600
	SigWeightV1 = 3730
	SigWeightV2 = 3683
)

// MaxFuture returns how many seconds a block at height may be ahead of the clock.
func (p *P2MR) MaxFuture(height int32) int64 {
	if height >= p.FutureTimeV2 {
		return MaxFutureV2
	}
	return MaxFutureV1
}

// Never is the height of a rule that does not come.
const Never int32 = math.MaxInt32

// Difficulty says how the target of a block is found.
type Difficulty uint8

// The ways.
const (
	FixedDifficulty Difficulty = iota // that of the parent
	ASERT                             // exponential, by lane
)

// Anchors are the compact targets that each lane begins with.
type Anchors struct{ Permissionless, AuxPoW uint32 }

// Choices are what regtests and signets leave to their operator.
type Choices struct {
	SignetChallenge []byte // output script that blocks of a signet are signed for; nil: the public one's

	Activation  map[string]int32       // of regtests: heights of rules by the names of -testactivationheight
	VersionBits map[string]VersionBits // of regtests: signalling by the names of -vbparams

	BIP94        bool   // of regtests: the rules against time warps hold (-test=bip94)
	BlockVersion *int32 // of regtests: that of blocks made here (-blockversion)

	// The rest is for regtests of P2MR chains.
	AnyOutput bool // outputs need not be P2MR (-p2mronly=0)
	ASERT     bool // targets as on the other networks (-asert)
}

// MayPayTo reports whether the chain allows an output of a block at height to have
// a script: any, or on restricted chains P2MR, pay-to-anchor, scripts that nobody can
// spend, and later rules' witness programs from their height on.
func (n *Network) MayPayTo(script []byte, height int32) bool {
	const (
		opReturn, p2mrLen      = 0x6a, 2 + 32
		op2, op3, op16, push32 = 0x52, 0x53, 0x60, 32
	)
	switch {
	case !n.P2MROnly, bytes.Equal(script, anchor):
		return true
	case len(script) == 0:
		return false
	case script[0] == opReturn:
		return true
	case script[0] == op2:
		return len(script) == p2mrLen && script[1] == push32
	}
	return height >= n.P2MR.OuterWitness && script[0] >= op3 && script[0] <= op16 &&
		len(script) >= 4 && len(script) <= 42 && int(script[1]) == len(script)-2
}

// anchor is the output script of pay-to-anchor.
var anchor = []byte{0x51, 0x02, 0x4e, 0x73}

// auxPoW tells from a block's version whether it is merge-mined: then a payload
// follows the header.
func auxPoW(version uint32) bool { return version>>29 == 1 && version&(1<<8) != 0 }

// IsAuxPoW reports whether a block is merge-mined, so that a payload follows
// its header wherever that is serialized.
func (*P2MR) IsAuxPoW(header *wire.BlockHeader) bool { return auxPoW(uint32(header.Version)) }

// auxHeaderLen returns the length of a header with its payload, if it has one.
// It believes no length that the bytes do not back.
func auxHeaderLen(raw []byte) int {
	if len(raw) < wire.MaxBlockHeaderPayload || !auxPoW(binary.LittleEndian.Uint32(raw)) {
		return wire.MaxBlockHeaderPayload
	}
	s := skipper{raw: raw, at: wire.MaxBlockHeaderPayload}
	s.tx()
	s.skip(32 * s.size()) // coinbase branch
	s.skip(4)             // its index
	s.skip(32 * s.size()) // chain branch
	s.skip(4 + wire.MaxBlockHeaderPayload)
	if s.at > len(raw) {
		return -1
	}
	return s.at
}

// A skipper steps over serialized data. Behind the end it stays behind it.
type skipper struct {
	raw []byte
	at  int
}

func (s *skipper) skip(n int) {
	if n < 0 || n > len(s.raw)-s.at || s.at > len(s.raw) {
		s.at = len(s.raw) + 1
		return
	}
	s.at += n
}

// size reads a compact size; one that the rest cannot hold ends the walk.
func (s *skipper) size() int {
	if s.at >= len(s.raw) {
		s.skip(1)
		return 0
	}
	first := s.raw[s.at]
	s.skip(1)
	var width int
	switch first {
	case 0xfd:
		width = 2
	case 0xfe:
		width = 4
	case 0xff:
		width = 8
	default:
		return int(first)
	}
	from := s.at
	s.skip(width)
	if s.at > len(s.raw) {
		return 0
	}
	var n uint64
	for i := width - 1; i >= 0; i-- {
		n = n<<8 | uint64(s.raw[from+i])
	}
	if n > uint64(len(s.raw)) || !canonical(n, width) {
		s.at = len(s.raw) + 1
		return 0
	}
	return int(n)
}

// canonical reports whether a number needs a width of so many bytes.
func canonical(n uint64, width int) bool {
	switch width {
	case 2:
		return n >= 0xfd
	case 4:
		return n > math.MaxUint16
	default:
		return n > math.MaxUint32
	}
}

// tx skips a transaction without witnesses.
func (s *skipper) tx() {
	s.skip(4)
	for n := s.size(); n > 0 && s.at <= len(s.raw); n-- {
		s.skip(36)
		s.skip(s.size())
		s.skip(4)
	}
	for n := s.size(); n > 0 && s.at <= len(s.raw); n-- {
		s.skip(8)
		s.skip(s.size())
	}
	s.skip(4)
}
