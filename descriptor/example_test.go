package descriptor_test

import (
	"context"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
)

// The first addresses of a wallet, from the text of its descriptor.
func ExampleDescriptor_ExpandRange() {
	net := descriptor.NetworkOf(&chaincfg.MainNetParams)
	const text = "wpkh(xpub6ERApfZwUNrhLCkDtcHTcxd75RbzS1ed54G1LkBUHQVHQKqhMkhgbmJbZRkrgZw4koxb5JaHWkY4ALHY2grBGRjaDMz" +
		"QLcgJvLJuZZvRcEL/<0;1>/*)"
	branches, err := descriptor.Parse(text, net, descriptor.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = branches[0].ExpandRange(context.Background(), 0, 2, 2, func(index uint32, scripts [][]byte) error {
		address, _ := descriptor.AddressOf(scripts[0], net)
		fmt.Println(index, address)
		return nil
	})
	fmt.Println(len(branches), err)
	// Output:
	// 0 bc1qxzv66jwlm5pphum53alctrsdr7stfahcs3g4zm
	// 1 bc1qlj6q3kwqtv7af02veey7nsn3x5x3uehd4qclpc
	// 2 bc1qwjxx4xqym6nzk870er3g22zmw56nzmx02m2s43
	// 2 <nil>
}
