package walletfile

import "fmt"

// CountText says in the reference's words how many descriptors and keys a wallet has, with pqc also keys of
// P2MR. The numbers of keys are those of the last descriptor, as there.
func (w *Wallet) CountText(pqc bool) string {
	var last Descriptor
	n := len(w.Descriptors)
	if n > 0 {
		last = *w.Descriptors[n-1]
	}
	plain, crypted := len(last.Keys), len(last.CryptedKeys)
	if !pqc {
		return fmt.Sprintf("Descriptors: %d, Descriptor Keys: %d plaintext, %d encrypted, %d total.",
			n, plain, crypted, plain+crypted)
	}
	plainPQC, cryptedPQC := len(last.PQCKeys), len(last.PQCCryptedKeys)
	return fmt.Sprintf("Descriptors: %d, Descriptor Keys: %d plaintext, %d encrypted, "+
		"%d PQC plaintext, %d PQC encrypted, %d total.",
		n, plain, crypted, plainPQC, cryptedPQC, plain+crypted+plainPQC+cryptedPQC)
}
