package codec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/btcsuite/btcd/wire"
)

// blockForms are payloads of blocks, right and wrong: witnesses, none, a flag that
// nobody knows, superfluous witnesses, no inputs, bytes after the end.
func blockForms() map[string][]byte {
	header := make([]byte, wire.MaxBlockHeaderPayload)
	block := func(txs ...[]byte) []byte {
		return append(append(bytes.Clone(header), byte(len(txs))), bytes.Join(txs, nil)...)
	}
	tx := func(witness ...[]byte) []byte {
		m := wire.NewMsgTx(2)
		m.AddTxIn(&wire.TxIn{SignatureScript: []byte{1, 2}, Witness: witness})
		m.AddTxIn(&wire.TxIn{})
		m.AddTxOut(wire.NewTxOut(5, bytes.Repeat([]byte{0x51}, 300)))
		var b bytes.Buffer
		_ = m.Serialize(&b)
		return b.Bytes()
	}
	flagged := tx([]byte{1})
	flagged[5] = 2
	both := tx([]byte{1})
	both[5] = 3
	empty := binary.LittleEndian.AppendUint32(nil, 1) // version, no inputs, no flag, lock time
	empty = append(empty, 0, 0, 0, 0, 0, 0)
	superfluous := append(binary.LittleEndian.AppendUint32(nil, 1), 0, 1, 0, 0, 0, 0, 0, 0)
	large := append(bytes.Clone(header), 0xfe, 0xff, 0xff, 0xff, 0x7f)
	long := append(bytes.Clone(header), 0xfd, 1, 0) // one transaction, in a longer form
	return map[string][]byte{
		"none": block(), "plain": block(tx()), "witness": block(tx([]byte{1}, nil, []byte{2, 3})),
		"two": block(tx(), tx([]byte{7})), "flag": block(flagged), "flags": block(both), "empty": block(empty),
		"superfluous": block(superfluous), "after": append(block(tx()), 1, 2, 3), "large": large,
		"long": append(long, tx()...), "short": header[:79],
	}
}

// sameAsRead holds a payload that is passed over against the same when it is read.
func sameAsRead(payload []byte) error {
	var passed Block
	err := Decode(&passed, payload, ProtocolVersion)
	read := new(wire.MsgBlock)
	want := Decode(read, payload, ProtocolVersion)
	if fmt.Sprint(err) != fmt.Sprint(want) {
		return fmt.Errorf("passed over: %w, read: %w", err, want)
	}
	if err != nil {
		if passed.Raw != nil {
			return fmt.Errorf("%d bytes of a malformed block", len(passed.Raw))
		}
		return nil
	}
	if n := read.SerializeSize(); len(passed.Raw) != n || !bytes.Equal(passed.Raw, payload[:n]) {
		return fmt.Errorf("%d bytes passed over, %d read", len(passed.Raw), n)
	}
	return nil
}

func TestBlockForms(t *testing.T) {
	for name, payload := range blockForms() {
		for n := range len(payload) + 1 {
			if err := sameAsRead(payload[:n]); err != nil {
				t.Fatalf("%s, %d bytes of %d: %v", name, n, len(payload), err)
			}
		}
	}
}

// A block is not copied: what a peer sends costs its length once.
func TestBlockIsNotCopied(t *testing.T) {
	payload := blockForms()["two"]
	var m Block
	if allocs := testing.AllocsPerRun(10, func() { _ = decodePayload(&m, payload) }); allocs > 1 {
		t.Errorf("%v allocations", allocs)
	}
	if len(m.Raw) != len(payload) || &m.Raw[0] != &payload[0] || cap(m.Raw) != len(m.Raw) {
		t.Error("the block is a copy, or runs on")
	}
}

// FuzzBlock holds what passes over a block against what reads it.
func FuzzBlock(f *testing.F) {
	for _, payload := range blockForms() {
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		if err := sameAsRead(payload); err != nil {
			t.Error(err)
		}
	})
}
