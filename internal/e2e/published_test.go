package e2e_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/e2e"
)

// A subscriber that speaks ZMTP hears from a daemon of each block and transaction, with the same data as
// from the methods. Messages are numbered by topic without a hole. A later subscriber hears of later
// events.
func TestPublished(t *testing.T) {
	t.Parallel()
	topics := []string{"hashblock", "hashtx", "rawblock", "rawtx", "sequence"}
	at := "tcp://" + e2e.FreeAddr(t)
	args := []string{"-acceptnonstdtxn=1"}
	for _, topic := range topics {
		args = append(args, "-zmqpub"+topic+"="+at)
	}
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: args})
	var listed []struct {
		Type, Address string
		HWM           int
	}
	d.Get(&listed, "getzmqnotifications")
	if len(listed) != len(topics) {
		t.Errorf("%d topics are listed", len(listed))
	}
	for i, l := range listed {
		if l.Type != "pub"+topics[i] || l.Address != at || l.HWM != 1000 {
			t.Errorf("listed is %+v", l)
		}
	}
	some := newHearer(t, d, at, "hashblock")
	all := newHearer(t, d, at)
	var hashes []string
	d.Get(&hashes, "generatetodescriptor", 101, everybodys)
	for _, hash := range hashes {
		all.block(hash, 'C')
		some.until("hashblock", hexBytes(t, hash))
	}

	txid := spendFirst(t, d, hashes[0])
	var raw string
	d.Get(&raw, "getrawtransaction", txid)
	all.expect("hashtx", hexBytes(t, txid))
	all.expect("rawtx", hexBytes(t, raw))
	all.expect("sequence", binary.LittleEndian.AppendUint64(append(hexBytes(t, txid), 'A'), 1))

	var tip []string
	d.Get(&tip, "generatetodescriptor", 1, everybodys)
	all.until("hashblock", hexBytes(t, tip[0]))
	some.until("hashblock", hexBytes(t, tip[0]))
	d.Get(nil, "invalidateblock", tip[0])
	all.until("sequence", append(hexBytes(t, tip[0]), 'D'))

	late := newHearer(t, d, at, "rawblock")
	d.Get(&tip, "generatetodescriptor", 1, another)
	var block string
	d.Get(&block, "getblock", tip[0], 0)
	late.until("rawblock", hexBytes(t, block))
}

// spendFirst puts a transaction that spends the coinbase of a block into the pool.
func spendFirst(t *testing.T, d *e2e.Daemon, hash string) (txid string) {
	t.Helper()
	var block struct{ Tx []string }
	d.Get(&block, "getblock", hash)
	from, err := chainhash.NewHashFromStr(block.Tx[0])
	if err != nil {
		t.Fatal(err)
	}
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: *from}})
	tx.AddTxOut(wire.NewTxOut(49e8, append([]byte{0, 20}, make([]byte, 20)...)))
	tx.AddTxOut(wire.NewTxOut(0.99e8, append([]byte{0, 32}, make([]byte, 32)...)))
	var raw bytes.Buffer
	if err := tx.Serialize(&raw); err != nil {
		t.Fatal(err)
	}
	d.Get(&txid, "sendrawtransaction", hex.EncodeToString(raw.Bytes()))
	return txid
}

// hexBytes are the bytes of a hexadecimal text: a hash is published in the order in which it is shown.
func hexBytes(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// another is a script for replacement blocks: a block mined again at once to the same script may be the
// same as before.
const another = "raw(52)"

// A hearer is a subscriber that knows which number comes next.
type hearer struct {
	t    *testing.T
	d    *e2e.Daemon
	from *e2e.ZMQSubscriber
	next map[string]uint32 // by topic; only topics that it has heard of
}

// newHearer returns a subscriber of topics, of all without any, that has heard of a block: before, its
// subscription may not have arrived.
func newHearer(t *testing.T, d *e2e.Daemon, at string, topics ...string) *hearer {
	t.Helper()
	if len(topics) == 0 {
		topics = []string{""}
	}
	from, err := e2e.DialZMQ(at, topics...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = from.Close() })
	h := &hearer{t: t, d: d, from: from, next: map[string]uint32{}}
	var m e2e.ZMQMessage
	e2e.Eventually(t, time.Minute, "a message comes", func() bool {
		d.Get(nil, "generatetodescriptor", 1, another)
		m, err = from.Next(100 * time.Millisecond)
		return err == nil
	})
	h.count(&m)
	var last []string
	d.Get(&last, "generatetodescriptor", 1, another)
	if topics[0] == "hashblock" {
		h.until("hashblock", hexBytes(t, last[0]))
		return h
	}
	var block string // what is published of it last
	d.Get(&block, "getblock", last[0], 0)
	h.until("rawblock", hexBytes(t, block))
	return h
}

// count holds the number of a message against the last one of its topic.
func (h *hearer) count(m *e2e.ZMQMessage) {
	h.t.Helper()
	if want, known := h.next[m.Topic]; known && m.Number != want {
		h.t.Errorf("number %d of %s, want %d", m.Number, m.Topic, want)
	}
	h.next[m.Topic] = m.Number + 1
}

func (h *hearer) hear() e2e.ZMQMessage {
	h.t.Helper()
	m, err := h.from.Next(time.Minute)
	if err != nil {
		h.t.Fatal(err)
	}
	h.count(&m)
	return m
}

// expect reads the next message.
func (h *hearer) expect(topic string, body []byte) {
	h.t.Helper()
	if m := h.hear(); m.Topic != topic || !bytes.Equal(m.Body, body) {
		h.t.Fatalf("%s %x, want %s %x", m.Topic, m.Body, topic, body)
	}
}

// until reads up to a message.
func (h *hearer) until(topic string, body []byte) {
	h.t.Helper()
	for {
		if m := h.hear(); m.Topic == topic && bytes.Equal(m.Body, body) {
			return
		}
	}
}

// block reads what is published of a block that has a coinbase alone.
func (h *hearer) block(hash string, label byte) {
	h.t.Helper()
	var raw string
	var block struct{ Tx []string }
	h.d.Get(&raw, "getblock", hash, 0)
	h.d.Get(&block, "getblock", hash, 1)
	want := map[string][]byte{
		"hashblock": hexBytes(h.t, hash), "rawblock": hexBytes(h.t, raw), "hashtx": hexBytes(h.t, block.Tx[0]),
		"sequence": append(hexBytes(h.t, hash), label),
	}
	for range 5 {
		m := h.hear()
		if body, known := want[m.Topic]; known && !bytes.Equal(m.Body, body) {
			h.t.Fatalf("%s %x, want %x", m.Topic, m.Body, body)
		}
	}
}
