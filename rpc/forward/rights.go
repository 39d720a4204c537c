package forward

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

// lends reports whether a method may be passed on for a login of Core's (core), or for
// one of this node.
func (m Mode) lends(method string, core bool) bool {
	switch {
	case method == "stop", m == None:
		return false
	case m == Read:
		return reads[method]
	case core, m == All:
		return true
	default:
		return reads[method] || method == "sendrawtransaction"
	}
}

// LendsOwn reports whether a method may be passed on for the node itself.
func (m Mode) LendsOwn(method string) bool { return m.lends(method, false) }

// A list is a whitelist of Core's for one user. Its Limited, Any and Allows are those of
// command.Login.
type list interface {
	Limited() bool
	Any() bool
	Allows(method string) bool
}

// rights are what a login of Core's may call here.
type rights struct {
	list list // nil: not known
	// passedOn reports whether Core answers a method, so that its whitelist judges.
	passedOn func(method string) bool
}

// Limited implements command.Login.
func (r rights) Limited() bool { return r.list == nil || r.list.Limited() }

// Any implements command.Login.
func (r rights) Any() bool { return r.list == nil || r.list.Any() }

// Allows implements command.Login. Where Core answers, it refuses by itself what its list
// does not have; what is known of that list refuses it before.
func (r rights) Allows(method string) bool {
	switch {
	case r.list == nil:
		return method == "scanblocks" || blockReads[method] || r.passedOn(method)
	case !r.list.Limited():
		return true
	case method == "stop":
		return false
	case ownOnly[method]:
		return r.list.Allows("scanblocks")
	default:
		return r.list.Allows(method)
	}
}

// mayUseWallets reports whether the login may use the wallets of this node.
func (r rights) mayUseWallets() bool { return r.list != nil && !r.list.Limited() }
