package command

// A Subject is what a method is about. It says which node answers a call if the chain comes from
// another node, and which rights a call needs.
type Subject uint8

// The subjects.
const (
	Blocks   Subject = iota + 1 // the chain: blocks, headers, their hashes and heights
	Filters                     // filters of blocks, and what is found by them: scans, searches
	State                       // what only a node has that validates: unspent outputs, pool, peers, mining
	Funds                       // one wallet
	Registry                    // wallets as a whole: which there are, and how they come and go
	Program                     // the running program
	Pure                        // its arguments alone: transactions, scripts, descriptors
)

var subjects = map[Subject]string{
	Blocks: "blocks", Filters: "filters", State: "state", Funds: "wallet", Registry: "wallets",
	Program: "program", Pure: "pure",
}

// String returns the name of a subject.
func (s Subject) String() string { return subjects[s] }

// An Effect is what a call does. Without any it changes something else.
type Effect uint8

// The effects.
const (
	Reads     Effect = 1 << iota // it changes nothing
	MovesTip                     // the tip of the chain may be another afterwards
	MovesPool                    // the memory pool may have other transactions afterwards
	SendsTx                      // it hands over a transaction that is signed, and does nothing else
	Ends                         // it ends the program
)

// At is what an answer needs of the chain.
type At uint8

// The needs.
const (
	Tip         At = 1 << iota // the present tip: a caller that has seen it elsewhere sees it here
	Block                      // a block that the caller names, which may be younger than the chain here
	BlockOrCore                // a block that another node may know where this one does not
)

// names returns those of all effects; none: it changes something else.
func (e Effect) names() []string {
	return setNames(uint8(e), "reads", "moves-tip", "moves-pool", "sends-tx", "ends")
}

// names returns those of all needs.
func (n At) names() []string { return setNames(uint8(n), "tip", "block", "block-or-core") }

func setNames(bits uint8, names ...string) []string {
	set := []string{}
	for i, name := range names {
		if bits&(1<<i) != 0 {
			set = append(set, name)
		}
	}
	return set
}

// Has reports whether it is one of the effects of a call.
func (e Effect) Has(one Effect) bool { return e&one != 0 }

// Has reports whether it is one of the needs of an answer.
func (n At) Has(one At) bool { return n&one != 0 }

// A Kind says of a parameter what its type does not.
type Kind uint8

// WalletName is the kind of a parameter that names a wallet which comes to this node.
const WalletName Kind = 1

// OfWallet reports whether the method is about wallets.
func (c *Command) OfWallet() bool { return c.About == Funds || c.About == Registry }

// LooksOnly reports whether a call changes nothing and shows nothing of a wallet.
func (c *Command) LooksOnly() bool { return c.Effect.Has(Reads) && !c.OfWallet() }

// wrongFacts says which of the facts about a method are missing or contradict each other.
func (c *Command) wrongFacts() string {
	switch {
	case subjects[c.About] == "":
		return "it is not said what it is about"
	case c.Effect.Has(Reads) && c.Effect != Reads:
		return "it changes nothing, and does"
	case c.Effect.Has(Ends) && c.About != Program:
		return "it ends the program, and is not about that"
	case c.Effect.Has(SendsTx) && (c.OfWallet() || !c.Effect.Has(MovesPool)):
		return "it sends a transaction, and of a wallet or to no pool"
	case c.At.Has(BlockOrCore) && !c.At.Has(Block):
		return "another node may know the block, and none is needed"
	case c.At.Has(Block) && c.About != Blocks && c.About != Filters:
		return "it needs a block, and is about none"
	case (c.Category == Wallet) != c.OfWallet() && c.Category != Hidden:
		return "its category and what it is about contradict each other"
	}
	for i := range c.Params {
		if c.Params[i].Kind == WalletName && (c.About != Registry || c.Params[i].Type != String) {
			return "it names no wallet"
		}
	}
	return ""
}
