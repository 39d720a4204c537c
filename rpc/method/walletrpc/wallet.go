// Package walletrpc holds the JSON-RPC methods of wallets.
//
// Every method is a request to an actor. The registry makes, loads and restores
// wallets; the actor of a single wallet is found in a directory by the name in the
// request's path. This package reads arguments and writes results; the wallets
// decide about permissions. Parameters, results, errors and their order are those of
// Bitcoin Core 30.2 (src/wallet/rpc). Where Core waits until a wallet has seen all
// blocks, the wallet's actor waits.
//
// Passphrases become a [messages.Secret] at once, and appear in no error.
package walletrpc

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/receipt"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/rpc/command"
)

// Deps is what the methods work on.
type Deps struct {
	Network   *dialect.Network
	Chain     *chainview.Current
	Wallets   *ask.Ref       // the registry
	Directory *ask.Directory // the actors of loaded wallets by their names
	Pool      *ask.Ref       // owns the unconfirmed transactions; nil: there are none

	// Complete sets in a receipt what the chain says at its last block. Nil: there are no receipts.
	Complete func(ctx context.Context, r *receipt.Receipt, last *chainhash.Hash) error

	// SetTxFee says that the deprecated method settxfee is served.
	SetTxFee bool

	// NotReplaceable says that transactions do not signal BIP125 where a request does not say.
	NotReplaceable bool

	// Currency is what error messages call the network's coin: "Bitcoin".
	Currency string

	// Unspent returns an output of the active chain that is not spent, nil when
	// there is none. Nil: no output can be looked up, and who signs has to bring
	// those that are spent.
	Unspent func(ctx context.Context, at *wire.OutPoint) (*wire.TxOut, error)
}

// methods is Deps with values that are made from Deps once.
type methods struct {
	Deps

	net     *descriptor.Network
	printer *txjson.Printer
}

// Commands returns the methods.
func Commands(d Deps) []command.Command {
	net := d.Network.Descriptors()
	m := &methods{d, net, &txjson.Printer{Net: net, WitnessScale: int(d.Network.Rules.WitnessScale)}}
	commands := []command.Command{
		m.abandonTransaction(),
		m.abortRescan(),
		m.backupWallet(),
		m.bumpFee(),
		m.checkWallet(),
		m.createWallet(),
		m.createWalletDescriptor(),
		m.encryptWallet(),
		m.exportHistory(),
		m.exportLabels(),
		m.fundRawTransaction(),
		m.getAddressesByLabel(),
		m.getAddressInfo(),
		m.getBalance(),
		m.getBalances(),
		m.getHDKeys(),
		m.getNewAddress(),
		m.getRawChangeAddress(),
		m.getReceivedByAddress(),
		m.getReceivedByLabel(),
		m.getTransaction(),
		m.getWalletInfo(),
		m.importDescriptors(),
		m.importLabels(),
		m.importPrunedFunds(),
		m.keypoolRefill(),
		m.listAddressGroupings(),
		m.listDescriptors(),
		m.listLabels(),
		m.listLockUnspent(),
		m.listReceivedByAddress(),
		m.listReceivedByLabel(),
		m.listSinceBlock(),
		m.listTransactions(),
		m.listUnspent(),
		m.listWalletDir(),
		m.listWallets(),
		m.loadWallet(),
		m.lockUnspent(),
		m.migrateWallet(),
		m.previewRestore(),
		m.psbtBumpFee(),
		m.removePrunedFunds(),
		m.rescanBlockchain(),
		m.restoreWallet(),
		m.send(),
		m.sendAll(),
		m.sendMany(),
		m.sendToAddress(),
		m.setLabel(),
		m.setTxFee(),
		m.setWalletFlag(),
		m.signMessage(),
		m.signRawTransactionWithWallet(),
		m.signReceipt(),
		m.simulateRawTransaction(),
		m.unloadWallet(),
		m.walletCreateFundedPSBT(),
		m.walletDisplayAddress(),
		m.walletLock(),
		m.walletPassphrase(),
		m.walletPassphraseChange(),
		m.walletProcessPSBT(),
	}
	if !d.Network.Wallet().SlowKeys {
		commands = append(commands, m.addHDKey(), m.deriveHDKey(), m.exportWatchOnlyWallet())
	} else {
		commands = append(
			commands, m.exportPubKeyDB(), m.getNextPubKeyDBAddress(), m.importPubKeyDB(), m.listPubKeyDBStatus(),
			m.signDataPQCHash(),
		)
	}
	return commands
}
