package wallet

import (
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// Requests are those that the state of a wallet alone answers, each by the method of its name.
//
// Errors: [*messages.WalletError].
type Requests struct{ w *Wallet }

// RequestsTo returns what answers requests to a wallet.
func RequestsTo(w *Wallet) Requests { return Requests{w} }

// GetReceived returns what was received.
func (r Requests) GetReceived(q messages.GetReceived) (btcutil.Amount, error) {
	return r.w.reports.Received(q)
}

// GetTransaction returns a transaction.
func (r Requests) GetTransaction(q messages.GetTransaction) (messages.TxDetails, error) {
	return r.w.reports.Transaction(&q.TxID)
}

// ListGroupings returns addresses that were used together.
func (r Requests) ListGroupings(messages.ListGroupings) ([][]messages.GroupedAddress, error) {
	return r.w.reports.Groupings(), nil
}

// SimulateTxs returns by how much transactions would change the balance.
func (r Requests) SimulateTxs(q messages.SimulateTxs) (btcutil.Amount, error) {
	return r.w.Simulate(&q)
}

// ListDescriptors returns the descriptors.
func (r Requests) ListDescriptors(q messages.ListDescriptors) ([]messages.WalletDescriptor, error) {
	return r.w.keys.ListDescriptors(q.Private)
}

// GetHDKeys returns the extended keys.
func (r Requests) GetHDKeys(q messages.GetHDKeys) ([]messages.HDKey, error) {
	return r.w.keys.HDKeys(q.ActiveOnly, q.Private)
}

// DeriveHDKey derives an extended key.
func (r Requests) DeriveHDKey(q messages.DeriveHDKey) (messages.DerivedHDKey, error) {
	return r.w.importer.DeriveHDKey(q)
}

// GetAddressInfo describes an address.
func (r Requests) GetAddressInfo(q messages.GetAddressInfo) (messages.AddressInfo, error) {
	return r.w.keys.AddressInfo(q.Script), nil
}

// ListLabels returns the labels of addresses for a purpose.
func (r Requests) ListLabels(q messages.ListLabels) ([]string, error) {
	return r.w.book.Labels(q.Purpose), nil
}

// GetAddressesByLabel returns the addresses with a label.
func (r Requests) GetAddressesByLabel(q messages.GetAddressesByLabel) ([]messages.LabelledAddress, error) {
	return r.w.book.AddressesByLabel(q.Label)
}

// GetLabels returns all labels.
func (r Requests) GetLabels(messages.GetLabels) (messages.WalletLabels, error) {
	return labelsOf(r.w), nil
}

// PutLabels gives addresses, transactions and outputs labels.
func (r Requests) PutLabels(q messages.PutLabels) (messages.LabelsPut, error) {
	return putLabels(r.w, &q.Labels), nil
}

// ListLocked returns the coins that are locked.
func (r Requests) ListLocked(messages.ListLocked) ([]wire.OutPoint, error) {
	return r.w.txs.Locks().List(), nil
}

// ExportPubKeys returns the public keys of P2MR.
func (r Requests) ExportPubKeys(messages.ExportPubKeys) ([]messages.PubKey, error) {
	return r.w.pubKeys.Export(), nil
}

// NextPubKey returns the next public key of P2MR, which counts as used.
func (r Requests) NextPubKey(q messages.NextPubKey) (messages.PubKeyAddress, error) {
	return r.w.pubKeys.Next(q)
}

// ListPubKeyPools returns how many public keys of P2MR are left.
func (r Requests) ListPubKeyPools(messages.ListPubKeyPools) ([]messages.PubKeyPool, error) {
	return r.w.pubKeys.Pools(), nil
}

// AbandonTx gives up a transaction.
func (r Requests) AbandonTx(q messages.AbandonTx) (messages.Done, error) {
	return messages.Done{}, r.w.spending.Abandon(q.TxID)
}

// RemoveTx forgets a transaction.
func (r Requests) RemoveTx(q messages.RemoveTx) (messages.Done, error) {
	return messages.Done{}, r.w.spending.Remove(q.TxID)
}

// SetWalletFlag sets a flag or takes it back.
func (r Requests) SetWalletFlag(q messages.SetWalletFlag) (messages.Done, error) {
	return messages.Done{}, r.w.SetFlag(q.Flag, q.Value)
}

// LockCoins locks coins or unlocks them.
func (r Requests) LockCoins(q messages.LockCoins) (messages.Done, error) {
	return messages.Done{}, r.w.Lock(&q)
}

// LabelAddress gives an address a label, as [Wallet.SetLabel].
func (r Requests) LabelAddress(q messages.SetLabel) (messages.Done, error) {
	return messages.Done{}, r.w.SetLabel(q)
}
