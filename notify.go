package trawl

import "context"

// NotifyConfig says what commands are run when something happens. 16 run at a time,
// up to 10,000 more wait for their turn.
type NotifyConfig struct {
	// Block is run when the best block changes, but not during the initial
	// download; %s is replaced by its hash.
	Block string

	// Wallet is run when a transaction of a wallet changes; %s is replaced by its
	// id, %w by the name of the wallet between single quotes, %b by the hash of
	// its block or "unconfirmed", %h by the height of that or -1.
	Wallet string

	// Alert is run when there is a new warning; %s is replaced by its text, cut
	// down to harmless characters, between single quotes.
	Alert string

	// Run runs a command. It returns when the command has ended, or a few seconds
	// after ctx has, which ends when the node stops. It is called by several
	// goroutines at a time.
	Run func(ctx context.Context, command string)
}
