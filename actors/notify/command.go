package notify

import (
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/messages"
)

// The parts of a command come from peers and files. Hashes and numbers are inserted
// as they are, other text between quotes; a warning is also cut down to harmless
// characters.

// blockCommand is the command for a block: %s is its hash.
func blockCommand(command string, hash chainhash.Hash) string {
	return strings.ReplaceAll(command, "%s", hash.String())
}

// walletCommand is the command for a transaction of a wallet: %s is its id, %w the
// wallet's name. The hash of its block, or "unconfirmed", replaces %b; the height
// of that block, or -1, replaces %h.
func walletCommand(command string, m messages.WalletTxChanged) string {
	block, height := "unconfirmed", "-1"
	if m.Block != nil {
		block, height = m.Block.Hash.String(), strconv.Itoa(int(m.Block.Height))
	}
	return strings.NewReplacer("%s", m.TxID.String(), "%b", block, "%h", height, "%w", quote(m.Wallet)).Replace(command)
}

// alertCommand is the command for a warning: %s is its text.
func alertCommand(command, text string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(" .,;-_/:?@()", r):
			return r
		}
		return -1
	}, text)
	return strings.ReplaceAll(command, "%s", quote(safe))
}

// quote puts text between single quotes for a shell. A NUL, which no argument can
// have, is left out.
func quote(text string) string {
	return "'" + strings.NewReplacer("'", `'"'"'`, "\x00", "").Replace(text) + "'"
}
