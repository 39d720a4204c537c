package notify_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/notify"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
)

// board notes what is published, as words.
type board struct {
	without []string // topics that are not published
	mu      sync.Mutex
	words   []string
	broken  bool          // the next message panics
	hold    chan struct{} // nil: nothing waits
}

func (b *board) Has(topic string) bool { return !slices.Contains(b.without, topic) }

func (b *board) Publish(topic string, body []byte) {
	b.mu.Lock()
	broken, hold := b.broken, b.hold
	b.broken = false
	b.mu.Unlock()
	if broken {
		panic("broken")
	}
	if hold != nil {
		<-hold
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	word := hex.EncodeToString(body)
	if topic == "sequence" {
		word = fmt.Sprintf("%x%c", body[:32], body[32])
		if number := body[33:]; len(number) > 0 {
			word += strconv.FormatUint(binary.LittleEndian.Uint64(number), 10)
		}
	}
	b.words = append(b.words, topic+" "+word)
}

func (b *board) Skip(topic string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.words = append(b.words, fmt.Sprintf("skip %s %d", topic, n))
}

func (b *board) took() string {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	words := b.words
	b.words = nil
	return strings.Join(words, "\n")
}

// gap is what a subscriber sees of something that is missing.
var gap = []string{"skip hashblock 1", "skip hashtx 1", "skip rawblock 1", "skip rawtx 1", "skip sequence 1"}

// publishing returns a rig whose actor publishes to a board.
func publishing(t *testing.T, poolTells bool) (*rig, *board) {
	t.Helper()
	b := &board{}
	r := newRig(t, func(c *notify.Config) { c.Publisher, c.PoolTells = b, poolTells })
	return r, b
}

// want holds what was published against lists of words.
func (b *board) want(t *testing.T, step string, lists ...[]string) {
	t.Helper()
	if got, want := b.took(), strings.Join(slices.Concat(lists...), "\n"); got != want {
		t.Errorf("%s: published\n%s\nwant\n%s", step, got, want)
	}
}

func joined(b *chainview.Block) messages.PoolStep {
	return messages.PoolStep{Tip: messages.Tip{Hash: b.Hash, Height: b.Height}, Connected: true}
}

func left(b *chainview.Block) messages.PoolStep {
	return messages.PoolStep{Tip: messages.Tip{Hash: b.Hash, Height: b.Height}}
}

func (r *rig) txWords(tx *wire.MsgTx) []string {
	var raw strings.Builder
	if err := tx.Serialize(&raw); err != nil {
		r.t.Fatal(err)
	}
	return []string{"hashtx " + tx.TxHash().String(), fmt.Sprintf("rawtx %x", raw.String())}
}

// joinedWords is published for a block that joins the chain, leftWords for a block that
// leaves it, bestWords for the best block.
func (r *rig) joinedWords(b *chainview.Block) []string {
	return append(r.blockTxs(b), "sequence "+b.Hash.String()+"C")
}

func (r *rig) leftWords(b *chainview.Block) []string {
	return append(r.blockTxs(b), "sequence "+b.Hash.String()+"D")
}

func (r *rig) bestWords(b *chainview.Block) []string {
	raw, err := r.chain.Raw(&b.Hash)
	if err != nil {
		r.t.Fatal(err)
	}
	return []string{"hashblock " + b.Hash.String(), fmt.Sprintf("rawblock %x", raw)}
}

// nextWords is published for a block that follows the best block.
func (r *rig) nextWords(b *chainview.Block) []string {
	return append(r.joinedWords(b), r.bestWords(b)...)
}

func (r *rig) blockTxs(b *chainview.Block) (words []string) {
	block, err := r.chain.Block(&b.Hash)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, tx := range block.Transactions {
		words = append(words, r.txWords(tx)...)
	}
	return words
}

func payment(n byte) messages.PoolChange {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{n}}, Witness: wire.TxWitness{{n}}})
	return messages.PoolChange{Tx: tx, ID: tx.TxHash(), WID: tx.WitnessHash(), Added: true, Number: uint64(n)}
}

// News of the pool are published in their order. Transactions have their numbers; a
// transaction that leaves the pool for a block has no message. Blocks with their
// transactions stand at their places among the changes; their best-block messages come
// last.
func TestPublish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, b := publishing(t, true)
		first, second := payment(1), payment(2)
		gone, mined := second, first
		gone.Added, gone.Number, gone.Reason = false, 3, messages.PoolConflict
		mined.Added, mined.Number, mined.Reason = false, 4, messages.PoolBlock
		block := r.mine(1)[0]
		step := joined(block)
		step.After = 3
		r.pool.Publish(messages.PoolChanged{
			Changes: []messages.PoolChange{first, gone, mined, second}, Blocks: []messages.PoolStep{step},
		})
		b.want(t, "block among changes",
			r.txWords(first.Tx), []string{"sequence " + first.ID.String() + "A1"},
			[]string{"sequence " + second.ID.String() + "R3"}, r.nextWords(block),
			r.txWords(second.Tx), []string{"sequence " + second.ID.String() + "A2"})
		r.pool.Publish(messages.PoolChanged{Announce: []messages.RelayTx{{}}})
		r.tip.Publish(messages.TipChanged{Hash: block.Hash, Height: block.Height})
		b.want(t, "nothing new")
	})
}

