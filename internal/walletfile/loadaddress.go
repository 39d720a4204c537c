package walletfile

func (l *loader) loadAddresses() {
	each(l, "name", Corrupt, func(n Name) { l.address(n.Address).Label = &n.Label })
	each(l, "purpose", Corrupt, func(p Purpose) { l.address(p.Address).Purpose = p.Purpose })
	each(l, "destdata", Corrupt, func(d DestData) {
		a := l.address(d.Address)
		if a.Data == nil {
			a.Data = make(map[string]string)
		}
		a.Data[d.Name] = d.Text
	})
}

// address returns the notes on an address, new ones if there are none.
func (l *loader) address(text string) *Address {
	a := l.wallet.Addresses[text]
	if a == nil {
		a = new(Address)
		l.wallet.Addresses[text] = a
	}
	return a
}
