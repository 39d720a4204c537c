package transport

import (
	"bytes"
	"encoding/csv"
	"encoding/hex"
	"os"
	"strconv"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ellswift"
)

// mainMagic is that of the network for which the vectors of BIP324 are.
var mainMagic = [4]byte{0xf9, 0xbe, 0xb4, 0xd9}

// vectors returns the rows of a file of BIP324 as functions from column to text.
func vectors(t *testing.T, name string) []func(string) string {
	t.Helper()
	f, err := os.Open("testdata/bip-0324-" + name + "_test_vectors.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := make(map[string]int)
	for i, title := range lines[0] {
		column[title] = i
	}
	var rows []func(string) string
	for _, line := range lines[1:] {
		rows = append(rows, func(title string) string {
			i, ok := column[title]
			if !ok {
				t.Fatalf("no column %s", title)
			}
			return line[i]
		})
	}
	return rows
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPacketVectors(t *testing.T) {
	for n, row := range vectors(t, "packet_encoding") {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			private, _ := btcec.PrivKeyFromBytes(unhex(t, row("in_priv_ours")))
			ours := [keyLen]byte(unhex(t, row("in_ellswift_ours")))
			theirs := [keyLen]byte(unhex(t, row("in_ellswift_theirs")))
			initiating := row("in_initiating") == "1"
			secret, err := ellswift.V2Ecdh(private, theirs, ours, initiating)
			if err != nil {
				t.Fatal(err)
			}
			s, err := newSession(secret[:], mainMagic, initiating)
			if err != nil {
				t.Fatal(err)
			}
			for _, check := range []struct {
				column string
				got    []byte
			}{
				{"mid_shared_secret", secret[:]},
				{"out_session_id", s.id[:]},
				{"mid_send_garbage_terminator", s.sendTerminator[:]},
				{"mid_recv_garbage_terminator", s.receiveTerminator[:]},
			} {
				if got := hex.EncodeToString(check.got); got != row(check.column) {
					t.Errorf("%s: got %s, want %s", check.column, got, row(check.column))
				}
			}
			checkPacket(t, &s.send, row)
		})
	}
}

// checkPacket encrypts the packet of a row after those before it.
func checkPacket(t *testing.T, send *direction, row func(string) string) {
	t.Helper()
	before, _ := strconv.Atoi(row("in_idx"))
	for range before {
		send.appendPacket(nil, nil, nil, false)
	}
	times, _ := strconv.Atoi(row("in_multiply"))
	contents := bytes.Repeat(unhex(t, row("in_contents")), times)
	packet := send.appendPacket(nil, contents, unhex(t, row("in_aad")), row("in_ignore") == "1")
	if want := row("out_ciphertext"); want != "" && hex.EncodeToString(packet) != want {
		t.Errorf("got %x, want %s", packet, want)
	}
	if end := unhex(t, row("out_ciphertext_endswith")); !bytes.HasSuffix(packet, end) {
		t.Errorf("got no end %x", end)
	}
}

// A key exchange with the secret key 1 shows what public key is decoded.
func TestEllswiftVectors(t *testing.T) {
	one, _ := btcec.PrivKeyFromBytes([]byte{31: 1})
	for _, row := range vectors(t, "ellswift_decode") {
		got, err := ellswift.EllswiftECDHXOnly([keyLen]byte(unhex(t, row("ellswift"))), one)
		if err != nil || hex.EncodeToString(got[:]) != row("x") {
			t.Errorf("%s: got %x, %v, want %s (%s)", row("ellswift"), got, err, row("x"), row("comment"))
		}
	}
}

func TestEllswiftInverseVectors(t *testing.T) {
	for _, row := range vectors(t, "xswiftec_inv") {
		for i := range 8 {
			var u, x btcec.FieldVal
			u.SetByteSlice(unhex(t, row("u")))
			x.SetByteSlice(unhex(t, row("x")))
			got := ""
			if v := ellswift.XSwiftECInv(&u, &x, i); v != nil {
				got = hex.EncodeToString(v.Normalize().Bytes()[:])
			}
			if want := row("case" + strconv.Itoa(i) + "_t"); got != want {
				t.Errorf("u %s, x %s, case %d: got %q, want %q", row("u"), row("x"), i, got, want)
			}
		}
	}
}
