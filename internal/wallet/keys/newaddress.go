package keys

import (
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// NewAddress gives out the next address of a type, for receiving or for change.
//
// Errors: [*messages.WalletError].
func (p *Pool) NewAddress(r messages.NewAddress) (string, error) {
	if !p.canGetAddresses(r.Change) {
		return "", codes.Errorf(codes.Wallet, "Error: This wallet has no available keys")
	}
	if err := book.CheckLabel(r.Label); err != nil && !r.Change {
		return "", err
	}
	kind := p.set.defaultFor(r.Change)
	if r.HasType {
		var err error
		if kind, err = p.set.params.outputType(r.Type); err != nil {
			return "", err
		}
	}
	if !p.set.params.Kinds.Has(kindOf(kind)) {
		return "", codes.Errorf(codes.Keypool, "Output type '%v' is not available on this chain", kindOf(kind))
	}
	m := p.set.active[walletfile.Slot{Type: kind, Internal: r.Change}]
	if r.HasType {
		if err := p.set.checkHas(kind, "address type", r.Change); err != nil {
			return "", err
		}
	}
	if err := p.checkActive(kind); err != nil {
		return "", err
	}
	if m == nil {
		return "", codes.Errorf(codes.Keypool, "Error: No %v addresses available.", kindOf(kind))
	}
	pkScript, err := p.nextScript(m)
	if err != nil {
		return "", err
	}
	if !r.Change {
		p.set.labels.SetLabel(pkScript, r.Label, book.PurposeReceive)
	}
	address, _ := descriptor.AddressOf(pkScript, p.set.params.Network)
	return address, nil
}

// checkActive refuses addresses whose outputs nothing protects yet.
func (p *Pool) checkActive(kind walletfile.OutputType) error {
	since := p.set.params.Kinds.MerkleRoots
	if height := p.chain.Tip().Height; kind == walletfile.MerkleRoot && since > 0 && height < since {
		return codes.Errorf(codes.Keypool, "P2MR wallet outputs are unavailable before activation height %d "+
			"(current wallet height: %d)", since, height)
	}
	return nil
}

// checkHas refuses a type of addresses that the wallet has no descriptor for. what says what
// the type is for. Bitcoin's wallets do so later, where the address is needed.
func (s *Set) checkHas(kind walletfile.OutputType, what string, internal bool) error {
	if !s.params.Kinds.SlowKeys || s.active[walletfile.Slot{Type: kind, Internal: internal}] != nil {
		return nil
	}
	return codes.Errorf(codes.AddressOrKey, "%s '%v' is not available in this wallet", what, kindOf(kind))
}

// CheckChangeType refuses the type that a request names for change, where the wallet has no
// such addresses.
//
// Errors: [*messages.WalletError].
func (s *Set) CheckChangeType(name string) error {
	kind, ok := s.params.Kinds.Named(name)
	if !ok {
		return nil
	}
	return s.checkHas(typeOf(kind), "change type", true)
}

func (p *Pool) canGetAddresses(internal bool) bool {
	for slot, m := range p.set.active {
		if slot.Internal == internal && p.givesAddresses(m) {
			return true
		}
	}
	return false
}

// givesAddresses reports whether a descriptor can give new addresses, as far as
// that can be told without unlocking it. Without hardened steps there are always
// more.
func (p *Pool) givesAddresses(m *descriptorManager) bool {
	return m.desc.IsSingleType() && m.desc.IsRanged() && (p.vault.HasKeys(m.id()) ||
		m.record.NextIndex < m.record.RangeEnd ||
		!p.set.params.Kinds.Answers.EndsRanges && expands(m.desc.WithCache(&keyCache{})))
}

// changeManager returns the descriptor that addresses for change of a type come from.
func (p *Pool) changeManager(kind string) (*descriptorManager, error) {
	named, err := p.set.params.outputType(kind)
	if err != nil {
		return nil, err
	}
	if err := p.checkActive(named); err != nil {
		return nil, err
	}
	m := p.set.active[walletfile.Slot{Type: named, Internal: true}]
	if m == nil {
		return nil, codes.Errorf(codes.Keypool, "Error: No %v addresses available.", kindOf(named))
	}
	return m, nil
}

// nextScript takes the next script of a descriptor.
func (p *Pool) nextScript(m *descriptorManager) ([]byte, error) {
	next, err := p.peekScript(m)
	if err != nil {
		return nil, err
	}
	m.record.NextIndex++
	p.noteFill(m)
	p.set.write(m)
	p.refillSoon(m)
	return next, nil
}

// peekScript returns the next script of a descriptor.
func (p *Pool) peekScript(m *descriptorManager) ([]byte, error) {
	if !p.givesAddresses(m) {
		return nil, codes.Errorf(codes.Keypool, "No addresses available")
	}
	if !m.slow() {
		_ = p.topUp(m, 0) // a locked wallet has what was derived before
	}
	next := m.scripts[m.record.NextIndex]
	if next == nil {
		return nil, codes.Errorf(codes.Keypool, "Error: Keypool ran out, please call keypoolrefill first")
	}
	return next.bytes, nil
}
