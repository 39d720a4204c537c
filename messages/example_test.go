package messages_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/messages"
)

// Requests are values that [trawl.Ask] sends to an actor of a node. The type of a request
// determines the type of its answer, and errors can be told apart.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "trawl")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	node, err := trawl.Open(ctx, trawl.Config{Dir: dir, Chain: "regtest"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Close(ctx)

	mined, err := trawl.Ask(ctx, node.Chain(), messages.Generate{Script: []byte{0x51}, Count: 3, Tries: 1_000_000})
	fmt.Println(len(mined), err)
	tip, err := trawl.Ask(ctx, node.Chain(), messages.GetTip{})
	fmt.Println(tip.Height, tip.Hash == mined[2], err)

	_, err = trawl.Ask(ctx, node.Chain(), messages.InvalidateBlock{})
	fmt.Println(errors.Is(err, messages.ErrBlockNotFound))
	_, err = trawl.Ask(ctx, node.Chain(), messages.SubmitBlock{Raw: []byte("no block")})
	if reject, ok := errors.AsType[*messages.RejectError](err); ok {
		fmt.Println(reject.Reason)
	}
	_, err = trawl.Ask(ctx, node.Scanner(), messages.ReserveScan{}) // without Config.BlockFilterIndex
	fmt.Println(errors.Is(err, trawl.ErrAbsent))
	// Output:
	// 3 <nil>
	// 3 true <nil>
	// true
	// bad-block
	// true
}
