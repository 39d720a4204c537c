package dump_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/internal/walletfile/dump"
)

// written is the text of records.
func written(tb testing.TB, records []walletfile.Record) string {
	tb.Helper()
	var text strings.Builder
	d, err := dump.NewWriter(&text, dump.SQLite)
	for _, r := range records {
		if err == nil {
			err = d.Put(r)
		}
	}
	if err == nil {
		err = d.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return text.String()
}

// read returns the records of a text.
func read(r io.Reader) (records []walletfile.Record, err error) {
	d, err := dump.NewReader(r, "tool")
	if err != nil {
		return nil, err
	}
	err = d.Each(func(r walletfile.Record) error {
		records = append(records, walletfile.Record{Key: bytes.Clone(r.Key), Value: bytes.Clone(r.Value)})
		return nil
	})
	return records, err
}

func same(a, b walletfile.Record) bool {
	return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value)
}

// The form is Core's, and records come back as they were, however few bytes are read at a time.
func TestText(t *testing.T) {
	records := []walletfile.Record{
		{Key: []byte{2}, Value: bytes.Repeat([]byte{0xab}, 100_000)}, {Key: []byte("\x04name"), Value: []byte{0}},
	}
	text := written(t, records)
	// The sum was computed by sha256sum over what stands before it.
	const want = "BITCOIN_CORE_WALLET_DUMP,1\nformat,sqlite\n046e616d65,00\n" +
		"checksum,d7c16f012e0307e356242d19fa49ac1abd6aaea98cc415ca3213235c39dfed87\n"
	if got := written(t, records[1:]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
		if got, err := read(r); err != nil || !slices.EqualFunc(got, records, same) {
			t.Errorf("%d records, %v", len(got), err)
		}
	}
}

// Errors of the source, of the destination and of who takes the records are passed on.
func TestFailures(t *testing.T) {
	broken := errors.New("broken")
	text := written(t, []walletfile.Record{{Key: []byte{1}, Value: []byte{1}}, {Key: []byte{2}, Value: []byte{2}}})
	for n := range len(text) {
		r := io.MultiReader(strings.NewReader(text[:n]), iotest.ErrReader(broken))
		if _, err := read(r); !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	d, err := dump.NewReader(strings.NewReader(text), "tool")
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	if err := d.Each(func(walletfile.Record) error { calls++; return broken }); !errors.Is(err, broken) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	for n := range 4 {
		w := &failing{left: n, err: broken}
		d, err := dump.NewWriter(w, dump.SQLite)
		for range 2 {
			if err == nil {
				err = d.Put(walletfile.Record{Key: []byte{1}, Value: []byte{1}})
			}
		}
		if err == nil {
			err = d.Close()
		}
		if !errors.Is(err, broken) {
			t.Errorf("write %d: %v", n, err)
		}
	}
}

// failing takes a number of writes.
type failing struct {
	left int
	err  error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, f.err
	}
	return len(p), nil
}

// endless has no comma and no end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// A line without an end takes no more memory than a record may have.
func TestEndless(t *testing.T) {
	_, err := read(endless{})
	if err == nil || err.Error() != "Error: A record of the dumpfile is too long" {
		t.Error(err)
	}
}

// No text makes the reader panic. The records of a text that is accepted are written and read again as they were.
func FuzzReader(f *testing.F) {
	f.Add(written(f, nil))
	f.Add(written(f, []walletfile.Record{{Key: []byte{1}, Value: []byte{2}}, {Key: []byte{1}, Value: []byte{3}}}))
	f.Add("BITCOIN_CORE_WALLET_DUMP,1\nformat,sqlite\n,\nchecksum,00\n")
	f.Fuzz(func(t *testing.T, text string) {
		whole, err := read(strings.NewReader(text))
		slow, again := read(iotest.OneByteReader(strings.NewReader(text)))
		if fmt.Sprint(err) != fmt.Sprint(again) || !slices.EqualFunc(whole, slow, same) {
			t.Fatalf("%v and %v", err, again)
		}
		if err != nil {
			return
		}
		for _, r := range whole {
			if len(r.Key) == 0 || len(r.Value) == 0 {
				t.Fatalf("record %v", r)
			}
		}
		if got, err := read(strings.NewReader(written(t, whole))); err != nil || !slices.EqualFunc(got, whole, same) {
			t.Fatalf("%v, %v", got, err)
		}
		if !strings.Contains(text, "checksum,") {
			t.Fatal("accepted without a checksum")
		}
	})
}
