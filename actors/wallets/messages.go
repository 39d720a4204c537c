package wallets

import (
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

var table = ask.TableOf(
	ask.On(serve((*Wallets).createWallet)), ask.On(serve((*Wallets).loadWallet)),
	ask.On(serve((*Wallets).restoreWallet)), ask.On(serve((*Wallets).unload)),
	ask.On(serve((*Wallets).migrate)), ask.On((*Wallets).preview), ask.AtOnce((*Wallets).abortRestore),
	ask.On(serve((*Wallets).listWalletDir)), ask.AtOnce((*Wallets).loading), ask.On((*Wallets).waitWallets),
	ask.On(serve((*Wallets).syncWallets)), ask.On(serve((*Wallets).advanceTimers)),
)

var walletTable = ask.TableOf(
	ask.On(byJob((*caller).getInfo)), ask.On(byJob((*caller).backup)), ask.On(byJob((*caller).exportWatchOnly)),
	ask.On(byJob((*caller).seePool)),
	ask.AtOnce((*Wallet).abortRescan),
	ask.On(byJob(current(whenWritable((*caller).rescanChain)))),
	ask.On(byJob(current(whenWritable((*caller).importDescriptors)))),
	ask.On(byJob(current(whenWritable((*caller).checkWallet)))),

	// The history.
	ask.On(byJob(current(reported((*txs.Reports).Balances)))),
	ask.On(byJob(current(reported((*txs.Reports).ListReceived)))),
	ask.On(byJob(current(reported((*txs.Reports).ListUnspent)))),
	ask.On(byJob(current(reported((*txs.Reports).ListTransactions)))),
	ask.On(byJob(current(answered(wallet.Requests.GetReceived)))),
	ask.On(byJob(current(answered(wallet.Requests.GetTransaction)))),
	ask.On(byJob(current(answered(wallet.Requests.ListGroupings)))), ask.On(byJob(current((*caller).sinceBlock))),
	ask.On(atOnce(wallet.Requests.SimulateTxs)),

	// Descriptors and keys.
	ask.On(byJob(after((*caller).added, answered(wallet.Requests.ListDescriptors)))),
	ask.On(byJob(after((*caller).added, answered(wallet.Requests.GetHDKeys)))),
	ask.On(byJob(whenWritable(changed((*Wallet).addHDKey)))), ask.On(atOnce(wallet.Requests.DeriveHDKey)),
	ask.On(byJob(whenWritable((*caller).createDescriptor))), ask.On(byJob(whenWritable((*caller).refill))),
	ask.On(byJob(whenWritable((*caller).encrypt))), ask.On(byJob(whenWritable((*caller).changePassphrase))),
	ask.On(byJob((*caller).unlock)), ask.On(byJob((*caller).lock)),
	ask.On(byJob((*caller).sign)), ask.On(byJob((*caller).fill)), ask.On(byJob((*caller).display)),
	ask.On(byJob(current((*caller).signDataHash))),
	ask.On(byJob(inActor((*Wallet).signMessage))),

	// Addresses and labels.
	ask.On(byJob(whenWritable((*caller).newAddress))),
	ask.On(byJob(whenWritable(changed(byLedger(wallet.Requests.LabelAddress))))),
	ask.On(atOnce(wallet.Requests.GetAddressInfo)), ask.On(atOnce(wallet.Requests.ListLabels)),
	ask.On(atOnce(wallet.Requests.GetAddressesByLabel)), ask.On(byJob(current(answered(wallet.Requests.GetLabels)))),
	ask.On(byJob(current(whenWritable(changed(byLedger(wallet.Requests.PutLabels)))))),

	// Public keys of P2MR.
	ask.On(atOnce(wallet.Requests.ExportPubKeys)), ask.On(byJob(current(whenWritable((*caller).importPubKeys)))),
	ask.On(byJob(whenWritable(changed(byLedger(wallet.Requests.NextPubKey))))),
	ask.On(atOnce(wallet.Requests.ListPubKeyPools)),

	// Requests by which the caller alone changes what the wallet counts.
	ask.On(byJob(current(whenWritable(changed(byLedger(wallet.Requests.AbandonTx)))))),
	ask.On(byJob(current(whenWritable(changed((*Wallet).importTx))))),
	ask.On(byJob(current(whenWritable(changed(byLedger(wallet.Requests.RemoveTx)))))),
	ask.On(byJob(current(whenWritable(changed(byLedger(wallet.Requests.SetWalletFlag)))))),

	// Paying.
	ask.On(inTurn(whenWritable(atTip((*caller).spend)))), ask.On(inTurn(whenWritable(atTip((*caller).bumpFee)))),
	ask.On(byJob(whenWritable(atTip(changed(byLedger(wallet.Requests.LockCoins)))))),
	ask.On(atOnce(wallet.Requests.ListLocked)),
	ask.On(byJob((*caller).setPayFee)),
)

// Requests lists what a plain protoactor request may ask of the registry.
var Requests = table.Served

// WalletRequests lists what a plain protoactor request may ask of a wallet.
var WalletRequests = walletTable.Served

// Only the registry may ask a wallet these, which are not in the table.
type (
	beginWallet = ask.Call[beginning, []string]
	closeWallet = ask.Call[closing, messages.Done]
)

// beginning asks a wallet that was not loaded before to load its file. The answer are warnings.
type beginning struct{ messages.Asks[[]string] }

// closing asks a wallet to write what it has and to close its file.
type closing struct{ messages.Asks[messages.Done] }

// seeing asks a wallet to write what it has heard of the memory pool. Where a time has passed by its
// timers, it does first what is due then.
type seeing struct {
	messages.Asks[messages.Done]

	Passed time.Duration
}
