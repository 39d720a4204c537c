package wire_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"iter"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/actors/cluster/wire"
)

// message returns any message that may be sent.
func message(t *rapid.T) *wire.Message {
	m := &wire.Message{
		Kind:      wire.Kind(rapid.Uint32Range(1, 20).Draw(t, "kind")),
		Protocols: rapid.SliceOfN(rapid.Uint32Range(1, 1<<31-1), 0, 16).Draw(t, "protocols"),
		Network:   rapid.StringN(0, 20, 256).Draw(t, "network"), Text: rapid.StringN(0, 20, 256).Draw(t, "text"),
		Workers: rapid.Uint32Range(0, 1<<31-1).Draw(t, "workers"), Height: rapid.Int32Min(-1).Draw(t, "height"),
		Scan: rapid.Uint64().Draw(t, "scan"), Unit: rapid.Uint64().Draw(t, "unit"),
		Scripts: rapid.Uint32Range(0, 1<<31-1).Draw(t, "scripts"),
		Chunks:  rapid.Uint32Range(0, 1<<31-1).Draw(t, "chunks"),
		Size:    rapid.Uint64Range(0, 1<<40-1).Draw(t, "size"), Micros: rapid.Uint64Range(0, 1<<50-1).Draw(t, "micros"),
		Check: rapid.Bool().Draw(t, "check"), Exact: rapid.Bool().Draw(t, "exact"), Need: rapid.Bool().Draw(t, "need"),
		Source: rapid.StringN(0, 20, 256).Draw(t, "source"),
		Retry:  rapid.Bool().Draw(t, "retry"), Index: rapid.Uint32Range(0, 1<<31-1).Draw(t, "index"),
		From: rapid.Int32Range(0, 1<<30).Draw(t, "from"),
	}
	if data := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "data"); len(data) > 0 {
		m.Data = data
	}
	if len(m.Protocols) == 0 {
		m.Protocols = nil
	}
	for _, h := range []*[32]byte{&m.Set, &m.Block, &m.Header} {
		copy(h[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "hash"))
	}
	copy(m.Session[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "session"))
	m.To = m.From + rapid.Int32Range(1, wire.MaxHits).Draw(t, "heights")
	m.Hits, m.Unchecked = within(t, m), within(t, m)
	return m
}

func within(t *rapid.T, m *wire.Message) []int32 {
	list := rapid.SliceOfNDistinct(rapid.Int32Range(m.From, m.To-1), 0, 20, rapid.ID[int32]).Draw(t, "hits")
	slices.Sort(list)
	if len(list) == 0 {
		return nil
	}
	return list
}

// Messages arrive as they were sent, even with fields of a later version.
func TestParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := message(t)
		b := m.Append(nil)
		b = protowire.AppendVarint(protowire.AppendTag(b, 900, protowire.VarintType), 7)
		b = protowire.AppendBytes(protowire.AppendTag(b, 901, protowire.BytesType), []byte("later"))
		b = protowire.AppendFixed64(protowire.AppendTag(b, 902, protowire.Fixed64Type), 1)
		got, err := wire.Parse(b)
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, m)
		}
	})
}

