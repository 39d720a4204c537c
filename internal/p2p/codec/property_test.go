package codec

import (
	"bytes"
	"errors"
	"runtime"
	"testing"

	"github.com/btcsuite/btcd/wire"
	"pgregory.net/rapid"
)

// btcd's compact numbers are the oracle for ours.
func TestCompactNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64().Draw(t, "n") >> rapid.IntRange(0, 63).Draw(t, "shift")
		var ours writer
		var theirs bytes.Buffer
		ours.compact(n)
		_ = wire.WriteVarInt(&theirs, 0, n)
		if !bytes.Equal(ours.Bytes(), theirs.Bytes()) {
			t.Errorf("%d: got %x, want %x", n, ours.Bytes(), theirs.Bytes())
		}

		b := rapid.SliceOfN(rapid.Byte(), 0, 10).Draw(t, "bytes")
		if rapid.Bool().Draw(t, "long") {
			b = append([]byte{rapid.ByteRange(0xfd, 0xff).Draw(t, "first")}, b...)
		}
		c := cursor{b: b}
		r := bytes.NewReader(b)
		got := c.compact()
		want, err := wire.ReadVarInt(r, 0)
		if (c.err == nil) != (err == nil) || err == nil && (got != want || len(c.b) != r.Len()) {
			t.Errorf("%x: got %d, %v, want %d, %v", b, got, c.err, want, err)
		}
	})
}

// Bytes that btcd decodes give the same transaction here, except for a witness
// that Core calls superfluous.
func TestTxIsThatOfBtcd(t *testing.T) {
	var raw bytes.Buffer
	_ = witnessTx().Serialize(&raw)
	rapid.Check(t, func(t *rapid.T) {
		b := bytes.Clone(raw.Bytes())
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			// A count of many bytes would make btcd, which believes it, slow.
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.ByteMax(0xfc).Draw(t, "to")
		}
		r := bytes.NewReader(b)
		want := new(wire.MsgTx)
		if want.Deserialize(r) != nil {
			return
		}
		c := cursor{b: b}
		got := c.tx()
		if errors.Is(c.err, errSuperfluousWitness) {
			return
		}
		if c.err != nil || len(c.b) != r.Len() {
			t.Fatalf("%x: %v, %d bytes left, want %d", b, c.err, len(c.b), r.Len())
		}
		if got.WitnessHash() != want.WitnessHash() || got.HasWitness() != want.HasWitness() {
			t.Errorf("%x: another transaction", b)
		}
	})
}

// A count costs what its payload could hold, not what it says.
func TestMemoryIsBounded(t *testing.T) {
	many := unhex("fe00000002") // 32 Mi
	// btcd keeps one buffer of 4 MiB for scripts, taken at the first transaction.
	var raw bytes.Buffer
	_ = witnessTx().Serialize(&raw)
	_ = Decode(New("tx"), raw.Bytes(), ProtocolVersion)
	for _, command := range []string{
		"inv", "addr", "addrv2", "headers", "blocktxn", "getblocktxn", "cmpctblock", "tx",
		"block", "cfheaders", "getheaders",
	} {
		for _, offset := range []int{0, 4, 32, 65, 80, 88} {
			payload := append(make([]byte, offset), append(bytes.Clone(many), make([]byte, 1000)...)...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_ = Decode(New(command), payload, ProtocolVersion)
			runtime.ReadMemStats(&after)
			if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<20 {
				t.Errorf("%s, count at %d: took %d bytes", command, offset, taken)
			}
		}
	}
}
