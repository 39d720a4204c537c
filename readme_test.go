package trawl_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/messages"
)

// README shows this function as it is.
func follow(
	ctx context.Context, cfg trawl.Config, desc string, last messages.BlockID, save func(messages.BlockID) error,
) error {
	node, err := trawl.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer node.Close(context.WithoutCancel(ctx))
	mine, err := descriptor.ScriptSet(ctx, desc, node.Descriptors(), 0, 999)
	if err != nil {
		return err
	}
	return node.Follow(ctx, last, func(step messages.ChainStep) error {
		for _, b := range step.Disconnected {
			fmt.Println("no longer in the chain:", b.Height, b.Hash)
		}
		for _, b := range step.Connected {
			block, err := node.Blocks().Read(ctx, b.Hash)
			if err != nil {
				return err
			}
			for _, p := range mine.Outputs(block) {
				fmt.Println(b.Height, p.TxID, p.Output, p.Amount)
			}
		}
		return save(step.Last) // where the next run goes on
	})
}

// A program that follows the chain and reads the transactions that pay a descriptor.
func ExampleNode_Follow() {
	dir, err := os.MkdirTemp("", "trawl")
	must(err)
	defer os.RemoveAll(dir)
	cfg := trawl.Config{Dir: dir, Chain: "main", LoadBlock: []string{firstBlocks(dir, 80_000)}}
	// The key that block 9 pays to, which made the first payment ever.
	const desc = "pk(0411db93e1dcdb8a016b49840f8c53bc1eb68a382e97b1482ecad7b148a6909a5cb2" +
		"e0eaddfb84ccf9744464f82e160bfa9b8b64f9d4c03f999b8643f656b412a3)"
	enough := errors.New("enough")
	err = follow(context.Background(), cfg, desc, messages.BlockID{}, func(last messages.BlockID) error {
		if last.Height == 348 { // the last whole block of them
			return enough
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// 9 0437cd7f8525ceed2324359c2d0ba26006d92d856a9c20fa0241106ee5a597c9 0 5000000000
	// 170 f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16 1 4000000000
	// 181 a16f3ce4dd5deb92d98ef5cf8afeaf0775ebca408f708b2146c4fb42b41e14be 1 3000000000
	// 182 591e91f809d716912ca1d4a9295e70c3e78bab077683f79350f101da64588073 1 2900000000
	// 183 12b5633bad1f9c167d523ad1aa1947b2732a865bf5414eab2f9e5ae5d5c191ba 1 2800000000
	// 248 828ef3b079f9c23829c56fe86e85b4a69d9e06e5b54ea597eef5fb3ffef509fe 1 1800000000
	// enough
}

// README's program is the program that is run here.
func TestReadmeProgram(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, function, _ := strings.Cut(string(here), "// README shows this function as it is.\n")
	function, _, _ = strings.Cut(function, "\n}\n")
	if !strings.Contains(string(readme), "```go\n"+function+"\n}\n```\n") {
		t.Errorf("README.md lacks\n%s\n}", function)
	}
}