// After a reorganisation, best-block messages begin with the first block that has more work
// than the old tip. If the old branch is invalid, each block of the new branch has such a
// message.
func TestPublishReorganisation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, b := publishing(t, true)
		old := r.mine(2)
		r.pool.Publish(messages.PoolChanged{Blocks: []messages.PoolStep{joined(old[0]), joined(old[1])}})
		b.want(t, "mined", r.nextWords(old[0]), r.nextWords(old[1]))

		fork := old[0].Parent
		var branch []*chainview.Block
		for at := fork; len(branch) < 4; {
			at = r.chain.MineOn(at, chaintest.Template{})
			branch = append(branch, at)
		}
		r.pool.Publish(messages.PoolChanged{Blocks: []messages.PoolStep{left(old[1]), left(old[0])}})
		b.want(t, "left", r.leftWords(old[1]), r.leftWords(old[0]))
		var steps []messages.PoolStep
		for _, b := range branch {
			steps = append(steps, joined(b))
		}
		r.pool.Publish(messages.PoolChanged{Blocks: steps})
		b.want(t, "joined", r.joinedWords(branch[0]), r.joinedWords(branch[1]),
			r.nextWords(branch[2]), r.nextWords(branch[3]))

		for _, b := range branch {
			r.chain.SetStatus(b, b.Status()|chainview.Failed)
		}
		r.pool.Publish(messages.PoolChanged{Blocks: []messages.PoolStep{
			left(branch[3]), left(branch[2]), left(branch[1]), left(branch[0]), joined(old[0]), joined(old[1]),
		}})
		b.want(t, "invalid", r.leftWords(branch[3]), r.leftWords(branch[2]), r.leftWords(branch[1]),
			r.leftWords(branch[0]), r.nextWords(old[0]), r.nextWords(old[1]))

		r.pool.Publish(messages.PoolChanged{Blocks: []messages.PoolStep{left(old[1])}})
		b.want(t, "taken back alone", r.leftWords(old[1]))
	})
}

// During the initial download blocks and their transactions are published, but no best block.
func TestPublishInitially(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, b := publishing(t, true)
		r.view.SetImporting(true)
		block := r.mine(1)[0]
		r.pool.Publish(messages.PoolChanged{Blocks: []messages.PoolStep{joined(block)}})
		b.want(t, "initially", r.joinedWords(block))
	})
}

// A subscriber notices a gap: when the pool is new, when a block does not follow the block
// before it, when a block is unknown, and after a failure.
func TestPublishGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, b := publishing(t, true)
		blocks := r.mine(5)
		r.pool.Publish(messages.PoolChanged{Blocks: []messages.PoolStep{joined(blocks[0])}})
		b.want(t, "first", r.joinedWords(blocks[0]), r.bestWords(blocks[0]))
		r.pool.Publish(messages.PoolChanged{Reset: true})
		b.want(t, "new pool", gap)
		r.pool.Publish(messages.PoolChanged{Blocks: []messages.PoolStep{joined(blocks[1])}})
		b.want(t, "second", r.joinedWords(blocks[1]), r.bestWords(blocks[1]))
		r.pool.Publish(messages.PoolChanged{Blocks: []messages.PoolStep{joined(blocks[3])}})
		b.want(t, "one is missing", gap, r.joinedWords(blocks[3]), r.bestWords(blocks[3]))
		r.pool.Publish(messages.PoolChanged{Blocks: []messages.PoolStep{
			{Tip: messages.Tip{Hash: chainhash.Hash{1}}, Connected: true},
		}})
		b.want(t, "unknown", gap)

		b.broken = true
		r.pool.Publish(messages.PoolChanged{Blocks: []messages.PoolStep{joined(blocks[4])}})
		b.want(t, "failure", gap)
		change := payment(7)
		r.pool.Publish(messages.PoolChanged{Changes: []messages.PoolChange{change}})
		b.want(t, "after it", r.txWords(change.Tx), []string{"sequence " + change.ID.String() + "A7"})
	})
}

// For an unreadable block subscribers notice only the messages that are missing; all others
// are published.
func TestPublishUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, b := publishing(t, true)
		blocks := r.mine(2)
		r.chain.Fail(blocks[0], chainview.ErrPruned)
		r.pool.Publish(messages.PoolChanged{Blocks: []messages.PoolStep{joined(blocks[0])}})
		hash := blocks[0].Hash.String()
		b.want(t, "unreadable", []string{
			"skip hashtx 1", "skip rawtx 1", "sequence " + hash + "C", "hashblock " + hash, "skip rawblock 1",
		})
		r.pool.Publish(messages.PoolChanged{Blocks: []messages.PoolStep{joined(blocks[1])}})
		b.want(t, "the next one", r.nextWords(blocks[1]))
	})
}

