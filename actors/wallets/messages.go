package wallets

import (
	"errors"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

const infoLevel = slog.LevelInfo

// The requests that the registry serves.
type (
	createWallet   = ask.Call[messages.CreateWallet, messages.WalletLoaded]
	loadWallet     = ask.Call[messages.LoadWallet, messages.WalletLoaded]
	unloadWallet   = ask.Call[messages.UnloadWallet, messages.WalletUnloaded]
	restoreWallet  = ask.Call[messages.RestoreWallet, messages.WalletLoaded]
	migrateWallet  = ask.Call[messages.MigrateWallet, messages.WalletMigrated]
	abortRestore   = ask.Call[messages.AbortRestore, bool]
	listWalletDir  = ask.Call[messages.ListWalletDir, []messages.WalletDirEntry]
	getLoading     = ask.Call[messages.GetLoading, []messages.WalletLoading]
	waitWallets    = ask.Call[messages.WaitWallets, messages.Done]
	syncWallets    = ask.Call[messages.SyncWallets, messages.Done]
	advanceTimers  = ask.Call[messages.AdvanceTimers, messages.Done]
	previewRestore = ask.Call[messages.PreviewRestore, messages.RestorePreview]
)

// The requests that a wallet serves.
type (
	backupWallet        = ask.Call[messages.BackupWallet, messages.Done]
	getWalletInfo       = ask.Call[messages.GetWalletInfo, messages.WalletInfo]
	listDescriptors     = ask.Call[messages.ListDescriptors, []messages.WalletDescriptor]
	getHDKeys           = ask.Call[messages.GetHDKeys, []messages.HDKey]
	importDescriptors   = ask.Call[messages.ImportDescriptors, []messages.ImportResult]
	createDescriptor    = ask.Call[messages.CreateWalletDescriptor, []string]
	newAddress          = ask.Call[messages.NewAddress, string]
	getAddressInfo      = ask.Call[messages.GetAddressInfo, messages.AddressInfo]
	setLabel            = ask.Call[messages.SetLabel, messages.Done]
	listLabels          = ask.Call[messages.ListLabels, []string]
	getAddressesByLabel = ask.Call[messages.GetAddressesByLabel, []messages.LabelledAddress]
	keypoolRefill       = ask.Call[messages.KeypoolRefill, messages.Done]
	encryptWallet       = ask.Call[messages.EncryptWallet, messages.Done]
	unlockWallet        = ask.Call[messages.UnlockWallet, messages.Done]
	lockWallet          = ask.Call[messages.LockWallet, messages.Done]
	changePassphrase    = ask.Call[messages.ChangePassphrase, messages.Done]
	rescanChain         = ask.Call[messages.Rescan, messages.Rescanned]
	abortRescan         = ask.Call[messages.AbortRescan, bool]
	signWithWallet      = ask.Call[messages.SignWithWallet, messages.Signed]
	displayAddress      = ask.Call[messages.DisplayAddress, messages.Done]
	signMessage         = ask.Call[messages.SignMessage, []byte]
	signDataHash        = ask.Call[messages.SignDataHash, messages.DataSignature]
	fillPacket          = ask.Call[messages.FillPacket, messages.FilledPacket]
	spendCoins          = ask.Call[messages.Spend, messages.Spent]
	lockCoins           = ask.Call[messages.LockCoins, messages.Done]
	listLocked          = ask.Call[messages.ListLocked, []wire.OutPoint]
	setPayFee           = ask.Call[messages.SetPayFee, messages.Done]
	importTx            = ask.Call[messages.ImportTx, messages.Done]
	removeTx            = ask.Call[messages.RemoveTx, messages.Done]
	bumpFee             = ask.Call[messages.BumpFee, messages.Bumped]
	abandonTx           = ask.Call[messages.AbandonTx, messages.Done]
	listGroupings       = ask.Call[messages.ListGroupings, [][]messages.GroupedAddress]
	simulateTxs         = ask.Call[messages.SimulateTxs, btcutil.Amount]
	setWalletFlag       = ask.Call[messages.SetWalletFlag, messages.Done]
	exportPubKeys       = ask.Call[messages.ExportPubKeys, []messages.PubKey]
	importPubKeys       = ask.Call[messages.ImportPubKeys, int]
	nextPubKey          = ask.Call[messages.NextPubKey, messages.PubKeyAddress]
	listPubKeyPools     = ask.Call[messages.ListPubKeyPools, []messages.PubKeyPool]
	closeWallet         = ask.Call[closing, messages.Done]
	seePool             = ask.Call[seeing, messages.Done]
)

// The requests of wallettx.go.
type (
	getBalances      = ask.Call[messages.GetBalances, messages.Balances]
	listReceived     = ask.Call[messages.ListReceived, []messages.Received]
	getReceived      = ask.Call[messages.GetReceived, btcutil.Amount]
	listUnspent      = ask.Call[messages.ListUnspent, []messages.Unspent]
	listTransactions = ask.Call[messages.ListTransactions, []messages.TxEntry]
	listSinceBlock   = ask.Call[messages.ListSinceBlock, messages.SinceBlock]
	getTransaction   = ask.Call[messages.GetTransaction, messages.TxDetails]
)

// Requests lists what a plain protoactor request may ask of the registry.
var Requests = []ask.Served{
	ask.Serve[messages.CreateWallet](), ask.Serve[messages.LoadWallet](),
	ask.Serve[messages.UnloadWallet](), ask.Serve[messages.RestoreWallet](),
	ask.Serve[messages.PreviewRestore](),
	ask.Serve[messages.AbortRestore](), ask.Serve[messages.ListWalletDir](),
	ask.Serve[messages.GetLoading](), ask.Serve[messages.WaitWallets](),
	ask.Serve[messages.SyncWallets](), ask.Serve[messages.AdvanceTimers](),
	ask.Serve[messages.MigrateWallet](),
}

// WalletRequests lists what a plain protoactor request may ask of a wallet.
var WalletRequests = []ask.Served{
	ask.Serve[messages.BackupWallet](), ask.Serve[messages.GetWalletInfo](),
	ask.Serve[messages.ListDescriptors](), ask.Serve[messages.GetHDKeys](),
	ask.Serve[messages.ImportDescriptors](), ask.Serve[messages.CreateWalletDescriptor](),
	ask.Serve[messages.NewAddress](), ask.Serve[messages.GetAddressInfo](),
	ask.Serve[messages.SetLabel](), ask.Serve[messages.ListLabels](),
	ask.Serve[messages.GetAddressesByLabel](), ask.Serve[messages.KeypoolRefill](),
	ask.Serve[messages.EncryptWallet](), ask.Serve[messages.UnlockWallet](),
	ask.Serve[messages.LockWallet](), ask.Serve[messages.ChangePassphrase](),
	ask.Serve[messages.Rescan](), ask.Serve[messages.AbortRescan](),
	ask.Serve[messages.SignWithWallet](), ask.Serve[messages.GetBalances](),
	ask.Serve[messages.ListReceived](), ask.Serve[messages.GetReceived](),
	ask.Serve[messages.ListUnspent](), ask.Serve[messages.ListTransactions](),
	ask.Serve[messages.ListSinceBlock](), ask.Serve[messages.GetTransaction](),
	ask.Serve[messages.FillPacket](), ask.Serve[messages.DisplayAddress](),
	ask.Serve[messages.SignMessage](), ask.Serve[messages.SignDataHash](),
	ask.Serve[messages.Spend](), ask.Serve[messages.LockCoins](),
	ask.Serve[messages.ListLocked](), ask.Serve[messages.SetPayFee](),
	ask.Serve[messages.ImportTx](), ask.Serve[messages.RemoveTx](),
	ask.Serve[messages.BumpFee](), ask.Serve[messages.AbandonTx](), ask.Serve[messages.ListGroupings](),
	ask.Serve[messages.SimulateTxs](), ask.Serve[messages.SetWalletFlag](),
	ask.Serve[messages.ExportPubKeys](), ask.Serve[messages.ImportPubKeys](),
	ask.Serve[messages.NextPubKey](), ask.Serve[messages.ListPubKeyPools](),
}

// closing asks a wallet to write what it has and to close its file.
type closing struct{ messages.Asks[messages.Done] }

// seeing asks a wallet to write what it has heard of the memory pool. Where a time has passed by its
// timers, it does first what is due then.
type seeing struct {
	messages.Asks[messages.Done]

	Passed time.Duration
}

// What a wallet tells the registry of its loading.
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
