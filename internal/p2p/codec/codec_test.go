package codec

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// host returns an address.
func host(text string) netaddr.Addr {
	a, err := netaddr.Parse(text, 8333)
	if err != nil {
		panic(err)
	}
	return a
}

// witnessTx is a transaction with a witness.
func witnessTx() *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{SignatureScript: []byte{}, Witness: wire.TxWitness{{1}, {}}, Sequence: 5})
	tx.AddTxOut(&wire.TxOut{Value: 7, PkScript: []byte{0x51}})
	return tx
}

// samples are messages, one or more of each kind of ours.
func samples() []wire.Message {
	genesis := chaincfg.RegressionNetParams.GenesisBlock
	return []wire.Message{
		&Version{
			Protocol: 70016, Services: 9, Time: 1, YourServices: 1, You: host("1.2.3.4"), Nonce: 3,
			UserAgent: "/x:1/", StartHeight: 9, NoTransactions: true,
		},
		&Addresses{List: []Address{{1, 9, host("1.2.3.4")}, {2, 1, host("[2000::1]:1")}}},
		&Addresses{V2: true, List: []Address{
			{1, 1 << 40, host("1.2.3.4")},
			{2, 1, host("pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion")},
		}},
		&Headers{List: []wire.BlockHeader{genesis.Header, genesis.Header}},
		&SendCmpct{HighBandwidth: true, Version: CmpctVersion},
		&CmpctBlock{
			Header: genesis.Header, Nonce: 8, ShortIDs: []ShortID{{1}, {2}},
			Prefilled: []PrefilledTx{{0, genesis.Transactions[0]}, {3, witnessTx()}},
		},
		&GetBlockTxn{Block: chainhash.Hash{1}, Indexes: []uint16{0, 1, 5, 65535}},
		&BlockTxn{Block: chainhash.Hash{1}, Txs: []*wire.MsgTx{witnessTx(), genesis.Transactions[0]}},
		&SendTxRcncl{1, 2},
		genesis,
		witnessTx(),
		wire.NewMsgPing(7),
		&wire.MsgGetHeaders{ProtocolVersion: 70016, BlockLocatorHashes: []*chainhash.Hash{{1}}},
		&wire.MsgInv{InvList: []*wire.InvVect{{Type: wire.InvTypeTx}}},
	}
}

func TestRoundTrips(t *testing.T) {
	for _, m := range samples() {
		payload, err := Encode(m, ProtocolVersion)
		if err != nil {
			t.Fatal(err)
		}
		got := New(m.Command())
		if err := Decode(got, payload, ProtocolVersion); err != nil {
			t.Errorf("%s: %v", m.Command(), err)
		}
		if again, err := Encode(got, ProtocolVersion); err != nil || !bytes.Equal(again, payload) {
			t.Errorf("%s: got %x, want %x", m.Command(), again, payload)
		}
		if v, ok := m.(*Version); ok && !reflect.DeepEqual(got, v) {
			t.Errorf("got %+v, want %+v", got, v)
		}
		if len(payload) == 0 {
			continue
		}
		if err := Decode(New(m.Command()), payload[:len(payload)-1], ProtocolVersion); err == nil {
			if _, ok := m.(*Version); !ok { // its last byte is optional
				t.Errorf("%s: read a payload without its end", m.Command())
			}
		}
		if err := Decode(New(m.Command()), append(payload, 0xff), ProtocolVersion); err != nil {
			t.Errorf("%s: refused a byte more, which Core does not look at: %v", m.Command(), err)
		}
	}
}

// We read the payload that btcd writes, and the other way round.
func TestVersionIsThatOfBtcd(t *testing.T) {
	ours := samples()[0].(*Version)
	payload, _ := Encode(ours, ProtocolVersion)
	var theirs wire.MsgVersion
	if err := theirs.BtcDecode(bytes.NewBuffer(payload), 70013, wire.BaseEncoding); err != nil {
		t.Fatal(err)
	}
	if theirs.UserAgent != ours.UserAgent || theirs.Nonce != ours.Nonce || theirs.LastBlock != ours.StartHeight ||
		!theirs.DisableRelayTx || theirs.AddrYou.IP.String() != "1.2.3.4" || theirs.AddrYou.Port != 8333 {
		t.Errorf("got %+v", theirs)
	}
}

