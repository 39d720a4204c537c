// Package discover decides for which accounts of a wallet, and for which of their addresses, blocks are looked through.
// It begins with a key, a descriptor or words, and goes on until gaps of unused accounts and addresses are left.
//
// It is pure. A [Search] is asked what to look for next in all blocks, and takes what was found, until nothing is left.
// Many accounts with all their forms are looked for at once, so that few passes over the blocks are needed.
package discover

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/search/widen"
	"github.com/seed61375155/trawl/messages"
)

// Gaps where no others are asked for.
const (
	AccountGap = 20
	Gap        = 1000
	SlowGap    = 20 // of keys that take milliseconds
)

// The largest gaps.
const (
	MaxGap        = 100_000
	MaxAccountGap = 1_000
)

// Limit bounds the scripts where no option says another limit.
const Limit = 10_000_000

// A Search looks for the accounts of one source. It is for one goroutine at a time.
type Search struct {
	net   *descriptor.Network
	gap   int32 // 0: by the form
	limit int

	groups   []group
	numbers  widen.Plan // of accounts, by groups
	accounts []*account
	chains   []*Chain // by their numbers in rounds
	rounds   widen.Rounds
	kept     []keptRound
	passes   int
}

// An account is one form of a key.
type account struct {
	group  int
	number int32
	form   form
	chains []int // numbers
}

// A Chain is the addresses of a descriptor.
type Chain struct {
	*descriptor.Descriptor // derives them

	number    int
	account   *account
	change    int                    // 1: the addresses are for change
	text      string                 // without private keys
	own       *descriptor.Descriptor // as it was given, perhaps with private keys; nil: it is made of the group's key
	derivable bool                   // from text
	gap       int32
	each      int // scripts of an index
}

// A Span is indices of a chain, both included.
type Span struct {
	*Chain

	From, To uint32
}

// A keptRound is what was looked for in a pass.
type keptRound struct {
	query  *filters.Query
	owners []widen.Owner // by places in the query
}

