package psbt_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	btcutil "github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/wire"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// genTx makes transactions without signatures.
func genTx(t *rapid.T) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	for range rapid.IntRange(0, 3).Draw(t, "inputs") {
		at := wire.OutPoint{Index: rapid.Uint32().Draw(t, "index")}
		tx.AddTxIn(wire.NewTxIn(&at, nil, nil))
	}
	for range rapid.IntRange(0, 3).Draw(t, "outputs") {
		tx.AddTxOut(wire.NewTxOut(rapid.Int64().Draw(t, "value"), rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "script")))
	}
	return tx
}

// Packets written by btcutil's psbt are read, with all their fields.
func TestReadsBtcutil(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tx := genTx(t)
		packet, err := btcutil.NewFromUnsignedTx(tx)
		if err != nil {
			t.Fatal(err)
		}
		script := rapid.SliceOfN(rapid.Byte(), 1, 20)
		for i := range packet.Inputs {
			packet.Inputs[i].RedeemScript = script.Draw(t, "redeem script")
			packet.Inputs[i].WitnessUtxo = wire.NewTxOut(rapid.Int64Min(0).Draw(t, "value"), script.Draw(t, "script"))
		}
		for i := range packet.Outputs {
			packet.Outputs[i].WitnessScript = script.Draw(t, "witness script")
		}
		text, err := packet.B64Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := psbt.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		if got.Tx.TxHash() != tx.TxHash() || len(got.Inputs) != len(tx.TxIn) || len(got.Outputs) != len(tx.TxOut) {
			t.Fatalf("got %v with %d inputs and %d outputs", got.Tx, len(got.Inputs), len(got.Outputs))
		}
		for i, input := range got.Inputs {
			redeem, _ := input.One(psbt.RedeemScript)
			raw, _ := input.One(psbt.WitnessUTXO)
			utxo := psbt.NewValue(raw).Output()
			want := packet.Inputs[i]
			if !bytes.Equal(redeem, want.RedeemScript) || utxo.Value != want.WitnessUtxo.Value ||
				!bytes.Equal(utxo.PkScript, want.WitnessUtxo.PkScript) {
				t.Errorf("input %d: got %x, %+v", i, redeem, utxo)
			}
		}
		for i, output := range got.Outputs {
			if script, _ := output.One(psbt.OutWitnessScript); !bytes.Equal(script, packet.Outputs[i].WitnessScript) {
				t.Errorf("output %d: got %x", i, script)
			}
		}
	})
}

// point is the x coordinate of a point of the curve.
var point = func() []byte {
	_, public := btcec.PrivKeyFromBytes([]byte{1})
	return schnorr.SerializePubKey(public)
}()

// tapDerivation is a PSBT whose input has a taproot derivation with so many
// leaves.
func tapDerivation(leaves uint64) string {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{}, nil, nil))
	var raw, unsigned, value bytes.Buffer
	_ = tx.SerializeNoWitness(&unsigned)
	raw.WriteString("psbt\xff\x01\x00")
	_ = wire.WriteVarBytes(&raw, 0, unsigned.Bytes())
	raw.WriteByte(0)
	_ = wire.WriteVarBytes(&raw, 0, append([]byte{0x16}, point...))
	value.WriteByte(0xff)
	_ = binary.Write(&value, binary.LittleEndian, leaves)
	value.WriteString("fing")
	_ = wire.WriteVarBytes(&raw, 0, value.Bytes())
	raw.WriteByte(0)
	return base64.StdEncoding.EncodeToString(raw.Bytes())
}

// A count that nothing backs is an error, however large it is.
func TestCountsAreBounded(t *testing.T) {
	for _, leaves := range []uint64{1 << 32, 1 << 59, 1<<64 - 1} {
		if _, err := psbt.Decode(tapDerivation(leaves)); err == nil ||
			!strings.Contains(err.Error(), "ReadCompactSize(): size too large") {
			t.Errorf("%d leaves: %v", leaves, err)
		}
	}
}

