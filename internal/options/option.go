package options

// Category groups options in the help text, in this order.
type Category uint8

// The categories of Bitcoin Core's help.
const (
	General Category = iota
	Connection
	Wallet
	WalletDebug
	Debugging
	ChainSelection
	Relay
	BlockCreation
	RPC
	ZMQ
	Commands // things trawl-cli does instead of calling a named method
)

// titles are the headings of the help text.
var titles = [...]string{
	General:        "Options:",
	Connection:     "Connection options:",
	Wallet:         "Wallet options:",
	WalletDebug:    "Wallet debugging/testing options:",
	Debugging:      "Debugging/Testing options:",
	ChainSelection: "Chain selection options:",
	Relay:          "Node relay options:",
	BlockCreation:  "Block creation options:",
	RPC:            "RPC server options:",
	ZMQ:            "ZeroMQ notification options:",
	Commands:       "CLI Commands:",
}

// Flag qualifies an option; flags are or-ed.
type Flag uint16

const (
	// Sensitive values are secrets: they are never logged.
	Sensitive Flag = 1 << iota
	// NetworkOnly options in the default section of a configuration file
	// count for the main network only.
	NetworkOnly
	// NoNegation refuses -no<name>.
	NoNegation
	// NeedsValue refuses -<name> without a value.
	NeedsValue
	// Debug options are shown by -help-debug only.
	Debug
	// Hidden options are never shown.
	Hidden
	// Unused options are accepted and have no effect in this version.
	Unused
)

// Option describes one option.
type Option struct {
	Name     string // without dash, in lower case
	Arg      string // form of the value for the help text, "<n>"; empty: none is needed
	Help     string // one paragraph
	Category Category
	Flags    Flag
	Until    int // the version of Bitcoin Core that does not have it any more; 0: all have it
}

func (o *Option) has(f Flag) bool { return o.Flags&f != 0 }
