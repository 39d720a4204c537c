package filters_test

import (
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
)

// A filter is built of the scripts of a block, and asked for scripts that somebody watches.
func Example() {
	block := chainhash.Hash{1} // the key of its filter
	var builder filters.Builder
	filter := builder.Build(&block, [][]byte{{0x51}, {0x52}, {0x53}})

	for _, watched := range [][][]byte{{{0x52}}, {{0x60}, {0x53}}, {{0x61}}} {
		found, err := filters.Match(&block, filter, watched)
		fmt.Println(found, err)
	}
	hash := filters.Hash(filter)
	fmt.Println("header", filters.Header(&hash, &chainhash.Hash{}))
	_, err := filters.Decode(filter[:len(filter)-1])
	fmt.Println(errors.Is(err, filters.ErrBadFilter))
	// Output:
	// true <nil>
	// true <nil>
	// false <nil>
	// header 08f540509ff9a726baf02f0a7bf8506a413fe04329b6c36f62bf171da1a5adc7
	// true
}
