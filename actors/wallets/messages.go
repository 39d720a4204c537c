package wallets

import (
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

var table = ask.TableOf(
	ask.On((*Wallets).createWallet), ask.On((*Wallets).loadWallet), ask.On((*Wallets).restoreWallet),
	ask.On((*Wallets).unloadWallet), ask.On((*Wallets).migrate), ask.On((*Wallets).preview),
	ask.On((*Wallets).abortRestore), ask.On((*Wallets).listWalletDir), ask.AtOnce((*Wallets).loading),
	ask.On((*Wallets).waitWallets), ask.On((*Wallets).syncWallets), ask.On((*Wallets).advanceTimers),
)

var walletTable = ask.TableOf(
	ask.On((*Wallet).getInfo), ask.On(byJob((*caller).backup)), ask.On(byJob((*caller).exportWatchOnly)),
	ask.On(byJob((*caller).seePool)),
	ask.AtOnce((*Wallet).abortRescan),
	ask.On(current(whenWritable((*Wallet).rescanChain))), ask.On(current(whenWritable((*Wallet).importDescriptors))),

	// The history.
	ask.On(current(reported((*txs.Reports).Balances))), ask.On(current(reported((*txs.Reports).ListReceived))),
	ask.On(current(reported((*txs.Reports).ListUnspent))), ask.On(current(reported((*txs.Reports).ListTransactions))),
	ask.On(current(atOnce((*Wallet).received))), ask.On(current(atOnce((*Wallet).transaction))),
	ask.On(current(atOnce((*Wallet).listGroupings))), ask.On(current((*Wallet).sinceBlock)),
	ask.AtOnce((*Wallet).simulate),

	// Descriptors and keys.
	ask.On((*Wallet).listDescriptors), ask.On((*Wallet).hdKeys),
	ask.On(whenWritable(changed((*Wallet).addHDKey))), ask.AtOnce((*Wallet).deriveHDKey),
	ask.On(whenWritable(byJob((*caller).createDescriptor))), ask.On(whenWritable(byJob((*caller).refill))),
	ask.On(whenWritable(byJob((*caller).encrypt))), ask.On(whenWritable(byJob((*caller).changePassphrase))),
	ask.On(byJob((*caller).unlock)), ask.On(byJob((*caller).lock)),
	ask.On(byJob((*caller).sign)), ask.On(byJob((*caller).fill)), ask.On(byJob((*caller).display)),
	ask.On(current(byJob((*caller).signDataHash))),
	ask.AtOnce((*Wallet).signMessage),

	// Addresses and labels.
	ask.On(whenWritable((*Wallet).newAddress)), ask.On(whenWritable(changed((*Wallet).setLabel))),
	ask.AtOnce((*Wallet).addressInfo), ask.AtOnce((*Wallet).listLabels), ask.AtOnce((*Wallet).addressesByLabel),

	// Public keys of P2MR.
	ask.AtOnce((*Wallet).exportPubKeys), ask.On(current(whenWritable((*Wallet).importPubKeys))),
	ask.On(whenWritable(changed((*Wallet).nextPubKey))), ask.AtOnce((*Wallet).listPubKeyPools),

	// Requests by which the caller alone changes what the wallet counts.
	ask.On(current(whenWritable(changed((*Wallet).abandonTx)))),
	ask.On(current(whenWritable(changed((*Wallet).importTx)))),
	ask.On(current(whenWritable(changed((*Wallet).removeTx)))),
	ask.On(current(whenWritable(changed((*Wallet).setFlag)))),

	// Paying.
	ask.On(whenWritable(atTip(inTurn((*caller).spend)))), ask.On(whenWritable(atTip(inTurn((*caller).bumpFee)))),
	ask.On(whenWritable(atTip(changed((*Wallet).lockCoins)))), ask.AtOnce((*Wallet).listLocked),
	ask.On(byJob((*caller).setPayFee)),
)

// Requests lists what a plain protoactor request may ask of the registry.
var Requests = table.Served

// WalletRequests lists what a plain protoactor request may ask of a wallet.
var WalletRequests = walletTable.Served

// closeWallet is not in the table: only the registry may ask it.
type closeWallet = ask.Call[closing, messages.Done]

// closing asks a wallet to write what it has and to close its file.
type closing struct{ messages.Asks[messages.Done] }

// seeing asks a wallet to write what it has heard of the memory pool. Where a time has passed by its
// timers, it does first what is due then.
type seeing struct {
	messages.Asks[messages.Done]

	Passed time.Duration
}

// Messages of a wallet to the registry about its loading.
type (
	arrived struct {
		home     *home
		warnings []string
	}
	refused struct {
		home *home
		from *actor.PID
		err  error
	}
)

// isAnswer reports whether an error is in the words that the caller is to see.
func isAnswer(err error) bool {
	var answer *messages.WalletError
	return errors.As(err, &answer)
}