// encoded is the PSBT of a packet, as its fields say it.
func encoded(p *psbt.Packet) []byte {
	raw := bytes.NewBufferString("psbt\xff")
	for _, m := range psbt.MapsOf(p) {
		for _, e := range m {
			_ = wire.WriteVarBytes(raw, 0, e.Key)
			_ = wire.WriteVarBytes(raw, 0, e.Value)
		}
		raw.WriteByte(0)
	}
	return raw.Bytes()
}

// FuzzDecode: no bytes make it panic, and the fields of a packet make the same
// packet again.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("psbt\xff"))
	f.Add([]byte(inOutput + "\x00"))
	for _, field := range []string{
		"\x01\x01\x09" + zeros[:9],
		"\x01\x08\x03\x01\x01\x00",
		"\x21\x16" + string(point) + "\x25\x01" + zeros[:36],
		"\x43\x1b" + zeros[:33] + pubKey + "\x42" + zeros[:66],
		"\x63\x1c" + pubKey + ones[:33] + zeros[:32] + "\x20" + zeros[:32],
	} {
		f.Add([]byte(inInput + field + "\x00\x00"))
	}
	for _, text := range append(
		readPublished(f)["bip370"].Valid,
		tapDerivation(1<<59),
		"cHNidP8BAHUCAAAAASaBcTce3/KF6Tet7qSze3gADAVmy7OtZGQXE8pCFxv2AAAAAAD+////AtPf9QUAAAAAGXapFNDFmQPFusKGh2DpD9UhpGZa"+
			"p2UgiKwA4fUFAAAAABepFDVF5uM7gyxHBQ8k0+65PJwDlIvHh7MuEwAAAQD9pQEBAAAAAAECiaPHHqtNIOA3G7ukzGmPopXJRjr6Ljl/"+
			"hTPMti+VZ+UBAAAAFxYAFL4Y0VKpsBIDna89p95PUzSe7LmF/////4b4qkOnHf8USIk6UwpyN+9rRgi7st0tAXHmOuxqSJC0AQAAABcWABT+Pp7"+
			"xp0XpdNkCxDVZQ6vLNL1TU/////8CAMLrCwAAAAAZdqkUhc/xCX/Z4Ai7NK9wnGIZeziXikiIrHL++E4sAAAAF6kUM5cluiHv1irHU6m80GfWx6"+
			"ajnQWHAkcwRAIgJxK+IuAnDzlPVoMR3HyppolwuAJf3TskAinwf4pfOiQCIAGLONfc0xTnNMkna9b7QPZzMlvEuqFEyADS8vAtsnZcASED0uFWd"+
			"JQbrUqZY3LLh+GFbTZSYG2YVi/jnF6efkE/IQUCSDBFAiEA0SuFLYXc2WHS9fSrZgZU327tzHlMDDPOXMMJ/7X85Y0CIGczio4OFyXBl/"+
			"saiK9Z9R5E5CVbIBZ8hoQDHAXR8lkqASECI7cr7vCWXRC+B3jv7NYfysb3mk6haTkzgHNEZPhPKrMAAAAAAAAA",
	) {
		raw, _ := base64.StdEncoding.DecodeString(text)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		text := base64.StdEncoding.EncodeToString(raw)
		p, err := psbt.Decode(text)
		if err != nil {
			return
		}
		if len(p.Inputs) != len(p.Tx.TxIn) || len(p.Outputs) != len(p.Tx.TxOut) {
			t.Errorf("%d inputs and %d outputs for %v", len(p.Inputs), len(p.Outputs), p.Tx)
		}
		if other, err := psbt.DecodeCore32(text); err == nil && !bytes.Equal(encoded(other), encoded(p)) {
			t.Errorf("%x is %x, and with the errors of Core 32 %x", raw, encoded(p), encoded(other))
		}
		again, err := psbt.Decode(base64.StdEncoding.EncodeToString(encoded(p)))
		if err != nil || !bytes.Equal(encoded(again), encoded(p)) {
			t.Errorf("%x becomes %x: %v", raw, encoded(p), err)
		}
	})
}
