package wallet

// Verify recomputes what a wallet keeps up to date, the slow way, and reports
// the first difference.
func (w *Wallet) Verify() error {
	if err := w.txs.Verify(); err != nil {
		return err
	}
	return w.book.Verify()
}
