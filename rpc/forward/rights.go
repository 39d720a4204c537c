package forward

import "github.com/seed61375155/trawl/rpc/command"

// A Mode is a value of -attachforward.
type Mode int

// The modes.
const (
	Default Mode = iota // Core's users: what Core allows. Own logins: reading, and sendrawtransaction
	All                 // own logins too: everything but stop
	Read                // everybody: reading
	None                // nobody: nothing
)

// ParseMode reads a value of -attachforward; the empty one is [Default].
func ParseMode(text string) (mode Mode, ok bool) {
	switch text {
	case "":
		return Default, true
	case "all":
		return All, true
	case "read":
		return Read, true
	case "none":
		return None, true
	}
	return Default, false
}

// delegates reports whether a method may be passed on for a login of Core's (core), or for
// one of this node.
func (m Mode) delegates(c *command.Command, core bool) bool {
	switch {
	case c.Effect.Has(command.Ends), m == None:
		return false
	case m == Read:
		return c.LooksOnly()
	case core, m == All:
		return true
	default:
		return c.LooksOnly() || c.Effect.Has(command.SendsTx)
	}
}

// Sends reports whether transactions may be passed on for the node itself.
func (m Mode) Sends() bool { return m == Default || m == All }

// A list is a whitelist of Core's for one user. Its Limited, Any and Allows are those of
// command.Login.
type list interface {
	Limited() bool
	Any() bool
	Allows(method string) bool
}

// rights are what a login of Core's may call here.
type rights struct {
	list  list // nil: not known
	facts func(method string) *command.Command
	// passedOn reports whether Core answers a method, so that its whitelist judges.
	passedOn func(method string) bool
}

// Limited implements command.Login.
func (r rights) Limited() bool { return r.list == nil || r.list.Limited() }

// Any implements command.Login.
func (r rights) Any() bool { return r.list == nil || r.list.Any() }

// scan is the method whose right counts for methods that only this node has.
const scan = "scanblocks"

// Allows implements command.Login. Where Core answers, it refuses by itself the methods
// that its list does not have. If the list is known, Allows refuses them before.
func (r rights) Allows(method string) bool {
	c := r.facts(method)
	switch {
	case r.list == nil:
		return !c.Own && (c.About == command.Blocks || c.About == command.Filters) || r.passedOn(method)
	case !r.list.Limited():
		return true
	case c.Effect.Has(command.Ends), c.Own && c.OfWallet():
		return false
	case c.Own:
		return r.list.Allows(scan)
	default:
		return r.list.Allows(method)
	}
}

// mayUseWallets reports whether the login may use the wallets of this node.
func (r rights) mayUseWallets() bool { return r.list != nil && !r.list.Limited() }