// Where the pool's events have no blocks, the chain is looked at.
func TestPublishOfTips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, b := publishing(t, false)
		blocks := r.mine(2)
		announce := func(b *chainview.Block) { r.tip.Publish(messages.TipChanged{Hash: b.Hash, Height: b.Height}) }
		announce(blocks[1])
		b.want(t, "mined", r.nextWords(blocks[0]), r.nextWords(blocks[1]))
		other := r.chain.MineOn(blocks[0], chaintest.Template{})
		better := r.chain.MineOn(other, chaintest.Template{})
		r.chain.SetActive(better)
		announce(better)
		b.want(t, "reorganised", r.leftWords(blocks[1]), r.joinedWords(other), r.nextWords(better))
		net, err := dialect.Bitcoin("regtest")
		if err != nil {
			t.Fatal(err)
		}
		r.chain = chaintest.New(net.Params)
		r.mine(2)
		r.view.Set(r.chain)
		announce(r.chain.Active().Tip())
		b.want(t, "made anew")
		next := r.mine(1)[0]
		announce(next)
		b.want(t, "goes on", gap, r.nextWords(next))
	})
}

// News that wait to be published are bounded; above the bound they are dropped, and
// subscribers notice the gap.
func TestPublishBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, b := publishing(t, true)
		b.hold = make(chan struct{})
		large := payment(1)
		large.VSize = 128<<20 - 64 // two of these take all the room, to the byte
		for range 6 {
			r.pool.Publish(messages.PoolChanged{Changes: []messages.PoolChange{large}})
		}
		synctest.Wait()
		close(b.hold)
		one := append(r.txWords(large.Tx), "sequence "+large.ID.String()+"A1")
		b.want(t, "some dropped", one, one, one, gap)
		r.pool.Publish(messages.PoolChanged{Changes: []messages.PoolChange{large}})
		b.want(t, "there is room again", one)
		huge := payment(2)
		huge.VSize = 300 << 20
		r.pool.Publish(messages.PoolChanged{Changes: []messages.PoolChange{huge}})
		b.want(t, "alone", r.txWords(huge.Tx), []string{"sequence " + huge.ID.String() + "A2"})
		if n := strings.Count(r.log.String(), "too many wait"); n != 1 {
			t.Errorf("logged %d times", n)
		}
	})
}

// Nothing is made for topics that nobody publishes.
func TestPublishLess(t *testing.T) {
	for _, without := range []string{"hashblock", "hashtx", "rawblock", "rawtx", "sequence"} {
		synctest.Test(t, func(t *testing.T) {
			r, b := publishing(t, true)
			b.without = []string{without}
			block, change := r.mine(1)[0], payment(1)
			r.pool.Publish(messages.PoolChanged{
				Changes: []messages.PoolChange{change}, Blocks: []messages.PoolStep{joined(block)},
			})
			all := slices.Concat(r.joinedWords(block), r.bestWords(block), r.txWords(change.Tx),
				[]string{"sequence " + change.ID.String() + "A1"})
			b.want(t, without, slices.DeleteFunc(all, func(w string) bool { return strings.HasPrefix(w, without+" ") }))
		})
	}
}

// A block that cannot be read is no loss where nobody publishes what is in it.
func TestPublishWithoutReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, b := publishing(t, true)
		b.without = []string{"hashtx", "rawblock", "rawtx"}
		block := r.mine(1)[0]
		r.chain.Fail(block, chainview.ErrPruned)
		r.pool.Publish(messages.PoolChanged{Blocks: []messages.PoolStep{joined(block)}})
		hash := block.Hash.String()
		b.want(t, "pruned", []string{"sequence " + hash + "C", "hashblock " + hash})
		if r.log.Len() > 0 {
			t.Errorf("logged %s", r.log.String())
		}
	})
}

// A branch of as much work as the old one, which somebody prefers, has a new best block at its end.
func TestPublishPreferredBranch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, b := publishing(t, true)
		old := r.mine(3)
		for _, block := range old {
			r.pool.Publish(messages.PoolChanged{Blocks: []messages.PoolStep{joined(block)}})
		}
		b.took()
		first := r.chain.MineOn(old[0], chaintest.Template{})
		second := r.chain.MineOn(first, chaintest.Template{})
		r.pool.Publish(messages.PoolChanged{Blocks: []messages.PoolStep{
			left(old[2]), left(old[1]), joined(first), joined(second),
		}})
		b.want(t, "preferred", r.leftWords(old[2]), r.leftWords(old[1]), r.joinedWords(first), r.nextWords(second))
		third := r.chain.MineOn(second, chaintest.Template{})
		r.pool.Publish(messages.PoolChanged{Blocks: []messages.PoolStep{joined(third)}})
		b.want(t, "goes on", r.nextWords(third))
	})
}