// New reads what accounts are looked for from. A limit of 0 is [Limit].
//
// Errors: [*messages.DiscoverySourceError].
func New(net *dialect.Network, q *messages.DiscoverAccounts, limit int) (*Search, error) {
	groups, err := newSource(net).groups(q.Source, q.Passphrase)
	if err != nil {
		return nil, err
	}
	if q.Gap < 0 || q.Gap > MaxGap || q.AccountGap < 0 || q.AccountGap > MaxAccountGap {
		return nil, refused("A gap must be between 1 and %d, that of accounts up to %d", MaxGap, MaxAccountGap)
	}
	s := &Search{net: net.Descriptors(), gap: q.Gap, limit: cmp.Or(limit, Limit), groups: groups}
	gap := cmp.Or(q.AccountGap, AccountGap)
	for i := range groups {
		if groups[i].numbered {
			s.numbers.Add(0, max(gap-1, groups[i].number), gap)
			continue
		}
		s.numbers.Add(0, -1, 0)
		if err := s.open(i, groups[i].number); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// open opens an account in all forms that it may have. Without a number it is the group's one account.
func (s *Search) open(group int, number int32) error {
	g := &s.groups[group]
	if g.root == nil {
		a := &account{group: group, number: number}
		for i, own := range g.given {
			c := &Chain{account: a, change: min(i, 1), own: own}
			if len(g.given) > 2 { // no receiving chain with its change
				c.change = 0
			}
			if err := s.readGiven(c); err != nil {
				return err
			}
			s.add(c)
		}
		s.accounts = append(s.accounts, a)
		return nil
	}
	for _, f := range g.forms {
		a := &account{group: group, number: number, form: f}
		for change := range 2 {
			c := &Chain{account: a, change: change}
			if err := s.derive(c, g); err != nil {
				return err
			}
			s.add(c)
		}
		s.accounts = append(s.accounts, a)
	}
	return nil
}

// add adds a chain that was read to its account.
func (s *Search) add(c *Chain) {
	c.gap = cmp.Or(s.gap, c.gap, Gap)
	c.number = s.rounds.Add(0, c.gap-1, c.gap)
	c.account.chains = append(c.account.chains, c.number)
	s.chains = append(s.chains, c)
}

// path returns the path from a group's key to an account's key.
func (g *group) path(number int32) []uint32 {
	if !g.numbered {
		return g.below
	}
	return append(slices.Clip(g.below), uint32(number)|hardened)
}

// derive makes the descriptor of a chain.
func (s *Search) derive(c *Chain, g *group) error {
	f, path := c.account.form, g.path(c.account.number)
	if f.slow {
		text := g.root.privateText(f, path, c.change)
		defer wipeKeys(text)
		own, err := s.parse(view(text))
		if err != nil {
			return err
		}
		c.Descriptor, c.text, c.gap, c.each = own, own.String(), SlowGap, 1
		return nil
	}
	key, err := g.root.publicText(path)
	if err != nil {
		return err
	}
	return s.readPublic(c, fmt.Sprintf("%s%s/%d/*%s", f.before, key, c.change, f.after))
}

// readPublic reads a descriptor from which everyone can derive.
func (s *Search) readPublic(c *Chain, text string) error {
	public, err := s.parse(text)
	if err != nil {
		return err
	}
	scripts, err := public.Expand(0)
	if err != nil {
		return withoutKeys(err, text)
	}
	c.Descriptor, c.text, c.derivable, c.each = public, public.String(), true, len(scripts)
	return nil
}

// readGiven reads a descriptor that was given. Private keys derive only where others cannot.
func (s *Search) readGiven(c *Chain) error {
	c.Descriptor, c.text = c.own, c.own.String()
	if c.own.HasPrivateKeys() {
		if public, err := c.own.NormalizedString(); err == nil {
			c.text = public
		}
	}
	if strings.Contains(c.text, "pqc(") {
		c.gap, c.each = SlowGap, 1
		return nil
	}
	if s.readPublic(c, c.text) == nil {
		return nil
	}
	scripts, err := c.own.Expand(0)
	if errors.Is(err, descriptor.ErrNeedsPrivateKey) {
		return refused("The descriptor cannot be derived without private keys")
	}
	if err != nil {
		return withoutKeys(err, c.text)
	}
	c.each = len(scripts)
	return nil
}

// parse reads a descriptor of one branch.
func (s *Search) parse(text string) (*descriptor.Descriptor, error) {
	branches, err := descriptor.Parse(text, s.net, descriptor.Options{})
	if err != nil {
		return nil, withoutKeys(err, text)
	}
	return branches[0], nil
}

// privateText returns the descriptor of a chain with private keys; nil: there are none.
func (s *Search) privateText(c *Chain) messages.Secret {
	g := &s.groups[c.account.group]
	switch {
	case c.own != nil && c.own.HasPrivateKeys():
		text, _ := c.own.PrivateText()
		return text
	case c.own == nil && g.root.private:
		return withChecksum(g.root.privateText(c.account.form, g.path(c.account.number), c.change))
	}
	return nil
}

// HasPrivateKeys reports whether the source has private keys.
func (s *Search) HasPrivateKeys() bool {
	return slices.ContainsFunc(s.groups, func(g group) bool {
		return g.root != nil && g.root.private || len(g.given) > 0 && g.given[0].HasPrivateKeys()
	})
}

// Wipe overwrites private keys. The search is of no more use.
func (s *Search) Wipe() {
	for _, c := range s.chains {
		c.Wipe()
		if c.own != nil {
			c.own.Wipe()
		}
	}
	for i := range s.groups {
		if r := s.groups[i].root; r != nil {
			r.wipe()
		}
	}
}

// maxSpan is how many indices a descriptor derives at a time.
const maxSpan = 1_000_000

// firstPasses are passes that look for nothing earlier than necessary: the second is necessary for further accounts,
// and most wallets need no third.
const firstPasses = 2

// Next begins the next pass, and returns what to look for; none: all accounts are found. For each index [Search.Add] is
// owed, then a [Search.Take]. An error of ended ends the derivation of accounts, of which there may be thousands.
//
// Errors: [*messages.SearchLimitError], that of ended.
func (s *Search) Next(ended func() error) ([]Span, error) {
	for _, span := range s.numbers.Next(0) {
		for number := int64(span.First); number <= int64(span.Last); number++ {
			if err := ended(); err != nil {
				return nil, err
			}
			if err := s.open(span.Number, int32(number)); err != nil {
				return nil, err
			}
		}
	}
	ahead, err := s.spare()
	if err != nil {
		return nil, err
	}
	if s.passes < firstPasses {
		ahead = 0
	}
	var spans []Span
	for _, span := range s.rounds.Next(ahead) {
		for from := int64(span.First); from <= int64(span.Last); from += maxSpan {
			to := min(from+maxSpan-1, int64(span.Last))
			spans = append(spans, Span{s.chains[span.Number], uint32(from), uint32(to)})
		}
	}
	if len(spans) > 0 {
		s.passes++
		s.rounds.Begin(0)
	}
	return spans, nil
}

// spare returns how many indices may be looked for earlier than necessary.
func (s *Search) spare() (indices int, err error) {
	needed, most := 0, 1
	for number, c := range s.chains {
		needed += s.rounds.Needed(number) * c.each
		most = max(most, c.each)
	}
	left := s.limit - s.rounds.Scripts - needed
	if left < 0 {
		return 0, &messages.SearchLimitError{Option: "-searchscripts"}
	}
	return left / most, nil
}

// Add adds the scripts of an index to the pass.
func (s *Search) Add(c *Chain, index uint32, scripts [][]byte) {
	s.rounds.AddScripts(widen.Owner{Number: int32(c.number), Index: int32(index)}, scripts)
}

// Query returns the scripts of the pass.
func (s *Search) Query() *filters.Query { return s.rounds.Query() }

// Take takes what the pass has found: blocks, and for each the places of its scripts in the query. The error is that
// of ended, which is asked in between whether to end.
func (s *Search) Take(q *filters.Query, blocks []chainhash.Hash, uses [][]uint32, ended func() error) error {
	s.kept = append(s.kept, keptRound{q, s.rounds.Owners()})
	if err := s.rounds.Take(q, blocks, uses, ended); err != nil {
		return err
	}
	for _, a := range s.accounts {
		if s.groups[a.group].numbered && s.used(a) {
			s.numbers.Use(a.group, a.number)
		}
	}
	return nil
}

// used reports whether anything of an account is used.
func (s *Search) used(a *account) bool {
	return slices.ContainsFunc(a.chains, func(number int) bool { return s.rounds.Range(number).HighestUsed >= 0 })
}

// Passes returns how many passes have begun.
func (s *Search) Passes() int { return s.passes }

// Scripts returns how many scripts were looked for.
func (s *Search) Scripts() int { return s.rounds.Scripts }

// Used returns how many accounts are used, as far as is known.
func (s *Search) Used() (count int) {
	for _, a := range s.accounts {
		if s.used(a) {
			count++
		}
	}
	return count
}

// Blocks returns the blocks that have scripts of the accounts, each once, in any order.
func (s *Search) Blocks() (list []chainhash.Hash) {
	seen := map[chainhash.Hash]bool{}
	s.rounds.Found(func(block chainhash.Hash, _ *widen.Sighting) {
		if !seen[block] {
			seen[block] = true
			list = append(list, block)
		}
	})
	return list
}

// Scope returns all scripts that were looked for within the ranges.
func (s *Search) Scope() *filters.Query {
	b := filters.NewQueryBuilder(s.rounds.Scripts)
	for i := range s.kept {
		round := &s.kept[i]
		for script := range round.query.Scripts() {
			place, _ := round.query.Place(script)
			if o := round.owners[place]; s.rounds.Has(int(o.Number), o.Index) {
				b.Add(script)
			}
		}
	}
	return b.Query()
}
