// Package command is the table of JSON-RPC methods: what each is called, what
// it takes and gives, and the function behind it.
//
// A method is one [Command] value. That value says how arguments are read, and
// which are refused with Bitcoin Core's codes and texts. The help text and the
// list of all methods follow from it too, so that neither can be forgotten. The
// package knows nothing of HTTP and of who answers a method.
//
// # Errors
//
// A method returns any error. [Table.Reveal] decides how much the client sees.
// An [Error] is shown as it is, a conversion error of jsontree with Core's
// code, an error that the table knows ([KnownError]) in its words. All others
// are shown as "Internal error".
package command

import (
	"context"
	"strings"
)

// The categories of methods, as the help list groups them.
const (
	Blockchain      = "blockchain"
	Control         = "control"
	Generating      = "generating"
	Hidden          = "hidden" // served, but in no list
	Mining          = "mining"
	Network         = "network"
	RawTransactions = "rawtransactions"
	Signer          = "signer"
	Util            = "util"
	Wallet          = "wallet"
	ZMQ             = "zmq"
)

// A Command is one JSON-RPC method.
type Command struct {
	Name     string
	Category string  // one of the constants above
	Summary  string  // what it does: sentences, lines split where help splits them
	Params   []Param // in positional order
	Results  []Result

	// Examples are calls as positional parameters in JSON: `["start", 0]`.
	// Tests check that they suit Params.
	Examples []string

	words *strings.Replacer // in the help text; nil: none is replaced

	// Unlisted methods are described like all others, but not in the list of all.
	Unlisted bool

	About  Subject // required
	Effect Effect
	At     At

	// Own methods are this program's: Bitcoin Core has no such method. They are left out of comparisons
	// with Core's tables.
	Own bool

	// Since is the major version of Bitcoin Core that has the method first, 0 if 30 has it. Later ones are left
	// out of comparisons with the tables of 30.
	Since int

	// Until is the version from which on Bitcoin Core does not have the method any more; 0: it has it yet.
	Until int

	drops *drops // what replies lack in the version spoken as; nil: nothing

	// Run does the work. The arguments have the declared number and types.
	// The context ends with the server, not with the client, but that of a
	// method that Waits. The result is
	// written by jsontree.Append; nil is null. See the package comment for
	// errors.
	Run func(ctx context.Context, a *Args) (any, error)

	// Control tells whether a call with these arguments only looks or stops
	// something and so may pass calls that wait. nil: never.
	Control func(a *Args) bool

	// Waits tells whether a call with these arguments does little but wait for
	// something that may never come: it takes no worker, and its context ends
	// with the client too. nil: never.
	Waits func(a *Args) bool
}

// Type is what a parameter or a result holds.
type Type uint8

// The types. Amount and Range parameters are not checked before the method
// runs, because they come in several JSON types.
const (
	String       Type = iota + 1
	Hex               // string of hexadecimal digits
	Number            // shown as "numeric"
	Bool              // shown as "boolean"
	Amount            // number or string of coins
	Range             // n or [n,n]
	Array             // Inner describes the elements
	Object            // Inner describes the members
	UserKeys          // object whose keys the caller chooses; Inner describes one member
	NamedOptions      // object whose members may also be given by name beside the other parameters
	Null              // only in results, like those below
	Any               // not shown in help
	Timestamp         // seconds since 1970, a number
	Elision           // stands for "and so on"
)

// A Param declares one parameter, or one member or element of one.
type Param struct {
	Name     string // with aliases: "verbosity|verbose"
	Type     Type
	Optional bool   // absent and null are accepted
	Default  string // as help shows it; implies Optional
	Help     string

	// Kind says what the type does not.
	Kind Kind

	// Inner declares what an array or an object holds.
	Inner []Param

	// Usage, if set, stands for the parameter in the usage line.
	Usage string

	// TypeText, if set, is the type as help shows it, for a parameter that
	// takes several: "numeric or array".
	TypeText string

	// AnyType leaves the check of the JSON type to the method.
	AnyType bool

	// Secret parameters hold a passphrase or private keys, or may, as every descriptor does. The values
	// that Run was given for them, with all that they contain, are overwritten when the call is
	// answered. Run has to copy any part that is to stay.
	Secret bool

	// Hidden parameters are accepted but not in the help text, and neither
	// are those after them.
	Hidden bool

	// Extension: Bitcoin Core has no such parameter, as with Command.Own.
	Extension bool

	// Since is the version of Bitcoin Core that has the parameter first, as Command.Since.
	Since int
}

// A Result declares what a method returns, or a member or element of such a result. Several Results of
// one command are alternatives, told apart by When.
type Result struct {
	Type     Type
	Key      string // of a member of an object
	Help     string
	When     string // of an alternative: "for verbose = false"
	Optional bool   // may be absent
	OrFalse  bool   // may be false instead
	Secret   bool   // holds private keys, or may: its type is [Secret]
	Inner    []Result

	// Since and Until are the versions of Bitcoin Core that have the result first and no more; 0: all have. The method
	// always gives it, and the table leaves it out where the version spoken as has it not ([Table.Speak]).
	Since, Until int
	Switch       string // keeps what is gone, a word of -deprecatedrpc
}

// optional reports whether p may be left out.
func (p *Param) optional() bool { return p.Optional || p.Default != "" }

// first returns the name without aliases.
func (p *Param) first() string {
	name, _, _ := strings.Cut(p.Name, "|")
	return name
}

// required returns how many parameters a call must have at least.
func (c *Command) required() int {
	for n := len(c.Params); n > 0; n-- {
		if !c.Params[n-1].optional() {
			return n
		}
	}
	return 0
}
