package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// shop is the example of docs/searches.md.
//
// begin of the example

// A payment is an entry of the list of a search.
type payment struct {
	Type      string  // receive, spend or disconnect
	Amount    float64 // a real shop reads the number's text
	BlockHash string
	TxID      string
	Vout      int
	Index     int // of the address
}

// A shop keeps the cursor and the payments together: in a database in one transaction.
type shop struct {
	id, cursor string
	payments   map[string][]payment // by block
}

// read takes what is new, and returns when there is nothing more.
func (s *shop) read(call func(result any, method string, params ...any) error) error {
	for more := true; more; {
		var page struct {
			Entries []payment
			Cursor  string
			More    bool
		}
		if err := call(&page, "waitforsearch", s.id, s.cursor, 1000); err != nil {
			return err
		}
		for _, p := range page.Entries {
			if p.Type == "disconnect" {
				delete(s.payments, p.BlockHash)
				continue
			}
			s.payments[p.BlockHash] = append(s.payments[p.BlockHash], p)
		}
		s.cursor, more = page.Cursor, page.More
	}
	return nil
}

// end of the example

const shopKey = "tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B"

// The example of the documentation is this file's, and a shop that goes by it has each payment
// once, through a kill and a reorganisation.
func TestShop(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("shop_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(source), "// begin of the example\n\n")
	example, _, _ = strings.Cut(example, "\n// end of the example")
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "searches.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "```go\n"+example+"```\n") {
		t.Errorf("docs/searches.md has another example than\n%s", example)
	}

	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-blockfilterindex=1", "-searchroom=1"}})
	object := "wpkh(" + shopKey + "/0/*)"
	var info struct{ Descriptor string }
	d.Get(&info, "getdescriptorinfo", object)
	var addresses []string
	d.Get(&addresses, "deriveaddresses", info.Descriptor, []int{0, 9})
	var made struct{ ID string }
	d.Get(&made, "createsearch", []any{map[string]any{"desc": object, "range": 9999}}, map[string]any{
		"name": "shop", "follow": true,
	})
	s := shop{id: made.ID, payments: map[string][]payment{}}
	pay := func(n, to int) (blocks []string) {
		d.Get(&blocks, "generatetoaddress", n, addresses[to])
		return blocks
	}
	blocks := append(pay(1, 3), pay(2, 7)...)
	want := map[string]int{blocks[0]: 3, blocks[1]: 7, blocks[2]: 7}
	holds := func() {
		t.Helper()
		e2e.Eventually(t, 30*time.Second, "the shop has what was paid", func() bool {
			if err := s.read(func(result any, method string, params ...any) error {
				return d.Call(t.Context(), result, method, params...)
			}); err != nil {
				t.Fatal(err)
			}
			if len(s.payments) != len(want) {
				return false
			}
			for block, index := range want {
				list := s.payments[block]
				if len(list) != 1 || list[0].Index != index || list[0].Amount != 50 {
					return false
				}
			}
			return true
		})
	}
	holds()
	d.Kill()
	d.Restart()
	want[pay(1, 5)[0]] = 5
	holds()
	d.Get(nil, "invalidateblock", blocks[1])
	for hash := range want {
		if hash != blocks[0] {
			delete(want, hash)
		}
	}
	want[pay(1, 2)[0]] = 2
	holds()
}