// Versions end early in old protocols; Core gives the missing fields defaults.
func TestShortVersions(t *testing.T) {
	full := &Version{Protocol: 70016, Nonce: 3, UserAgent: "/x/", StartHeight: 9, NoTransactions: true}
	payload, _ := Encode(full, ProtocolVersion)
	tests := []struct {
		size int
		want string // nonce, user agent, height, relay; empty: refused
	}{
		{45, ""},
		{46, "1  -1 true"},
		{47, ""},
		{80, "3  -1 true"},
		{81, ""},
		{84, "3 /x/ -1 true"},
		{88, "3 /x/ 9 true"},
		{89, "3 /x/ 9 false"},
	}
	for _, test := range tests {
		var v Version
		err := Decode(&v, payload[:test.size], 0)
		got := fmt.Sprint(v.Nonce, " ", v.UserAgent, " ", v.StartHeight, " ", !v.NoTransactions)
		if (err == nil) != (test.want != "") || err == nil && got != test.want {
			t.Errorf("%d bytes: got %s, %v, want %s", test.size, got, err, test.want)
		}
	}
}

// counted returns a payload of a count and that many equal entries.
func counted(start string, count uint64, size int) []byte {
	var w writer
	b, _ := hex.DecodeString(start)
	w.Write(b)
	w.compact(count)
	w.Write(make([]byte, int(count)*size))
	return w.Bytes()
}

// A notfound is read as long as it answers what a peer can have been asked for; of a longer
// one no entry counts.
func TestLongNotFound(t *testing.T) {
	for _, n := range []uint64{0, 1, 5016, 5017, 50_000, 50_001, 111_000} {
		var m wire.MsgNotFound
		err := Decode(&m, counted("", n, 36), 70016)
		want := int(n)
		if n > 5016 {
			want = 0
		}
		if err != nil || len(m.InvList) != want {
			t.Errorf("%d entries: %d are read, %v", n, len(m.InvList), err)
		}
	}
}

