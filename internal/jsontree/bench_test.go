package jsontree

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkParse reads the largest kind of request there is: a scan for
// 10,000 descriptors.
func BenchmarkParse(b *testing.B) {
	var text strings.Builder
	text.WriteString(`{"jsonrpc":"2.0","id":1,"method":"scanblocks","params":["start",[`)
	for i := range 10_000 {
		fmt.Fprintf(&text, `"raw(0014%040x)#abcdefgh",`, i)
	}
	text.WriteString(`"raw(51)"],0]}`)
	src := []byte(text.String())
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(src); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppend writes a reply of 10,000 block hashes.
func BenchmarkAppend(b *testing.B) {
	type result struct {
		From   int32    `json:"from_height"`
		Blocks []string `json:"relevant_blocks"`
	}
	r := result{Blocks: make([]string, 10_000)}
	for i := range r.Blocks {
		r.Blocks[i] = strings.Repeat("0", 64)
	}
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		var err error
		if dst, err = Append(dst[:0], r); err != nil {
			b.Fatal(err)
		}
	}
}
