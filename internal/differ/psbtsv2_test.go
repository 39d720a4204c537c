package differ_test

import (
	"bytes"
	"encoding/binary"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// version2 makes a PSBT of version 2 (BIP370), whose inputs spend outputs of a transaction.
func (x psbts) version2(previous *wire.MsgTx) []byte {
	inputs, outputs := x.IntN(3), x.IntN(3)
	raw := bytes.NewBufferString("psbt\xff")
	count := func(n int) []byte { return []byte{byte(n + x.IntN(40)/39)} }
	x.likely(raw, byte(psbt.Version), x.number(uint32([...]int{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 3}[x.IntN(14)])))
	x.likely(raw, 0x02, x.number(uint32(1+x.IntN(3))))
	x.likely(raw, 0x04, count(inputs))
	x.likely(raw, 0x05, count(outputs))
	if x.IntN(40) == 0 {
		x.field(raw, []byte{byte(psbt.UnsignedTx)}, serialized(wire.NewMsgTx(2).SerializeNoWitness))
	}
	x.sometimes(raw, x.optionalGlobal)
	x.fields(raw, x.global)
	for range inputs {
		id := previous.TxHash()
		x.likely(raw, 0x0e, id[:])
		x.likely(raw, 0x0f, x.number(uint32(x.IntN(len(previous.TxOut)))))
		x.sometimes(raw, x.optionalInput)
		x.fields(raw, func() ([]byte, []byte) { return x.input(previous) })
	}
	for range outputs {
		x.likely(raw, 0x03, binary.LittleEndian.AppendUint64(nil, uint64(x.Int64()>>(x.IntN(40)+10))))
		x.likely(raw, 0x04, x.script())
		x.fields(raw, x.output)
	}
	return raw.Bytes()
}

func (x psbts) number(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }

// likely writes a field that has to be there, in most cases.
func (x psbts) likely(raw *bytes.Buffer, kind byte, value []byte) {
	if x.IntN(60) > 0 {
		x.field(raw, []byte{kind}, value)
	}
}

// sometimes writes fields that may be there, of each type one at most.
func (x psbts) sometimes(raw *bytes.Buffer, next func() (key, value []byte)) {
	seen := map[string]bool{}
	for range x.IntN(4) {
		if key, value := next(); !seen[string(key)] {
			seen[string(key)] = true
			x.field(raw, key, value)
		}
	}
}

func (x psbts) optionalGlobal() (key, value []byte) {
	if x.IntN(2) == 0 {
		return []byte{0x03}, x.number(x.lockTime())
	}
	return []byte{0x06}, []byte{byte(x.IntN(10))}
}

func (x psbts) optionalInput() (key, value []byte) {
	switch x.IntN(3) {
	case 0:
		return []byte{0x10}, x.number(x.Uint32() >> x.IntN(32))
	case 1:
		return []byte{0x11}, x.number(max(x.lockTime(), uint32(x.IntN(9)/8*txscript.LockTimeThreshold)))
	default:
		return []byte{0x12}, x.number(x.lockTime())
	}
}

// lockTime is a height or a time, near the limit between both at times.
func (x psbts) lockTime() uint32 {
	const limit = txscript.LockTimeThreshold
	return [...]uint32{0, 1, uint32(x.IntN(1000)), limit - 1, limit, 1_700_000_000}[x.IntN(6)]
}

// describeV2 tells of a packet of version 2 what its creator may: lock times that inputs require, and what may change.
func (x *rolePlay) describeV2(p *psbt.Packet) {
	if x.IntN(3) == 0 {
		p.Global.Put(psbt.TxModifiable, nil, []byte{byte(x.IntN(8))})
	}
	if x.IntN(4) == 0 {
		p.Global.Drop(psbt.FallbackLockTime)
	}
	for i := range p.Inputs {
		in := &p.Inputs[i]
		if x.IntN(4) == 0 {
			in.Drop(psbt.Sequence)
		}
		if x.IntN(8) == 0 {
			in.Put(psbt.HeightLock, nil, x.number(uint32(1+x.IntN(30))))
		}
		if x.IntN(8) == 0 {
			in.Put(psbt.TimeLock, nil, x.number(uint32(txscript.LockTimeThreshold+x.IntN(30))))
		}
	}
}