func TestHostilePayloads(t *testing.T) {
	huge := "ffffffffffffffff7f"
	many := "fe00000002" // 32 Mi, the most that Core reads as a count
	tests := []struct {
		name, command string
		payload       []byte
		want          error
		text          string
	}{
		{"too many inv", "inv", counted("", 50_001, 36), ErrMisbehaving, "inv message size = 50001"},
		{"enough inv", "inv", counted("", 50_000, 36), nil, ""},
		{"too many getdata", "getdata", counted("", 50_001, 36), ErrMisbehaving, "getdata message size = 50001"},
		{"too many notfound", "notfound", counted("", 50_001, 36), nil, ""},
		{"all that fit of notfound", "notfound", counted("", 111_000, 36), nil, ""},
		{"notfound that is not there", "notfound", counted("", 50_001, 36)[:50_000*36], ErrMalformed, "end of data"},
		{"too many cfheaders", "cfheaders", counted(strings.Repeat("00", 65), 2001, 32), nil, ""},
		{"too many cfcheckpt", "cfcheckpt", counted(strings.Repeat("00", 33), 100_001, 32), nil, ""},
		{"too many addr", "addr", counted("", 1001, 30), ErrMisbehaving, "addr message size = 1001"},
		{"too many addr, cut", "addr", counted("", 1001, 30)[:30_000], ErrMalformed, "end of data"},
		{"too many headers", "headers", []byte{0xfd, 0xd1, 7}, ErrMisbehaving, "headers message size = 2001"},
		{"enough headers", "headers", counted("", 2000, 81), nil, ""},
		{"too long a locator", "getheaders", counted("80110100", 102, 32), ErrLocator, "getheaders locator size 102 > 101"},
		{"a long locator", "getheaders", append(counted("80110100", 101, 32), make([]byte, 32)...), nil, ""},
		{"no addrv2", "addrv2", nil, ErrMalformed, "end of data"},
		{"too long a host", "addrv2", slices.Concat(
			[]byte{1, 0, 0, 0, 0, 1, 1, 0xfd, 1, 2}, make([]byte, 515),
		), ErrMalformed, "Address too long: 513 > 512"},
		{"a count that no data backs", "inv", []byte{0xfd, 0xff, 0xff}, ErrMalformed, "end of data"},
		{"a huge count", "addr", unhex(huge), ErrMalformed, "size too large"},
		{"the largest count", "blocktxn", append(make([]byte, 32), unhex(many)...), ErrMalformed, "end of data"},
		{"a count written long", "headers", []byte{0xfd, 1, 0}, ErrMalformed, "non-canonical"},
		{"inputs that are not there", "tx", unhex("02000000" + many), ErrMalformed, "end of data"},
		{"witness items that are not there", "tx", unhex("020000000001" + "01" + strings.Repeat("00", 36) + "00ffffffff" +
			"01" + strings.Repeat("00", 8) + "00" + many + "00000000"), ErrMalformed, "end of data"},
		{"a witness that is empty", "tx", unhex("020000000001" + "01" + strings.Repeat("00", 36) + "00ffffffff" +
			"01" + strings.Repeat("00", 8) + "00" + "00" + "00000000"), ErrMalformed, "Superfluous witness record"},
		{
			"an unknown flag", "tx", unhex("020000000002" + "01" + strings.Repeat("00", 36) + "00" + "ffffffff" + "00" + "00000000"),
			ErrMalformed, "Unknown transaction optional data",
		},
		{"a witness without inputs", "tx", unhex("02000000" + "0001" + "00" + "00" + "00000000"), ErrMalformed, "Superfluous witness record"},
		{"transactions that are not there", "block", append(make([]byte, 80), unhex(many)...), ErrMalformed, "end of data"},
		{"short ids that are not there", "cmpctblock", append(make([]byte, 88), unhex(many)...), ErrMalformed, "end of data"},
		{"an index of 17 bits", "getblocktxn", append(make([]byte, 32), unhex("02fdffff00")...), ErrMalformed, "indexes overflowed 16 bits"},
		{"a user agent too long", "version", slices.Concat(
			make([]byte, 80), []byte{0xfd, 1, 1}, make([]byte, 300),
		), ErrMalformed, "String length limit exceeded"},
		{"a short ping", "ping", make([]byte, 7), ErrMalformed, "end of data"},
		{"a short verack", "verack", nil, nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := Decode(New(test.command), test.payload, ProtocolVersion)
			if !errors.Is(err, test.want) || err != nil && !strings.Contains(err.Error(), test.text) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func unhex(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}

// Core looks at no number of transactions in headers.
func TestHeadersWithTransactions(t *testing.T) {
	payload := append([]byte{1}, make([]byte, 80)...)
	var m Headers
	if err := Decode(&m, append(payload, 5), ProtocolVersion); err != nil || len(m.List) != 1 {
		t.Errorf("got %v", err)
	}
}

func TestEveryMessageIsKnown(t *testing.T) {
	if !slices.IsSorted(known) {
		t.Error("the names are not sorted")
	}
	for command := range makers {
		if m := New(command); m.Command() != command || !IsKnown(command, ProtocolVersion) {
			t.Errorf("%s makes %s", command, m.Command())
		}
	}
	if New("merkleblock") != nil || IsKnown("reject", ProtocolVersion) || len(Commands()) != 35 {
		t.Error("more is known than should be")
	}
}

// FuzzDecode reads any payload as any message. A decoded message can be written,
// and reads back the same.
func FuzzDecode(f *testing.F) {
	commands := Commands()
	for _, m := range samples() {
		payload, err := Encode(m, ProtocolVersion)
		if err != nil {
			f.Fatal(err)
		}
		i, _ := slices.BinarySearch(commands, m.Command())
		f.Add(uint8(i), payload)
	}
	for i := range commands {
		f.Add(uint8(i), []byte{})
	}
	f.Fuzz(func(t *testing.T, i uint8, payload []byte) {
		command := commands[int(i)%len(commands)]
		m := New(command)
		if m == nil || Decode(m, payload, ProtocolVersion) != nil {
			return
		}
		once, err := Encode(m, ProtocolVersion)
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		again := New(command)
		if err := Decode(again, once, ProtocolVersion); err != nil {
			t.Fatalf("%s: %x became %x: %v", command, payload, once, err)
		}
		if twice, _ := Encode(again, ProtocolVersion); !bytes.Equal(once, twice) {
			t.Errorf("%s: %x, then %x", command, once, twice)
		}
	})
}

// A transaction without inputs and outputs is one, and what has no inputs but outputs
// is read as one with witnesses: so does Core, which refuses it then.
func TestEmptyTx(t *testing.T) {
	m := new(wire.MsgTx)
	if err := Decode(m, unhex("02000000"+"0000"+"07000000"), ProtocolVersion); err != nil {
		t.Fatal(err)
	}
	if len(m.TxIn)+len(m.TxOut) != 0 || m.Version != 2 || m.LockTime != 7 {
		t.Errorf("got %+v", m)
	}
}
