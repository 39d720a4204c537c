package discover

import (
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/internal/search/widen"
	"github.com/seed61375155/trawl/messages"
)

// A Book sums what the scripts of a search received and spent. It is for one goroutine at a time, but for Find.
type Book struct {
	scripts search.ScriptSet
	chains  []int32 // of the scripts
	sums    []sum   // of the chains
	entries uint64
	coins   map[wire.OutPoint]coin // nil: entries tell of spent outputs
}

type sum struct {
	messages.AccountSum

	time int64 // of the first block
}

type coin struct {
	amount btcutil.Amount
	chain  int32
}

// Book returns an empty book of the scripts that were found.
func (s *Search) Book() *Book {
	b := &Book{sums: make([]sum, len(s.chains))}
	for i := range b.sums {
		b.sums[i].FirstHeight, b.sums[i].LastHeight = -1, -1
	}
	s.rounds.Found(func(_ chainhash.Hash, found *widen.Sighting) {
		if o, counts := s.rounds.OwnerOf(found); counts && b.scripts.Add(found.Script) {
			b.chains = append(b.chains, o.Number)
		}
	})
	return b
}

// Find implements [search.Finder].
func (b *Book) Find(script []byte) (number int, has bool) { return b.scripts.Find(script) }

// Add notes what a block has, in any order of blocks.
func (b *Book) Add(block *chainview.Block, entries []search.Entry) {
	for i := range entries {
		e := &entries[i]
		b.note(block, b.chains[e.Script], btcutil.Amount(e.Amount), e.Kind == search.Spend)
	}
}

// AddBlock notes what a block has whose spent outputs are not known. The blocks come by height, and no other way to add
// is used.
func (b *Book) AddBlock(block *chainview.Block, raw *wire.MsgBlock) {
	if b.coins == nil {
		b.coins = map[wire.OutPoint]coin{}
	}
	for _, tx := range raw.Transactions {
		for _, in := range tx.TxIn {
			if c, has := b.coins[in.PreviousOutPoint]; has {
				b.note(block, c.chain, c.amount, true)
				delete(b.coins, in.PreviousOutPoint)
			}
		}
		id := (*chainhash.Hash)(nil)
		for n, out := range tx.TxOut {
			number, has := b.Find(out.PkScript)
			if !has {
				continue
			}
			if id == nil {
				hash := tx.TxHash()
				id = &hash
			}
			c := coin{btcutil.Amount(out.Value), b.chains[number]}
			b.coins[wire.OutPoint{Hash: *id, Index: uint32(n)}] = c
			b.note(block, c.chain, c.amount, false)
		}
	}
}

func (b *Book) note(block *chainview.Block, chain int32, amount btcutil.Amount, spent bool) {
	s := &b.sums[chain]
	if spent {
		s.Spent += amount
	} else {
		s.Received += amount
	}
	if s.FirstHeight < 0 || block.Height < s.FirstHeight {
		s.FirstHeight, s.time = block.Height, block.Time().Unix()
	}
	s.LastHeight = max(s.LastHeight, block.Height)
	b.entries++
}

// join adds a sum to another.
func (s *sum) join(other *sum) {
	s.Received += other.Received
	s.Spent += other.Spent
	if other.FirstHeight >= 0 && (s.FirstHeight < 0 || other.FirstHeight < s.FirstHeight) {
		s.FirstHeight, s.time = other.FirstHeight, other.time
	}
	s.LastHeight = max(s.LastHeight, other.LastHeight)
}

// Result returns the accounts that are used, and all chains. Without a book the search has not ended: amounts and
// heights are left out. With private, descriptors have private keys, too.
func (s *Search) Result(b *Book, private bool) (d messages.Discovery) {
	unfinished := b == nil
	if unfinished {
		b = s.Book()
	}
	d.Passes, d.Entries = s.passes, b.entries
	order := slices.Clone(s.accounts) // further accounts were opened after those of other groups
	slices.SortStableFunc(order, func(a, b *account) int {
		if a.group != b.group {
			return a.group - b.group
		}
		return int(a.number) - int(b.number)
	})
	for _, a := range order {
		total := sum{AccountSum: messages.AccountSum{FirstHeight: -1, LastHeight: -1}}
		for _, number := range a.chains {
			total.join(&b.sums[number])
		}
		var chains []messages.AccountChain
		for _, number := range a.chains {
			c := s.chain(number, b, total.time, private)
			c.Exhausted = c.Exhausted || unfinished
			chains = append(chains, c)
		}
		d.Chains = append(d.Chains, chains...)
		if !s.used(a) {
			continue
		}
		found := messages.Account{
			Purpose: s.groups[a.group].purpose, Number: a.number, Chains: chains, AccountSum: total.AccountSum,
		}
		if s.groups[a.group].root != nil {
			found.Form = a.form.before + "KEY" + a.form.after
		}
		d.Accounts = append(d.Accounts, found)
	}
	return d
}

// chain returns what is told of a chain.
func (s *Search) chain(number int, b *Book, time int64, private bool) messages.AccountChain {
	c, r := s.chains[number], s.rounds.Range(number)
	told := messages.AccountChain{
		Desc: c.text, Derivable: c.derivable, Change: c.change == 1, LastIndex: r.Last, HighestUsed: r.HighestUsed,
		Gap: r.Gap, Exhausted: r.Exhausted, Time: time, AccountSum: b.sums[number].AccountSum,
	}
	if private {
		told.PrivateDesc = s.privateText(c)
	}
	return told
}
