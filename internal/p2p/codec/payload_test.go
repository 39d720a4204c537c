package codec_test

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/codec"
)

// headerLen is that of a network on which headers of version 7 have four bytes more.
func headerLen(raw []byte) int {
	const more = 4
	if len(raw) == 0 || raw[0] != 7 {
		return wire.MaxBlockHeaderPayload
	}
	if len(raw) < wire.MaxBlockHeaderPayload+more {
		return -1
	}
	return wire.MaxBlockHeaderPayload + more
}

// payloadMessages have a header with something after it and one without.
func payloadMessages() map[string]wire.Message {
	with, without := wire.BlockHeader{Version: 7}, wire.BlockHeader{Version: 1}
	payload := []byte{1, 2, 3, 4}
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{SignatureScript: []byte{1, 2}})
	tx.AddTxOut(wire.NewTxOut(5, []byte{0x51}))
	return map[string]wire.Message{
		"headers": &codec.Headers{
			List: []wire.BlockHeader{without, with, without}, Payloads: [][]byte{nil, payload, nil},
		},
		"block": &codec.Block{Raw: rawBlock(with, payload, tx)},
		"cmpctblock": &codec.CmpctBlock{
			Header: with, Payload: payload, Nonce: 9, ShortIDs: []codec.ShortID{{1}},
			Prefilled: []codec.PrefilledTx{{Tx: tx}},
		},
	}
}

func TestPayloadsAfterHeaders(t *testing.T) {
	make := codec.NewWith(headerLen)
	for command, m := range payloadMessages() {
		raw, err := codec.Encode(m, codec.ProtocolVersion)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(raw, []byte{1, 2, 3, 4}) {
			t.Errorf("%s: payload left out of %x", command, raw)
		}
		got := make(command)
		if err := codec.Decode(got, raw, codec.ProtocolVersion); err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		again, err := codec.Encode(got, codec.ProtocolVersion)
		if err != nil || !bytes.Equal(raw, again) {
			t.Errorf("%s: %x, %v, want %x", command, again, err, raw)
		}
		for n := range raw {
			if err := codec.Decode(make(command), raw[:n], codec.ProtocolVersion); err == nil {
				t.Errorf("%s: %d of %d bytes are enough", command, n, len(raw))
			}
		}
	}
	if got, want := make(wire.CmdPing), codec.New(wire.CmdPing); reflect.TypeOf(got) != reflect.TypeOf(want) {
		t.Errorf("got %T, want %T", got, want)
	}
}

// rawBlock serializes a block with something after its header.
func rawBlock(h wire.BlockHeader, payload []byte, txs ...*wire.MsgTx) []byte {
	var b bytes.Buffer // takes everything
	_ = h.Serialize(&b)
	b.Write(payload)
	_ = wire.WriteVarInt(&b, 0, uint64(len(txs)))
	for _, tx := range txs {
		_ = tx.Serialize(&b)
	}
	return b.Bytes()
}

// FuzzPayload reads messages of such a network.
func FuzzPayload(f *testing.F) {
	for command, m := range payloadMessages() {
		raw, err := codec.Encode(m, codec.ProtocolVersion)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(command, hex.EncodeToString(raw))
	}
	f.Fuzz(func(t *testing.T, command, text string) {
		raw, err := hex.DecodeString(text)
		m := codec.NewWith(headerLen)(command)
		if err != nil || m == nil || codec.Decode(m, raw, codec.ProtocolVersion) != nil {
			return
		}
		if _, err := codec.Encode(m, codec.ProtocolVersion); err != nil {
			t.Error(err)
		}
	})
}