// Impossible messages are refused, and truncated messages give no part of a
// field.
func TestParseRefuses(t *testing.T) {
	hits := func(from, to int32, list ...int32) *wire.Message {
		return &wire.Message{Kind: wire.Done, From: from, To: to, Hits: list}
	}
	for name, m := range map[string]*wire.Message{
		"a hit above":       hits(10, 20, 20),
		"a hit far above":   hits(10, 20, 10, 1<<20),
		"a hit twice":       hits(10, 20, 12, 12),
		"a hit below":       hits(10, 20, 9),
		"no heights":        hits(10, 10),
		"heights backwards": {Kind: wire.Unit, From: 10, To: 9},
		"too many heights":  {Kind: wire.Unit, To: wire.MaxHits + 1},
		"negative heights":  {Kind: wire.Unit, From: -2, To: -1},
		"unchecked above":   {Kind: wire.Done, From: 1, To: 2, Unchecked: []int32{2}},
		"a large chunk":     {Kind: wire.Chunk, Data: make([]byte, wire.MaxChunk+1)},
		"a long source":     {Kind: wire.Open, Source: string(make([]byte, 257))},
		"a long network":    {Kind: wire.Hello, Network: string(make([]byte, 257))},
		"many protocols":    {Kind: wire.Hello, Protocols: slices.Repeat([]uint32{1}, 17)},
		"a height below -1": {Kind: wire.Welcome, Height: -2},
		"a huge set":        {Kind: wire.Open, Size: 1 << 40},
	} {
		if got, err := wire.Parse(m.Append(nil)); err == nil && !slices.Equal(got.Hits, m.Hits) || err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	full := (&wire.Message{Kind: wire.Hello, Network: "regtest"}).Append(nil)
	for n := range full {
		if m, err := wire.Parse(full[:n]); err == nil && m.Network != "" {
			t.Errorf("%d bytes of %d: %+v", n, len(full), m)
		}
	}
}

// Parsed fields hold no more items than the input has bytes, and a parsed message
// survives encoding and parsing unchanged.
func FuzzParse(f *testing.F) {
	done := wire.Message{Kind: wire.Done, From: 5, To: 500, Hits: []int32{5, 7, 499}, Unchecked: []int32{6}}
	f.Add(done.Append(nil))
	f.Add((&wire.Message{Kind: wire.Open, Scripts: 3, Chunks: 1, Size: 99, To: 7, Check: true}).Append(nil))
	f.Add((&wire.Message{Kind: wire.Hello, Protocols: []uint32{1, 2}, Network: "main", Text: "v"}).Append(nil))
	f.Add([]byte{8, 1, 0xff})
	f.Add([]byte{8, 1, 3 << 3, 0}) // protocol 0
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := wire.Parse(b)
		if err != nil {
			return
		}
		if len(m.Hits)+len(m.Unchecked)+len(m.Data) > len(b) {
			t.Errorf("%d bytes became %d hits, %d bytes", len(b), len(m.Hits)+len(m.Unchecked), len(m.Data))
		}
		again, err := wire.Parse(m.Append(nil))
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Errorf("%+v became %+v, %v", m, again, err)
		}
	})
}

// reused yields scripts as a query does: each is overwritten by the next.
func reused(scripts [][]byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var buf []byte
		for _, script := range scripts {
			clear(buf)
			if buf = append(buf[:0], script...); !yield(buf) {
				return
			}
		}
	}
}

// Scripts arrive as they were cut, and nothing else does.
func TestScripts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scripts := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 60), 1, 50).Draw(t, "scripts")
		if rapid.Bool().Draw(t, "long") {
			for range 4 {
				scripts = append(scripts, make([]byte, rapid.IntRange(0, wire.MaxScript).Draw(t, "length")))
			}
		}
		set, ok := wire.NewSet(func(n int) iter.Seq[[]byte] { return reused(scripts[n:]) })
		if !ok || set.Scripts() != len(scripts) {
			t.Fatal(ok)
		}
		var chunks [][]byte
		h, size := sha256.New(), 0
		for i := range set.Chunks() {
			chunk := set.AppendChunk([]byte{7}, i)[1:]
			if len(chunk) == 0 || len(chunk) > wire.MaxChunk {
				t.Errorf("a chunk of %d bytes", len(chunk))
			}
			h.Write(chunk)
			size += len(chunk)
			chunks = append(chunks, chunk)
		}
		if [32]byte(h.Sum(nil)) != set.Digest || uint64(size) != set.Size {
			t.Error("another digest or size")
		}
		got, err := wire.Scripts(chunks, set.Digest, uint32(len(scripts)))
		if err != nil || !slices.EqualFunc(slices.Collect(got), scripts, bytes.Equal) {
			t.Error(err)
		}
		for range got { // it may be left
			break
		}
		if _, err := wire.Scripts(chunks, set.Digest, uint32(len(scripts)+1)); !errors.Is(err, wire.ErrScripts) {
			t.Error(err)
		}
		chunks[0][0] ^= 1
		if _, err := wire.Scripts(chunks, set.Digest, uint32(len(scripts))); !errors.Is(err, wire.ErrScripts) {
			t.Error(err)
		}
	})
	long := slices.Values([][]byte{make([]byte, wire.MaxScript+1)})
	if _, ok := wire.NewSet(func(int) iter.Seq[[]byte] { return long }); ok {
		t.Error("a script that no chunk holds")
	}
	short := []byte{5, 1}
	if _, err := wire.Scripts([][]byte{short}, sha256.Sum256(short), 1); !errors.Is(err, wire.ErrScripts) {
		t.Error(err)
	}
}
