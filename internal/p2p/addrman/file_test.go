package addrman_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/addrman"
)

var magic = [4]byte{0xfa, 0xbf, 0xb5, 0xda}

// many returns a manager with addresses in both tables.
func many(n int) *addrman.Manager {
	m := addrman.New(nil)
	for n := range n {
		m.Add(addressOf(nth(n), now), nth(n+1), 2*time.Hour, now)
		if n%3 == 0 {
			m.Good(nth(n), now)
		}
	}
	return m
}

// A written file reads back the same, places in the tables included; damage is
// seen.
func TestFile(t *testing.T) {
	m := many(500)
	file := m.Marshal(magic)
	again, err := addrman.Parse(file, magic, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shown(again), shown(m); !slices.Equal(got, want) {
		t.Errorf("got %d places, want %d", len(got), len(want))
	}
	for at := 0; at < len(file); at += 997 {
		bad := bytes.Clone(file)
		bad[at] ^= 1
		if _, err := addrman.Parse(bad, magic, nil); err == nil {
			t.Errorf("damage at %d is not seen", at)
		}
		if _, err := addrman.Parse(file[:at], magic, nil); err == nil {
			t.Errorf("%d bytes are enough", at)
		}
	}
}

// shown are places in words, without the time of the last try, which no file keeps.
func shown(m *addrman.Manager) (lines []string) {
	m.Places(func(p addrman.Place) {
		table := "new"
		if p.Tried {
			table = "tried"
		}
		lines = append(lines, fmt.Sprintf(
			"%s %d/%d %v %d %d %s", table, p.Bucket, p.Position, p.Addr, p.Services, p.Seen.Unix(), p.Source.Host(),
		))
	})
	slices.Sort(lines)
	return lines
}

// A file of Bitcoin Core is read with every address in Core's own place, which
// getrawaddrman has reported. The file that is then written has the same places and
// size, so that Core finds every address.
func TestCoreFile(t *testing.T) {
	file, err := os.ReadFile("testdata/core.dat")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/core.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]any
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, row := range rows {
		host := row[2].(string)
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		want = append(
			want, fmt.Sprintf("%s %s %s:%.0f %.0f %.0f %s", row[0], row[1], host, row[3], row[5], row[6], row[7]),
		)
	}
	slices.Sort(want)
	m, err := addrman.Parse(file, magic, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := shown(m); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	written := m.Marshal(magic)
	again, err := addrman.Parse(written, magic, nil)
	if err != nil || !slices.Equal(shown(again), want) {
		t.Errorf("read again: %v", err)
	}
	if len(written) != len(file) {
		t.Errorf("%d bytes written of %d", len(written), len(file))
	}
}

// made makes a file as Core's own test of its addresses does.
func made(change func(b []byte) []byte) []byte {
	b := append(magic[:], 4, 32+4, 1)
	b = append(b, make([]byte, 31)...)
	le := binary.LittleEndian
	b = le.AppendUint32(le.AppendUint32(b, 0), 0)
	b = le.AppendUint32(b, 1024^1<<30)
	b = append(b, make([]byte, 4*1024+32)...)
	return addrman.Sign(change(b))
}

// at puts bytes in the place of others.
func at(offset int, values ...byte) func([]byte) []byte {
	return func(b []byte) []byte { return append(append(b[:offset:offset], values...), b[offset+len(values):]...) }
}

func TestFileErrors(t *testing.T) {
	same := func(b []byte) []byte { return b }
	sized := func(n int32, offset int) func([]byte) []byte {
		return at(offset, binary.LittleEndian.AppendUint32(nil, uint32(n))...)
	}
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty table", made(same), ""},
		{"without the map's checksum", made(func(b []byte) []byte { return at(4, 1)(b)[:len(b)-32] }), ""},
		{"of format 0", made(func(b []byte) []byte { return sized(1024, 46)(at(4, 0)(b))[:len(b)-32] }), ""},
		{"too short", made(same)[:4210-1], "AutoFile::read: end of file: iostream error"},
		{"nothing", nil, "AutoFile::read: end of file: iostream error"},
		{"other network", made(at(0, 1)), "Invalid network magic number"},
		{"low compat", made(at(5, 0)), "Corrupted addrman database: The compat value (0) is lower than the expected " +
			"minimum value 32.: iostream error"},
		{"checksum", append(made(same)[:4178], bytes.Repeat([]byte("ab"), 16)...), "Checksum mismatch, data corrupted"},
		{"nNew", made(sized(-1, 38)), "Corrupt AddrMan serialization: nNew=-1, should be in [0, 65536]: iostream error"},
		{"large nNew", made(sized(65537, 38)), "Corrupt AddrMan serialization: nNew=65537, should be in [0, 65536]: iostream error"},
		{"nTried", made(sized(-1, 42)), "Corrupt AddrMan serialization: nTried=-1, should be in [0, 16384]: iostream error"},
		{"large nTried", made(sized(16385, 42)), "Corrupt AddrMan serialization: nTried=16385, should be in [0, 16384]: iostream error"},
		{"no key", made(at(6, 0)), "Corrupt data. Consistency check failed with code -16: iostream error"},
		{"many in a bucket", made(sized(1<<30, 50)), "AutoFile::read: end of file: iostream error"},
		{"many buckets", made(sized(1<<30-1, 46)), "AutoFile::read: end of file: iostream error"},
		{"entries that are not there", made(sized(65536, 38)), "Unsupported CAddress disk format version: iostream error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := addrman.Parse(test.file, magic, nil)
			if got := fmt.Sprint(err); got != test.want && (test.want != "" || err != nil) {
				t.Errorf("got %v", err)
			}
			if err == nil && m.Len() != 0 {
				t.Errorf("%d addresses", m.Len())
			}
		})
	}
	if _, err := addrman.Parse(made(at(5, 32+111)), magic, nil); !errors.Is(err, addrman.ErrVersion) {
		t.Errorf("of a later format: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	file := many(5).Marshal(magic)
	f.Add(file[:len(file)-32])
	f.Add(file[:70])
	core, err := os.ReadFile("testdata/core.dat")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(core[:len(core)-32])
	f.Fuzz(func(t *testing.T, file []byte) {
		// else none passes the checksum
		for _, content := range [][]byte{file, addrman.Sign(file), addrman.SignOld(file)} {
			m, err := addrman.Parse(content, magic, nil)
			if err != nil {
				continue
			}
			if err := m.Check(); err != nil {
				t.Error(err)
			}
			again, err := addrman.Parse(m.Marshal(magic), magic, nil)
			if err != nil || again.Len() != m.Len() {
				t.Errorf("read back: %v", err)
			}
		}
	})
}
